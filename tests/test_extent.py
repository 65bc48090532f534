"""`make quick` and `make test` run some rows of every test that is not slow, or not long."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from tests.extent import EXTENTS

ROOT = Path(__file__).parents[1]
LARGE = "tests/torch7/test_nn_gradients.py"


def rows_of_tests(*options: str) -> Counter[str]:
    """Return how many rows each test of a file with large grids has."""
    command = [
        sys.executable,
        "-m",
        "pytest",
        "--collect-only",
        "-q",
        "-p",
        "no:cacheprovider",
        *options,
        LARGE,
    ]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True, cwd=ROOT)
    return Counter(line.partition("[")[0] for line in done.stdout.splitlines() if "::" in line)


@pytest.mark.long
@pytest.mark.parametrize("name", EXTENTS)
def test_rows_of_every_test_are_run(name: str) -> None:
    extent = EXTENTS[name]
    every = rows_of_tests("-m", " and ".join(f"not {mark}" for mark in extent.without))
    assert rows_of_tests(f"--extent={name}") == {
        test: min(count, extent.rows) for test, count in every.items()
    }
    assert max(every.values()) > 10 * EXTENTS["quick"].rows
