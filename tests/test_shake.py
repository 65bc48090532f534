"""What disturbs tests on purpose (`tests/shake.py`)."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

# Passes where the parent is not late; the child says for how long it stood still, as soon as it has for long.
LATE = """
import subprocess, sys, time

CHILD = '''
import sys, time
longest, end, last = 0, time.monotonic() + 4, time.monotonic()
while last < end and longest < 0.19:
    time.sleep(0.001)
    longest, last = max(longest, time.monotonic() - last), time.monotonic()
print(longest)
'''

def test_nobody_is_late():
    assert float(subprocess.check_output([sys.executable, "-c", CHILD])) < 0.19
"""


@pytest.mark.long
def test_processes_of_tests_stand_still(tmp_path: Path) -> None:
    """For up to 0.4 s; each test runs as often as asked for."""
    (tmp_path / "test_late.py").write_text(LATE)
    options = ["--times", "2", "--busy", "1", "-p", "no:cacheprovider"]
    command = [sys.executable, "-m", "tests.shake", *options, str(tmp_path)]
    project = Path(__file__).parents[1]
    ended = subprocess.run(command, cwd=project, check=False, capture_output=True, text=True, timeout=100)
    assert ended.returncode == 1, ended.stdout + ended.stderr
    assert "2 failed" in ended.stdout, ended.stdout
