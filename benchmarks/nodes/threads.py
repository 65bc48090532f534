"""Threads of a node that work on keys of another one: what two do in a second, beside what one does."""

from __future__ import annotations

import itertools
import statistics
import threading
import time
from collections.abc import Iterator

import numpy as np

import pyps
from benchmarks.harness import Row, in_threads
from benchmarks.nodes.cluster import cluster
from benchmarks.nodes.operations import BATCHES, COUNT, LENGTH, NUM_KEYS, elsewhere

TARGET = ">= 1.7x"


def two_threads(quick: bool) -> Iterator[Row]:
    """Measure threads with a worker each, on two nodes."""
    rounds, seconds = (1, 0.05) if quick else (7, 0.3)
    with cluster(2, NUM_KEYS, LENGTH) as (kv, _):
        for operation, count in itertools.product(("pull", "push"), (1, COUNT)):
            turns = [
                [rate(kv.node, operation, count, workers, seconds) for workers in (1, 2)]
                for _ in range(rounds)
            ]
            one, two = (statistics.median(turn) for turn in zip(*turns, strict=True))
            yield Row(
                table="parameter server, 2 nodes over loopback, two threads of a node against one",
                what=f"{operation} {count} {'key' if count == 1 else 'keys'} x {LENGTH}",
                ours=two,
                unit="calls/s",
                peer="one thread",
                theirs=one,
                target=TARGET,
            )


def rate(node: pyps.Node, operation: str, count: int, workers: int, seconds: float) -> float:
    """Let so many threads run for some seconds; return the calls per second of all."""
    together = threading.Barrier(workers)
    rates: list[float] = []

    def body(number: int) -> None:
        keys = itertools.cycle(elsewhere(2, count)[number * BATCHES // workers :])
        values = np.zeros((count, LENGTH), np.float32)
        with pyps.Worker(node) as kv:
            call = getattr(kv, operation)
            call(next(keys), values)  # it knows the other node now
            together.wait()
            start, calls = time.perf_counter(), 0
            while (taken := time.perf_counter() - start) < seconds:
                call(next(keys), values)
                calls += 1
        rates.append(calls / taken)

    in_threads(workers, body)
    return sum(rates)
