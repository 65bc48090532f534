"""`make quick` runs some rows of every test that is not slow."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from tests.quick import ROWS

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


@pytest.mark.slow
def test_rows_of_every_test_are_run() -> None:
    every, few = rows_of_tests("-m", "not slow"), rows_of_tests("--quick")
    assert few == {name: min(count, ROWS) for name, count in every.items()}
    assert max(every.values()) > 10 * ROWS
