"""How long tests go on that draw at random, and how much of a grid runs: `make test` does little of both.

MOONTIDE_TIMES says how many times as many seeds there are; `make soak` sets it, and so does CI.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TypeVar

Row = TypeVar("Row")
TIMES = int(os.environ.get("MOONTIDE_TIMES", "1"))


def times(few: int) -> int:
    """Return so many seeds, messages or rounds, or many times as many."""
    return few * TIMES


def rows(few: Sequence[Row], others: Sequence[Row]) -> list[Row]:
    """Return rows of a grid: a few in which any two of its columns meet, and in a long run all others too."""
    return [*few, *(others if TIMES > 1 else ())]
