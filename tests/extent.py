"""How much of the tests runs: all of them in CI; without long ones in `make test`; without slow ones in `make quick`.

A large grid shows one fact in all circumstances; rows from all over it tell whether the fact still holds.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

import pytest


@dataclass(frozen=True)
class Extent:
    """The marks of tests that do not run, and how many rows each of the others has at most."""

    without: tuple[str, ...]
    rows: int


EXTENTS = {"quick": Extent(("slow", "long"), 8), "usual": Extent(("long",), 24)}  # "all" is everything


def left_out(items: list[pytest.Item], extent: Extent) -> list[pytest.Item]:
    """Return the tests that do not run: those with a mark, and rows in between those that are evenly spread."""
    rows = defaultdict(list)
    for item in items:
        if not any(item.get_closest_marker(mark) for mark in extent.without):
            rows[name_of(item)].append(item)
    taken = {item for of_test in rows.values() for item in spread(of_test, extent.rows)}
    return [item for item in items if item not in taken]


def spread(rows: list[pytest.Item], most: int) -> list[pytest.Item]:
    """Return all rows, or so many from all over them."""
    return rows if len(rows) <= most else [rows[i * len(rows) // most] for i in range(most)]


def name_of(item: pytest.Item) -> str:
    """Return what all rows of a test have in common."""
    return item.nodeid.partition("[")[0]
