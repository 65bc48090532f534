"""Torch7's files from Python: tensors beside a plain read of the bytes, tables beside the torchfile package."""

from __future__ import annotations

import importlib
import importlib.util
import os
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.harness import Row, seconds_per_call
from bridge import t7

NAME = "Torch7's files in Python"

TENSORS = "tensors in files"
TABLES = "small tables in files"
BYTES = 100_000_000


def run(quick: bool) -> list[Row]:
    """Measure every row; `quick` only sees that they run."""
    with tempfile.TemporaryDirectory() as directory:
        return [*tensors(Path(directory), quick), *tables(Path(directory), quick)]


def plain_read(file: Path) -> Callable[[], object]:
    """Read a file's bytes into memory that is already there."""
    memory = memoryview(bytearray(file.stat().st_size))

    def read() -> None:
        with file.open("rb", buffering=0) as opened:
            done = 0
            while got := opened.readinto(memory[done:]):
                done += got

    read()
    return read


def tensors(directory: Path, quick: bool) -> Iterator[Row]:
    """One large tensor, and the same bytes as many."""
    size = BYTES // (100 if quick else 1)
    one, many = directory / "one.t7", directory / "many.t7"
    t7.save(np.random.default_rng(0).random(size // 8), one)
    t7.save([np.random.default_rng(i).random(12_500) for i in range(size // 100_000)], many)
    for what, file in (
        (f"load one tensor of {size:,} bytes", one),
        (f"load {size // 100_000:,} of 100 KB", many),
    ):
        ours, as_torch, plain = seconds_per_call(
            lambda file=file: t7.load(file),  # type: ignore[misc]
            lambda file=file: t7.load(file, tensors="torch"),  # type: ignore[misc]
            plain_read(file),
            quick=quick,
        )
        for how, seconds in (("numpy", ours), ("torch", as_torch)):
            yield row(TENSORS, f"{what}, {how}", seconds, "plain read", plain, "<= 1.3x")


def tables(directory: Path, quick: bool) -> Iterator[Row]:
    """Two tables for each of many records."""
    records: Any = [
        {"id": i, "name": f"row {i}", "values": [i, i + 1, i * 0.5]}
        for i in range(1000 if quick else 100_000)
    ]
    count = 2 * len(records)
    file = directory / "tables.t7"
    t7.save(records, file)
    functions: list[Callable[[], object]] = [
        lambda: t7.load(file),
        lambda: t7.save(records, directory / "again.t7"),
    ]
    there = importlib.util.find_spec("torchfile") is not None
    if there:
        torchfile = importlib.import_module("torchfile")
        functions.append(lambda: torchfile.load(os.fspath(file)))
    load, save, *theirs = seconds_per_call(*functions, quick=quick, rounds=5)
    size = f"{count:,} tables, {file.stat().st_size / 1e6:.0f} MB"
    if theirs:
        yield Row(
            table=TABLES,
            what=f"load {size}, torchfile's time over ours",
            ours=theirs[0] / load,
            unit="times",
            target=">= 20 times",
        )
        yield row(TABLES, f"load {size}", load, "torchfile", theirs[0], "<= 350 ms")
    else:
        yield row(TABLES, f"load {size} (torchfile is not installed)", load, "", None, "<= 350 ms")
    yield row(TABLES, f"save {size}", save, "", None, "<= 700 ms")


def row(table: str, what: str, ours: float, peer: str, theirs: float | None, target: str) -> Row:
    """A time in milliseconds."""
    other = None if theirs is None else theirs * 1e3
    return Row(table=table, what=what, ours=ours * 1e3, unit="ms", peer=peer, theirs=other, target=target)
