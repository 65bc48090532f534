"""Loops over large tensors: torch's threads, any layout, and what is left of the threads after a fork."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable

import numpy as np
import pytest
import torch

import bridge

SIDE = 300  # 90,000 elements: enough for several threads to share


def run(program: str) -> None:
    """Run a Python program in a process of its own."""
    subprocess.run([sys.executable, "-c", program], check=True, timeout=120)


@pytest.mark.slow
@pytest.mark.parametrize(("threads", "more"), [(1, 0), (2, 1), (3, 2)])
def test_loops_use_as_many_threads_as_torch_does(threads: int, more: int) -> None:
    run(f"""
import os, torch, bridge
lua = bridge.Lua()
lua.execute("require 'torch' x = torch.Tensor(10^6) torch.setnumthreads({threads})")
before = len(os.listdir("/proc/self/task"))
lua.execute("x:fill(1)")
assert len(os.listdir("/proc/self/task")) == before + {more}
""")


@pytest.mark.slow
def test_a_process_without_torch_starts_no_thread() -> None:
    run("""
import os, sys, bridge
lua, before = bridge.Lua(), len(os.listdir("/proc/self/task"))
assert lua.execute("require 'torch' return torch.Tensor(10^6):fill(1):add(1):sum()") == 2e6
assert "torch" not in sys.modules and len(os.listdir("/proc/self/task")) == before
""")


@pytest.mark.long
def test_long_work_reaches_torchs_threads_before_anybody_imports_torch() -> None:
    run("""
import os, sys, time
os.environ["OMP_NUM_THREADS"] = "2"
import bridge
lua = bridge.Lua()
lua.execute("require 'torch' x = torch.Tensor(10^6):fill(0)")
before, end, added = len(os.listdir("/proc/self/task")), time.monotonic() + 60, 0
while len(os.listdir("/proc/self/task")) == before and time.monotonic() < end:
    lua.execute("for i = 1, 20 do x:add(1) end")
    added += 20
assert "torch" not in sys.modules and len(os.listdir("/proc/self/task")) == before + 1
assert lua.eval("x:eq(...):all()", added)
import torch
assert torch.get_num_threads() == 2
assert lua.eval("torch.mm(torch.eye(300), torch.ones(300, 300)):sum()") == 9e4
""")


@pytest.mark.slow
def test_the_child_of_a_fork_goes_on_with_one_thread() -> None:
    run("""
import os, signal, torch, bridge
torch.set_num_threads(2)
lua = bridge.Lua()
lua.execute("require 'torch' x = torch.Tensor(10^6):fill(1):add(1)")
child = os.fork()
if child == 0:
    signal.alarm(30)
    os._exit(lua.eval("x:add(1):sum()") != 3e6)
assert os.waitpid(child, 0)[1] == 0
""")


LAYOUTS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "plain": lambda x: x,
    "transposed": lambda x: x.T,
    "every second": lambda x: x[::2],
    "columns": lambda x: x[:, 10:-10],
    "expanded": lambda x: np.lib.stride_tricks.as_strided(x, x.shape, (0, x.strides[1])),
    "permuted": lambda x: x.reshape(30, 10, SIDE).transpose(2, 0, 1),
}


@pytest.mark.parametrize("operand", LAYOUTS)
@pytest.mark.parametrize("result", [name for name in LAYOUTS if name != "expanded"])
def test_operands_of_any_layout(lua: bridge.Lua, result: str, operand: str) -> None:
    generator = np.random.default_rng(3)
    to = LAYOUTS[result](generator.random((SIDE, SIDE)))
    given = torch.from_numpy(generator.random((SIDE, SIDE)))
    a = LAYOUTS[operand](given.numpy())
    a = a if a.size == to.size else np.resize(a, to.shape)
    expected = to.ravel() + 2 * a.ravel() * to.ravel()
    lua.execute("r, a = ... r:addcmul(2, a, r)", torch.from_numpy(to), torch.from_numpy(a))
    np.testing.assert_allclose(to.ravel(), expected, rtol=1e-15)


@pytest.mark.parametrize("name", [name for name in LAYOUTS if name != "expanded"])
def test_functions_of_a_number_in_place(lua: bridge.Lua, name: str) -> None:
    x = LAYOUTS[name](np.random.default_rng(4).random((SIDE, SIDE)))
    expected = x * 3
    lua.execute("local x = ... x:mul(3)", torch.from_numpy(x))
    np.testing.assert_array_equal(x, expected)


@pytest.mark.parametrize(("dtype", "nearly"), [(np.float64, 0.49999999999999994), (np.float32, 0.49999997)])
def test_halves_are_rounded_away_from_zero(lua: bridge.Lua, dtype: type, nearly: float) -> None:
    great = 2.0 ** (np.finfo(dtype).nmant + 1) - 1
    values = [0.5, 1.5, 2.5, nearly, 0.25, 0, 3, great, great / 2, np.inf]
    x = np.array([*values, *(-v for v in values)] * 5, dtype)
    half_away = np.copysign(np.floor(np.abs(x).astype(np.longdouble) + 0.5), x).astype(dtype)
    np.testing.assert_array_equal(lua.eval("(...):round()", x), half_away)
