"""No function of torch reads memory behind a value that it cannot use, whatever it is called with."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.soak import HAS_ALL_ROWS, TIMES

PROGRAM = """
import sys
import bridge
with bridge.Lua() as lua:
    calls = lua.execute(open(sys.argv[1]).read(), sys.argv[2], int(sys.argv[3]))
    assert calls > 100, calls
    assert lua.eval("torch.ones(2, 2):sum()") == 4
print("survived")
"""
TYPES = ["Byte", "Half", "Float"]  # the others share their code
CLASSES = [
    "torch",
    *(f"torch.{name}{kind}" for name in TYPES for kind in ("Tensor", "Storage")),
    *(f"torch.{name}" for name in ("Generator", "Timer", "DiskFile", "MemoryFile", "PipeFile")),
]


@pytest.mark.long
@pytest.mark.parametrize("name", CLASSES)
def test_wrong_values_are_errors(name: str, tmp_path: Path) -> None:
    done = subprocess.run(
        [
            sys.executable,
            "-X",
            "faulthandler",
            "-c",
            PROGRAM,
            str(Path(__file__).parent / "selves.lua"),
            name,
            str(max(1, (2 if HAS_ALL_ROWS else 4) // TIMES)),  # of so many pairs of values one
        ],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    assert (done.returncode, done.stdout.splitlines()[-1:]) == (0, ["survived"]), done.stderr[-2000:]
