"""What `make quick` leaves out: slow tests, and most rows of a large grid.

Such a grid shows one fact in all circumstances; rows from all over it tell whether the fact still holds. `make test`
has all of them.
"""

from __future__ import annotations

from collections import defaultdict

import pytest

ROWS = 8  # of each test, at most


def left_out(items: list[pytest.Item]) -> list[pytest.Item]:
    """Return the slow ones, and those of tests with more than `ROWS` rows that are not evenly spread over the rows."""
    rows = defaultdict(list)
    for item in items:
        if not item.get_closest_marker("slow"):
            rows[name_of(item)].append(item)
    taken = {item for of_test in rows.values() for item in spread(of_test)}
    return [item for item in items if item not in taken]


def spread(rows: list[pytest.Item]) -> list[pytest.Item]:
    """Return all rows, or `ROWS` from all over them."""
    return rows if len(rows) <= ROWS else [rows[i * len(rows) // ROWS] for i in range(ROWS)]


def name_of(item: pytest.Item) -> str:
    """Return what all rows of a test have in common."""
    return item.nodeid.partition("[")[0]
