"""Clusters of many nodes, simulated: the shipped protocol under a clock of its own, with costs that were measured."""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks.harness import Row
from benchmarks.simulate.program import simulate
from benchmarks.simulate.settings import Run, Zipf
from examples.apps.management import MANAGEMENTS

NAME = "simulate"
WORK = Zipf(batches=20)
SMALL = Zipf(batches=4, batch_keys=100)


def run(quick: bool) -> list[Row]:
    """Simulate clusters of several sizes with each management."""
    return list(scaled(Run(keys=1000, work=SMALL) if quick else Run(keys=1_000_000, work=WORK), quick))


def scaled(alone: Run, quick: bool) -> Iterator[Row]:
    """Return how much each size does, beside what one node does."""
    one = simulate(alone.on(1)).epochs()[-1]
    for nodes in (2,) if quick else (2, 8, 32):
        for management in MANAGEMENTS:
            found = simulate(Run(nodes=nodes, management=management, keys=alone.keys, work=alone.work))
            yield Row(
                table=f"{NAME}: Zipf accesses to {alone.keys} keys over {alone.link}, as much on each node",
                what=f"{nodes} nodes, {management}: {found.share_local:.1%} local, {found.messages.mean:.0f} messages "
                f"and {found.bytes.mean / 1e6:.2f} MB of a node",
                ours=found.epochs()[-1],
                unit="s",
                peer="one node",
                theirs=one,
            )
