"""What a key costs as keys and nodes become more: time of a pull, memory of a node."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import numpy as np

import pyps
from benchmarks.harness import Row, seconds_of_loops
from benchmarks.nodes.cluster import calls, cluster

LENGTH, COUNT = 10, 1000
NODES = (1, 2, 4)
SIZES = (10_000, 100_000, 1_000_000, 10_000_000)
QUICK_SIZES = (10_000, 100_000)
BATCHES = 200


def growth(quick: bool) -> Iterator[Row]:
    """Measure every size on every number of nodes."""
    sizes = QUICK_SIZES if quick else SIZES
    for num_nodes in NODES:
        first = None
        for num_keys in sizes:
            rows = list(
                one_node(num_keys, quick) if num_nodes == 1 else nodes(num_nodes, num_keys, first, quick)
            )
            first = first or rows[0].ours
            yield from rows


def one_node(num_keys: int, quick: bool) -> Iterator[Row]:
    """Pull random keys beside numpy.take, whose memory is as far away."""
    table = np.ones((num_keys, LENGTH), np.float32)
    values = np.empty((COUNT, LENGTH), np.float32)
    rng = np.random.default_rng(num_keys)
    keys = itertools.cycle(list(rng.integers(0, num_keys, (BATCHES, COUNT))))
    with pyps.local(num_keys, LENGTH) as kv:
        fill(kv, num_keys)
        ours, theirs = seconds_of_loops(
            calls(kv.pull, keys, values),
            calls(lambda k: np.take(table, k, 0, values, "clip"), keys),
            quick=quick,
        )
    yield time_row(1, num_keys, ours, "numpy.take(out=)", theirs)


def nodes(num_nodes: int, num_keys: int, first: float | None, quick: bool) -> Iterator[Row]:
    """Pull keys of other nodes; then ask these for their memory."""
    keys = (
        np.random.default_rng(num_keys).integers(0, num_keys // num_nodes, (BATCHES, COUNT)) * num_nodes + 1
    )
    values = np.empty((COUNT, LENGTH), np.float32)
    with cluster(num_nodes, num_keys, LENGTH) as (kv, others):
        held, taken = others[0].ask("memory")
        batches = itertools.cycle(list(keys))
        (seconds,) = seconds_of_loops(calls(kv.pull, batches, values), quick=quick)
    ns = 1e9 * seconds / COUNT
    yield time_row(num_nodes, num_keys, seconds, "with 10,000 keys", (first or ns) * COUNT / 1e9)
    if num_keys >= 1_000_000 or quick:
        yield Row(
            table="parameter server, growth: memory of one node, values of 10 float32, everything included",
            what=f"bytes per key held, {num_keys:,} keys on {num_nodes} nodes",
            ours=taken / held,
            unit="B",
            peer="payload",
            theirs=4.0 * LENGTH,
            target="" if quick else "<= 56 B",
        )


def fill(kv: pyps.Worker, num_keys: int) -> None:
    """Touch every value, so that its page is there."""
    values = np.ones((100_000, LENGTH), np.float32)
    for start in range(0, num_keys, len(values)):
        keys = np.arange(start, min(start + len(values), num_keys))
        kv.push(keys, values[: len(keys)])


def time_row(num_nodes: int, num_keys: int, ours: float, peer: str, theirs: float) -> Row:
    """Return a row of nanoseconds per key."""
    where = "of the only node" if num_nodes == 1 else f"of another of {num_nodes} nodes"
    return Row(
        table="parameter server, growth: time per key, values of 10 float32, 1000 keys a call",
        what=f"pull keys {where}, {num_keys:,} keys",
        ours=1e9 * ours / COUNT,
        unit="ns",
        peer=peer,
        theirs=1e9 * theirs / COUNT,
    )
