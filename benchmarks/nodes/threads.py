"""Threads of a node that work on keys of another one: what two do in a second, beside what one does."""

from __future__ import annotations

import itertools
import threading
import time
from collections.abc import Iterator
from functools import partial

import numpy as np

import pyps
from benchmarks.harness import Row, in_threads, rates_in_turns
from benchmarks.nodes.cluster import cluster
from benchmarks.nodes.operations import BATCHES, COUNT, LENGTH, NUM_KEYS, elsewhere

TARGET = ">= 1.7x"


def two_threads(quick: bool) -> Iterator[Row]:
    """Measure threads with a worker each, on two nodes."""
    with cluster(2, NUM_KEYS, LENGTH) as (kv, _):
        for operation, count in itertools.product(("pull", "push"), (1, COUNT)):
            one, two = rates_in_turns(
                *(partial(rate, kv.node, operation, count, workers) for workers in (1, 2)),
                quick=quick,
                rounds=7,
            )
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
