"""How long tests go on that draw at random, and how much of a grid runs: `make test` does little of both.

MOONTIDE_TIMES says how many times as many seeds there are; `make soak` sets it. CI has all rows, and few seeds.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TypeVar

Row = TypeVar("Row")
TIMES = int(os.environ.get("MOONTIDE_TIMES", "1"))
HAS_ALL_ROWS = TIMES > 1 or bool(os.environ.get("CI"))


def times(few: int) -> int:
    """Return so many seeds, messages or rounds, or many times as many."""
    return few * TIMES


def rows(few: Sequence[Row], grid: Sequence[Row]) -> list[Row]:
    """Return a few rows in which any two columns of a grid meet, and in CI or a long run the grid's others too."""
    return [*few, *(row for row in grid if HAS_ALL_ROWS and row not in few)]
