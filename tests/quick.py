"""What `make quick` leaves out: slow tests, and most rows of a large grid.

Such a grid shows one fact in all circumstances; rows from all over it tell whether the fact still holds. `make test`
has all of them.
"""

from __future__ import annotations

from collections import Counter, defaultdict

import pytest

ROWS = 8  # of each test, at most


def left_out(items: list[pytest.Item]) -> list[pytest.Item]:
    """Return the slow ones, and those of tests with more than `ROWS` rows that are not evenly spread over the rows."""
    quick = [item for item in items if not item.get_closest_marker("slow")]
    rows = Counter(map(name_of, quick))
    position: dict[str, int] = defaultdict(int)
    taken = set()
    for item in quick:
        name = name_of(item)
        at = position[name]
        position[name] += 1
        if rows[name] <= ROWS or at * ROWS // rows[name] != (at - 1) * ROWS // rows[name]:
            taken.add(item)
    return [item for item in items if item not in taken]


def name_of(item: pytest.Item) -> str:
    """Return what all rows of a test have in common."""
    return item.nodeid.partition("[")[0]
