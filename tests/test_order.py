"""A test that ends its process fails once, and the others run."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
TESTS = """
import os, time

def test_before(): ...
def test_that_ends_its_process():
    time.sleep(0.5)  # xdist has sent what comes next: a send to a process that is gone ends it, too
    os._exit(1)
def test_after(): ...
"""


@pytest.mark.parametrize("processes", [1, 2])
def test_a_test_that_ends_its_process_is_tried_once(tmp_path: Path, processes: int) -> None:
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    (tmp_path / "test_end.py").write_text(TESTS)
    (tmp_path / "test_last.py").write_text("def test_of_another_file(): ...\n")
    options = [f"-n{processes}", "-p", "tests.order", "-p", "no:cacheprovider"]
    command = [sys.executable, "-m", "pytest", *options, str(tmp_path)]
    done = subprocess.run(
        command, cwd=ROOT, env={"PATH": "/usr/bin"}, capture_output=True, text=True, timeout=60, check=False
    )
    assert "1 failed, 3 passed" in done.stdout, done.stdout
