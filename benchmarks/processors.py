"""What more processors give: workers of one node beside one worker, and server threads of a node beside one.

What needs more processors than there are is left out; `quick` measures the least, wherever it runs.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterator
from contextlib import ExitStack
from functools import partial

import pyps
from benchmarks import ps
from benchmarks.harness import Row, rates_in_turns
from benchmarks.nodes.cluster import cluster
from benchmarks.nodes.operations import COUNT, LENGTH, NUM_KEYS
from benchmarks.nodes.thread_times import thread_times
from benchmarks.nodes.threads import rate

NAME = "parameter server, processors"

PROCESSORS = len(os.sched_getaffinity(0))
WORKERS = (2, 4, 8, 16)
SERVER_THREADS = (2, 4, 8)
HOT = 1000  # keys that all workers use


def run(quick: bool) -> list[Row]:
    """Measure every row; `quick` only sees that they run."""
    times = thread_times(SERVER_THREADS[:1] if quick else SERVER_THREADS, quick)
    return [*workers(quick), *server_threads(quick), *times]


def workers(quick: bool) -> Iterator[Row]:
    """Let processes pull and push keys of the node that they are attached to: many keys, and few that all use."""
    counts = WORKERS[:1] if quick else [n for n in WORKERS if n <= PROCESSORS]
    for num_keys, operation in itertools.product((NUM_KEYS, HOT), ("pull", "push")):
        with pyps.Server(num_keys, LENGTH) as server:
            measures = [partial(ps.rate, server, operation, "process", n) for n in (1, *counts)]
            one, *more = rates_in_turns(*measures, quick=quick)
        for count, keys in zip(counts, more, strict=True):
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
    """Let threads of one of two nodes pull and push keys of the other, on half of the processors."""
    counts = SERVER_THREADS[:1] if quick else [n for n in SERVER_THREADS if 2 * n <= PROCESSORS]
    if not counts:
        return
    num_workers = max(2, PROCESSORS // 2)
    for count, operation in itertools.product((1, COUNT), ("pull", "push")):
        with ExitStack() as stack:
            nodes = [stack.enter_context(cluster(2, NUM_KEYS, LENGTH, n))[0].node for n in (1, *counts)]
            measures = [partial(rate, node, operation, count, num_workers) for node in nodes]
            one, *more = rates_in_turns(*measures, quick=quick)
        for n, calls in zip(counts, more, strict=True):
            yield Row(
                table=f"{NAME}: 2 nodes over loopback, {num_workers} workers of one, server threads of both",
                what=f"{operation} {count} {'key' if count == 1 else 'keys'} x {LENGTH}, {n} threads",
                ours=calls,
                unit="calls/s",
                peer="one thread",
                theirs=one,
            )
