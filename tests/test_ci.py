"""What CI prints at its end, and that it allows no skipped test."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

REPORT = Path(__file__).parents[1] / ".ci" / "report.py"
PASSES = "def test_passes(): pass\n"
SKIPS = "import pytest\ndef test_skips(): pytest.skip('no luajit')\n"
FAILS = "def test_fails(): assert False\n"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("code", "status", "last"),
    [
        (PASSES, 0, "1 passed in"),
        (PASSES + SKIPS, 1, "1 passed, 1 skipped in"),
        (PASSES + FAILS, 1, "1 failed, 1 passed in"),
        ("", 1, "0 passed in"),
    ],
    ids=["passes", "skips", "fails", "empty"],
)
def test_only_a_run_in_which_every_test_passed_is_good(
    code: str, status: int, last: str, tmp_path: Path
) -> None:
    (tmp_path / "test_it.py").write_text(code)
    xml = tmp_path / "junit.xml"
    pytest_run = [sys.executable, "-m", "pytest", "-q", "--rootdir", tmp_path, f"--junitxml={xml}", tmp_path]
    subprocess.run(pytest_run, check=False, capture_output=True, cwd=tmp_path, timeout=60)
    done = subprocess.run(
        [sys.executable, REPORT, xml], check=False, capture_output=True, text=True, timeout=60
    )
    assert (done.returncode, done.stderr) == (status, "")
    assert done.stdout.splitlines()[-1].startswith(f"===== {last}")
    assert ("no luajit" in done.stdout) == ("skips" in code)
