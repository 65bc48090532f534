"""The trainings as rows of the benchmarks' table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from benchmarks.apps.measure import Training
from benchmarks.apps.tasks import APPS
from benchmarks.harness import Row


def rows_of(trained: Sequence[Training]) -> list[Row]:
    """Return a row for each training: the time of an epoch beside that of classic management on one node."""
    return [row for app in APPS for row in _of_app([one for one in trained if one.app == app])]


def _of_app(trained: Sequence[Training]) -> Iterator[Row]:
    base = next((one for one in trained if one.nodes == 1 and one.management == "classic"), None)
    for one in trained:
        nodes = "1 node" if one.nodes == 1 else f"{one.nodes} nodes"
        yield Row(
            table=f"apps: {APPS[one.app].title}: {one.metric}, accesses that stay on their node, time of an epoch",
            what=f"{nodes}, {one.management}: {one.quality:.3f}, {100 * one.share_local:.1f} % local, "
            f"{one.core_seconds:.2f} s of cores",
            ours=one.seconds,
            unit="s",
            peer="1 node, classic",
            theirs=base.seconds if base else None,
        )
