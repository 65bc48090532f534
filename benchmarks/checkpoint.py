"""Checkpoints beside plain reads and writes of as many bytes, and what they take from the training."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Self

import numpy as np

import pyps
from benchmarks.harness import Row

NAME = "parameter server: checkpoints"
LENGTH, BATCH = 64, 1000
TIMES = 3
PIECE = 64 << 20  # bytes of a file, as a shard's
TABLE = f"{NAME}: values of {LENGTH} float32, with Adagrad"


def run(quick: bool) -> list[Row]:
    """Measure everything; `quick` only sees that it works."""
    num_keys = 1 << (12 if quick else 21)
    with (
        tempfile.TemporaryDirectory() as name,
        pyps.Server(num_keys, LENGTH, optimizer="adagrad") as server,
        server.worker() as kv,
        _Pusher(server.address, num_keys) as pusher,
    ):
        place = Path(name)
        for keys in np.array_split(np.arange(num_keys), max(num_keys // 10_000, 1)):
            kv.push(keys, np.ones((len(keys), LENGTH), np.float32))
        nbytes = 2 * 4 * LENGTH * num_keys
        times: dict[str, list[float]] = {}

        def measure(what: str, work: Callable[[], object]) -> None:
            start = time.perf_counter()
            work()
            times.setdefault(what, []).append(time.perf_counter() - start)

        alone, beside = [], []
        for _ in range(1 if quick else TIMES):
            measure("write", lambda: _write(place / "plain", nbytes))
            measure("save", lambda: pyps.checkpoint.save(place / "all", server, keep=1))
            measure("read", lambda: _read(place / "plain"))
            measure("load", lambda: pyps.checkpoint.load(place / "all", server))
            took = times["save"][-1]
            alone.append(pusher.rates(took, lambda: None))
            beside.append(pusher.rates(took, lambda: _save_in_the_background(place / "all", server)))
    rate = {what: nbytes / statistics.median(taken) / 1e6 for what, taken in times.items()}
    return [
        _row(
            f"save {nbytes >> 20:,} MiB",
            rate["save"],
            "MB/s",
            "plain write, flushed",
            rate["write"],
            ">= 0.5x",
        ),
        _row(
            f"load {nbytes >> 20:,} MiB", rate["load"], "MB/s", "plain read, cached", rate["read"], ">= 0.5x"
        ),
        *(
            _row(
                f"push of {BATCH} keys by another process{what}",
                statistics.median(rates[kind] for rates in beside),
                "pushes/s",
                "without a save",
                statistics.median(rates[kind] for rates in alone),
                ">= 0.8x",
            )
            for kind, what in enumerate(
                (" while one is saved in the background", ", the same by its processor time")
            )
        ),
    ]


class _Pusher:
    """A worker in a process of its own, as training has them."""

    def __init__(self, address: str, num_keys: int) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "benchmarks.checkpoint", address, str(num_keys)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def __enter__(self) -> Self:
        return self

    def rates(self, seconds: float, meanwhile: Callable[[], object]) -> list[float]:
        """Return the batches a second that it pushes for so long, and those a second of its processor time."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(f"{seconds}\n")
        self._process.stdin.flush()
        meanwhile()
        return [float(number) for number in self._process.stdout.readline().split()]

    def __exit__(self, *_: object) -> None:
        self._process.communicate(timeout=60)


def _push(address: str, num_keys: int) -> None:
    """Push for as many seconds as each line of the standard input says; print the batches a second, of both kinds."""
    random = np.random.default_rng(1)
    batches = [np.sort(random.choice(num_keys, BATCH, replace=False)) for _ in range(64)]
    gradients = random.normal(size=(BATCH, LENGTH)).astype(np.float32)
    with pyps.attach(address) as node, node.worker() as kv:
        for line in sys.stdin:
            start, used, count = time.perf_counter(), time.process_time(), 0
            while (taken := time.perf_counter() - start) < float(line):
                kv.push(batches[count % len(batches)], gradients)
                count += 1
            print(count / taken, count / (time.process_time() - used), flush=True)


def _row(what: str, ours: float, unit: str, peer: str, theirs: float, target: str) -> Row:
    return Row(table=TABLE, what=what, ours=ours, unit=unit, peer=peer, theirs=theirs, target=target)


def _save_in_the_background(place: Path, server: pyps.Server) -> None:
    pyps.checkpoint.save(place, server, keep=1, background=True).result()


def _write(place: Path, nbytes: int) -> None:
    place.mkdir(exist_ok=True)
    piece = np.ones(min(PIECE, nbytes), np.uint8)
    for number in range(max(nbytes // PIECE, 1)):
        with (place / str(number)).open("wb") as file:
            file.write(piece.data)
            file.flush()
            os.fsync(file.fileno())


def _read(place: Path) -> None:
    for file in place.iterdir():
        file.read_bytes()


if __name__ == "__main__":
    _push(sys.argv[1], int(sys.argv[2]))
