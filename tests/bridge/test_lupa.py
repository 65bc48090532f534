"""lupa itself works beside us, in every order."""

from __future__ import annotations

import subprocess
import sys

import pytest

USE = "import lupa; assert lupa.LuaRuntime().eval('6 * 7') == 42"
OURS = "import bridge; lua = bridge.Lua(); assert lua.eval('6 * 7') == 42"
BOTH_JITS = "import lupa.luajit21; assert lupa.luajit21.LuaRuntime().eval('6 * 7') == 42"


@pytest.mark.slow
@pytest.mark.parametrize(
    "program",
    [
        f"import bridge; {USE}",
        f"{OURS}; {USE}; assert lua.eval('2') == 2",
        f"{USE}; {OURS}; {USE}",
        f"{OURS}; {BOTH_JITS}; {USE}",
        f"{OURS}; lua.close(); {USE}",
    ],
)
def test_a_plain_lupa_runtime_works(program: str) -> None:
    subprocess.run([sys.executable, "-c", program], check=True, timeout=60)
