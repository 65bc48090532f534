"""Whole memory: one tensor of several processes beside torch on a plain one.

Rows are gathered from memory that is in use, created and loaded ones are new. The processes have one thread each.
"""

from __future__ import annotations

import os
import statistics
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import torch
from torch.multiprocessing.spawn import spawn

from benchmarks.harness import Row, seconds_per_call
from pyps import wholememory as wm

NAME = "wholememory: a tensor that processes share"
ROWS, LENGTH, GATHERED = 10_000_000, 128, 100_000
QUICK_ROWS = 100_000
CREATED = 4 << 30  # bytes
LOADED = 2 << 30
QUICK_LOADED = 16 << 20
ROUNDS = 9
PATIENCE = 300.0  # seconds


def run(quick: bool) -> list[Row]:
    """Measure everything; `quick` only sees that it works."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    wm.init_lib()
    wm.mp_init(0, 1)
    try:
        return [*gathering(quick), *scaling(quick), creation(quick), *loading(quick), one_copy(quick)]
    finally:
        wm.finalize_lib()
        torch.set_num_threads(threads)


def gathering(quick: bool) -> list[Row]:
    """Gather beside index_select, on fresh indices each time."""
    rows = QUICK_ROWS if quick else ROWS
    plain = torch.empty(rows, LENGTH)
    shared = wm.create_tensor([rows, LENGTH], [], torch.float32, True, [])
    for first in range(0, rows, 1 << 18):  # taking turns, so that neither gets the better pages
        plain[first : first + (1 << 18)] = 1
        shared[first : first + (1 << 18)] = 1
    out = torch.empty(GATHERED, LENGTH)
    chosen = torch.randint(rows, (64, GATHERED))
    turn = iter(range(1 << 30))

    def gather() -> None:
        wm.gather(shared, chosen[next(turn) % 64], out=out)

    def select() -> None:
        torch.index_select(plain, 0, chosen[next(turn) % 64], out=out)

    def add() -> None:
        wm.scatter_add(shared, chosen[next(turn) % 64], out)

    def index_add() -> None:
        plain.index_add_(0, chosen[next(turn) % 64], out)

    what = f"{GATHERED:,} x {LENGTH} float32 of {rows:,} rows"
    ours, theirs = seconds_per_call(gather, select, quick=quick, rounds=15)
    added, index_added = seconds_per_call(add, index_add, quick=quick, rounds=15)
    return [
        row(f"gather {what}", 1e3 * ours, "ms", "torch.index_select", 1e3 * theirs, "<= 1.05x"),
        row(f"scatter_add {what}", 1e3 * added, "ms", "torch's index_add_", 1e3 * index_added, "<= 1.05x"),
    ]


def scaling(quick: bool) -> list[Row]:
    """Two processes at once beside one of them alone, in turns.

    Per second of a clock, and per second that the process had a core, which neighbours on the machine do not change.
    """
    rows = QUICK_ROWS if quick else ROWS
    found = in_ranks(2, gather_in_turn, rows, 0.05 if quick else 0.5, 2 if quick else ROUNDS)
    what = f"gather of {rows:,} rows, two processes"
    kinds = ("", ", seconds of a core")
    return [
        row(what + kind, two, "rows/s", "one process", one, ">= 1.7x")
        for kind, (one, two) in zip(kinds, found, strict=True)
    ]


def gather_in_turn(rank: int, rows: int, seconds: float, rounds: int) -> list[list[float]]:
    """Return rows per second of rank 0 alone and of both, by a clock and by the processes' own time."""
    shared = wm.create_tensor([rows, LENGTH], [], torch.float32, True, [])
    rates = wm.create_tensor([2, rounds, 2, 2], [], torch.float64, True, [])
    mine = slice(rank * rows // 2, (rank + 1) * rows // 2)
    shared[mine] = 1
    out, chosen = torch.empty(GATHERED, LENGTH), torch.randint(rows, (64, GATHERED))
    for number in range(rounds):
        for kind in range(2):
            wm.barrier(timeout=PATIENCE)
            if kind == 0 and rank:
                continue
            start, began, done = time.perf_counter(), time.process_time(), 0
            while time.perf_counter() - start < seconds:
                wm.gather(shared, chosen[done % 64], out=out)
                done += 1
            rates[rank, number, 0, kind] = done * GATHERED / (time.perf_counter() - start)
            rates[rank, number, 1, kind] = done * GATHERED / (time.process_time() - began)
    wm.barrier(timeout=PATIENCE)
    found: list[list[float]] = rates.sum(0).median(0).values.tolist()
    return found


def creation(quick: bool) -> Row:
    """How long the slowest of four ranks takes to create a tensor together."""
    milliseconds = in_ranks(4, create, 3 if quick else 21)
    what = f"create {CREATED >> 30} GiB in four processes"
    return row(what, milliseconds, "ms", target="<= 50 ms")


def create(rank: int, rounds: int) -> float:
    """Return the median of the slowest rank's milliseconds."""
    times = wm.create_tensor([4, rounds], [], torch.float64, True, [])
    for number in range(rounds):
        wm.barrier()
        start = time.perf_counter()
        made = wm.create_tensor([CREATED], [], torch.uint8, True, [])
        times[rank, number] = time.perf_counter() - start
        del made
    wm.barrier()
    return 1e3 * times.max(0).values.median().item()


def loading(quick: bool) -> list[Row]:
    """A file into a new tensor and into one that is in use, beside a plain read into memory that is in use."""
    nbytes = QUICK_LOADED if quick else LOADED
    rates: dict[str, list[float]] = {"new": [], "used": [], "plain": []}
    with tempfile.TemporaryDirectory() as place:
        path = Path(place, "rows_part_0_of_1")
        with path.open("wb") as file:
            for _ in range(nbytes >> 22):
                file.write(os.urandom(1 << 22))
        plain = torch.ones(nbytes, dtype=torch.uint8)
        used = wm.create_tensor([nbytes], [], torch.uint8, True, [])
        used.fill_(1)
        for _ in range(2 if quick else ROUNDS):
            new = wm.create_tensor([nbytes], [], torch.uint8, True, [])
            for kind, work in (
                ("plain", partial(read, path, plain)),
                ("new", partial(wm.load, new, path.parent / "rows")),
                ("used", partial(wm.load, used, path.parent / "rows")),
            ):
                rates[kind].append(nbytes / 1e9 / seconds(work))
            del new
    plainly = statistics.median(rates["plain"])
    what = f"load {nbytes >> 20:,} MiB into"
    peer = "a read into memory in use"
    return [
        row(f"{what} a new tensor", statistics.median(rates["new"]), "GB/s", peer, plainly, ">= 0.8x"),
        row(f"{what} one in use", statistics.median(rates["used"]), "GB/s", peer, plainly, ">= 0.8x"),
    ]


def read(path: Path, tensor: torch.Tensor) -> None:
    """Read a file as a plain program does."""
    with path.open("rb", buffering=0) as file:
        file.readinto(memoryview(tensor.numpy()))  # type: ignore[arg-type]


def seconds(work: Callable[[], object]) -> float:
    """Return how long it takes."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def one_copy(quick: bool) -> Row:
    """Memory that four processes have of a tensor, as the system shares it out, beside the tensor's size."""
    nbytes = (1 << 20) if quick else (256 << 20)
    held = in_ranks(4, held_bytes, nbytes)
    return row("memory of a tensor in four processes", held / 1e6, "MB", "its size", nbytes / 1e6, "<= 1.02x")


def held_bytes(_: int, nbytes: int) -> float:
    """Return the proportional set size of the tensor's mappings in all ranks."""
    shared = wm.create_tensor([nbytes], [], torch.uint8, True, [])
    found = wm.create_tensor([4], [], torch.float64, True, [])
    shared.sum()
    if wm.get_rank() == 0:
        shared.fill_(1)
    wm.barrier()
    shared.sum()
    wm.barrier()
    mark = f"/memfd:{wm.name_of(shared)} "
    inside, kilobytes = False, 0
    for line in Path("/proc/self/smaps").read_text().splitlines():
        if "-" in line.split(" ", 1)[0]:
            inside = mark in line
        elif inside and line.startswith("Pss:"):
            kilobytes += int(line.split()[1])
    found[wm.get_rank()] = kilobytes * 1024
    wm.barrier()
    return found.sum().item()


def in_ranks(size: int, body: Callable[..., Any], *arguments: object) -> Any:
    """Run a function in so many processes that are ranks, and return what rank 0 got."""
    with tempfile.TemporaryDirectory() as place:
        path = Path(place, "result")
        group = f"benchmark {os.getpid()} {time.monotonic_ns()}"
        spawn(a_rank, args=(size, group, path, body, arguments), nprocs=size)  # type: ignore[no-untyped-call]
        return torch.load(path)


def a_rank(
    rank: int, size: int, group: str, path: Path, body: Callable[..., Any], arguments: tuple[object, ...]
) -> None:
    """Be one of the processes."""
    torch.set_num_threads(1)
    wm.init_lib()
    wm.mp_init(rank, size, group=group)
    result = body(rank, *arguments)
    if rank == 0:
        torch.save(result, path)
    wm.barrier(timeout=PATIENCE)
    wm.finalize_lib()


def row(
    what: str, ours: float, unit: str, peer: str = "", theirs: float | None = None, target: str = ""
) -> Row:
    """Return a row of the table."""
    return Row(table=NAME, what=what, ours=ours, unit=unit, peer=peer, theirs=theirs, target=target)
