"""What runs on a GPU runs on a device that every machine has: the tests for each device, in a process of their own."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.pyps.devices import WANTS_FAR

ROOT = Path(__file__).parents[2]
TESTS = [
    "test_device_tensors.py",
    "nn/test_device.py",
    "nn/test_distributed_devices.py",
    "nn/test_pooling.py",
]
FEWEST = 90  # tests that there are


@pytest.mark.long
@pytest.mark.timeout(400)
def test_a_device_whose_memory_no_cpu_reads() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-k", "far", "-p", "no:cacheprovider", "--extent=all"]
        + [f"tests/pyps/{name}" for name in TESTS],
        cwd=ROOT,
        env={**os.environ, WANTS_FAR: "1"},
        capture_output=True,
        text=True,
        timeout=380,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    passed = re.search(r"^(\d+) passed", done.stdout, re.MULTILINE)
    assert passed, done.stdout
    assert int(passed[1]) >= FEWEST
