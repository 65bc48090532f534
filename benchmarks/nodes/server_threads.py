"""A node's server with two threads beside one with one: where there are few processors they should cost nothing."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import numpy as np

from benchmarks.harness import Row, seconds_of_loops
from benchmarks.nodes.cluster import calls, cluster
from benchmarks.nodes.operations import COUNT, LENGTH, NUM_KEYS, ROUNDS, elsewhere

LARGE = 10_000  # keys of a batch that takes a server longer than the way from thread to thread
TARGET = "<= 1.05x"


def server_threads(quick: bool) -> Iterator[Row]:
    """Measure one worker that pulls and pushes keys of the other of two nodes."""
    batches = {count: elsewhere(2, count) for count in (1, COUNT)}
    batches[LARGE] = elsewhere(2, LARGE)[: NUM_KEYS // 2 // LARGE]
    with cluster(2, NUM_KEYS, LENGTH) as (one, _), cluster(2, NUM_KEYS, LENGTH, 2) as (two, _):
        for operation, count in itertools.product(("pull", "push"), batches):
            values = np.zeros((count, LENGTH), np.float32)
            ours, theirs = (
                calls(getattr(kv, operation), itertools.cycle(batches[count]), values) for kv in (two, one)
            )
            times = seconds_of_loops(ours, theirs, quick=quick, rounds=ROUNDS)
            yield Row(
                table="parameter server, 2 nodes over loopback, servers of two threads against one",
                what=f"{operation} {count:,} {'key' if count == 1 else 'keys'} x {LENGTH}",
                ours=1e6 * times[0],
                unit="us",
                peer="one thread",
                theirs=1e6 * times[1],
                target=TARGET,
            )
