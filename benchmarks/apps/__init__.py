"""Programs that learn on 1, 2 and 4 nodes of this machine, each with its parameters managed in three ways.

Leaves `out/apps.json` with every epoch and `out/apps.png` with the curves.
"""

from __future__ import annotations

from pathlib import Path

from benchmarks.apps.measure import plan, train_all, write
from benchmarks.apps.plot import draw
from benchmarks.apps.rows import rows_of
from benchmarks.harness import Row

NAME = "apps"
PLACE = Path("out")


def run(quick: bool) -> list[Row]:
    """Train everything and compare with classic management on one node."""
    trained = train_all(plan(quick), quick)
    write(trained, PLACE / "apps.json")
    draw(trained, PLACE / "apps.png")
    return rows_of(trained)
