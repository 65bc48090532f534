"""Processor time of a server's threads for each call: the busiest one bounds the calls per second on any machine.

While a thread has less to do than it could, it also sleeps and wakes up for most calls. That counts here, so the bound
of a thread that always has something to do is higher.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from pathlib import Path

import numpy as np

import pyps
from benchmarks.harness import Row, in_threads
from benchmarks.nodes.cluster import cluster
from benchmarks.nodes.operations import BATCHES, COUNT, LENGTH, NUM_KEYS, elsewhere

WORKERS = 8
Times = dict[int, tuple[str, int]]  # by thread: its name, and nanoseconds of a processor


def thread_times(counts: tuple[int, ...], quick: bool) -> Iterator[Row]:
    """Measure the other one of two nodes, with so many server threads, while 8 threads use its keys."""
    found: dict[str, list[tuple[str, float]]] = {}
    for count in (1, *counts):
        with ExitStack() as stack:
            kv, (other,) = stack.enter_context(cluster(2, NUM_KEYS, LENGTH, count))
            workers = [join(stack, kv.node) for _ in range(WORKERS)]
            for operation, keys in itertools.product(("pull", "push"), (1, COUNT)):
                what = f"{operation} {keys} {'key' if keys == 1 else 'keys'} x {LENGTH}"
                spent = busiest(other.process.pid, workers, operation, keys, 0.05 if quick else 1.0)
                found.setdefault(what, []).append(spent)
    for what, (one, *more) in found.items():
        for count, (name, most) in zip(counts, more, strict=True):
            yield Row(
                table="parameter server, 2 nodes over loopback, 8 workers of one, busiest thread of the other",
                what=f"{what}, {count} threads: {name}",
                ours=most,
                unit="us",
                peer=f"one thread: {one[0]}",
                theirs=one[1],
            )


def join(stack: ExitStack, node: pyps.Node) -> pyps.Worker:
    """Make a worker that is connected to both nodes. ZeroMQ spreads connections best that come one after another."""
    worker = stack.enter_context(pyps.Worker(node))
    worker.pull(np.arange(2), np.zeros((2, LENGTH), np.float32))
    return worker


def busiest(
    process: int, workers: list[pyps.Worker], operation: str, count: int, seconds: float
) -> tuple[str, float]:
    """Let the workers call for some seconds; return the thread with the most time, and microseconds per call of all."""
    calls = [0] * len(workers)
    batches = elsewhere(2, count)
    before = times(process)
    end = time.perf_counter() + seconds

    def body(number: int) -> None:
        keys = itertools.cycle(batches[number * BATCHES // len(workers) :])
        values = np.zeros((count, LENGTH), np.float32)
        call = getattr(workers[number], operation)
        while time.perf_counter() < end:
            call(next(keys), values)
            calls[number] += 1

    in_threads(len(workers), body)
    spent = {
        thread: (name, taken - before.get(thread, (name, 0))[1])
        for thread, (name, taken) in times(process).items()
    }
    name, most = max(spent.values(), key=lambda one: one[1])
    return name, most / 1000 / sum(calls)


def times(process: int) -> Times:
    """Return what each thread of a process has used of the processors."""
    found: Times = {}
    for task in (Path("/proc") / str(process) / "task").iterdir():
        with suppress(FileNotFoundError, ProcessLookupError):  # it has ended
            taken = int((task / "schedstat").read_text().split()[0])
            found[int(task.name)] = ((task / "comm").read_text().strip(), taken)
    return found
