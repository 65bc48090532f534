"""A standalone cluster: master and workers are processes of their own, and so are the executors and their Pythons."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.spark import environment

DRIVER = Path(__file__).with_name("driver.py")
ROWS = 4000
PATIENCE = 200  # seconds, where many others have the processors
LOADED = """
local ffi = require 'ffi'
ffi.cdef 'int getpid(void);'
local log = assert(io.open('%s', 'a'))
log:write(ffi.C.getpid(), '\\n')
log:close()
function twice(x) return x:narrow(2, 1, 1):mul(2):view(-1) end
"""


@pytest.mark.long
@pytest.mark.timeout(PATIENCE + 80)  # master and workers start first
def test_a_model_travels_to_every_executor_and_is_loaded_once_in_each_python(
    cluster: str, written: Callable[..., Path], tmp_path: Path
) -> None:
    loaded = tmp_path / "loaded"
    model = written(LOADED % loaded)
    command = [sys.executable, DRIVER, cluster, model, loaded]
    with environment():
        done = subprocess.run(
            command, check=False, capture_output=True, text=True, timeout=PATIENCE, cwd=tmp_path
        )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    total = ROWS * (ROWS - 1.0)
    assert found["sums"] == [total, 9900.0, total]
    assert len(found["executors"]) == 2
    assert found["loads"] == found["workers"] == 2
    assert found["most loads of one process"] == 1
