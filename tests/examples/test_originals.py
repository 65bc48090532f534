"""The programs in the shape of Lapse's and AdaPM's own: forked nodes, worker threads, numpy and PyTorch."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.ports import OWN, free_port
from tests.python_path import python_path

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]


def run(program: str, *options: str) -> list[str]:
    """Run a program of the examples; return what it printed."""
    where = ["--host", OWN, "--port", str(free_port(OWN))]
    done = subprocess.run(
        [sys.executable, f"examples/{program}", *where, *options],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": python_path(), "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    return done.stdout.splitlines()


@pytest.mark.long
@pytest.mark.parametrize("nodes", [1, 2, 4])
@pytest.mark.parametrize("program", ["lapse/regression.py", "adapm/ring.py"])
def test_a_program_ends_with_the_right_sums_in_both_libraries(program: str, nodes: int) -> None:
    lines = run(program, "--nodes", str(nodes))
    assert [line.split(" steps")[0] for line in lines] == [f"numpy: {600 * nodes}", f"PyTorch: {600 * nodes}"]


@pytest.mark.long
@pytest.mark.parametrize("scheme", ["naive", "preloc", "pool"])
def test_every_scheme_of_sampling(scheme: str) -> None:
    assert len(run("adapm/ring.py", "--nodes", "2", "--scheme", scheme)) == 2
