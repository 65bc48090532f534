"""What more processors give: workers of one node beside one worker, and server threads of a node beside one.

Rows are measured up to the processors that there are: a machine with two has few of them.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import ExitStack

import numpy as np

import pyps
from benchmarks import ps
from benchmarks.harness import Row
from benchmarks.nodes.cluster import cluster
from benchmarks.nodes.operations import COUNT, LENGTH, NUM_KEYS
from benchmarks.nodes.threads import rate

NAME = "parameter server, processors"

PROCESSORS = len(os.sched_getaffinity(0))
WORKERS = (2, 4, 8, 16)
SERVER_THREADS = (2, 4, 8)
HOT = 1000  # keys that all workers use
ROUNDS, SECONDS = 5, 0.3


def run(quick: bool) -> list[Row]:
    """Measure every row; `quick` only sees that they run."""
    return [*workers(quick), *server_threads(quick)]


def workers(quick: bool) -> Iterator[Row]:
    """Let processes pull and push keys of the node that they are attached to: many keys, and few that all use."""
    counts = [1, *(n for n in WORKERS if n <= PROCESSORS)][: 2 if quick else None]
    for num_keys in (NUM_KEYS, HOT):
        for operation in ("pull", "push"):
            with pyps.Server(num_keys, LENGTH) as server:
                one, *more = medians(
                    [
                        [ps.rate(server, operation, "process", n, seconds(quick)) for n in counts]
                        for _ in turns(quick)
                    ]
                )
            for count, keys in zip(counts[1:], more, strict=True):
                yield Row(
                    table=f"{NAME}: workers of one node at once against one",
                    what=f"{operation} {COUNT} of {num_keys:,} keys x {LENGTH}, {count} processes",
                    ours=keys / 1e6,
                    unit="M keys/s",
                    peer="one process",
                    theirs=one / 1e6,
                    target=f">= {0.8 * count:.1f}x" if num_keys == NUM_KEYS or operation == "pull" else "",
                )


def server_threads(quick: bool) -> Iterator[Row]:
    """Let as many workers as there are processors for use keys of the other of two nodes."""
    threads = [1, *(n for n in SERVER_THREADS if 2 * n <= PROCESSORS)][: 2 if quick else None]
    num_workers = max(2, PROCESSORS // 2)
    for count in (1, COUNT):
        for operation in ("pull", "push"):
            with ExitStack() as stack:
                nodes = [stack.enter_context(cluster(2, NUM_KEYS, LENGTH, n))[0].node for n in threads]
                one, *more = medians(
                    [
                        [rate(n, operation, count, num_workers, seconds(quick)) for n in nodes]
                        for _ in turns(quick)
                    ]
                )
            for n, calls in zip(threads[1:], more, strict=True):
                yield Row(
                    table=f"{NAME}: 2 nodes over loopback, {num_workers} workers of one, server threads of both",
                    what=f"{operation} {count} {'key' if count == 1 else 'keys'} x {LENGTH}, {n} threads",
                    ours=calls,
                    unit="calls/s",
                    peer="one thread",
                    theirs=one,
                    target="",
                )


def turns(quick: bool) -> range:
    """Return how often each is measured."""
    return range(1 if quick else ROUNDS)


def seconds(quick: bool) -> float:
    """Return for how long."""
    return 0.05 if quick else SECONDS


def medians(rates: list[list[float]]) -> list[float]:
    """Return the median of each column."""
    return [float(median) for median in np.median(rates, axis=0)]
