"""Cores, threads and heap tracking."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
import torch

import bridge


def test_cores_are_those_of_this_process(lua: bridge.Lua) -> None:
    assert lua.eval("torch.getnumcores()") == len(os.sched_getaffinity(0))


def test_threads_are_torchs(lua: bridge.Lua) -> None:
    before = torch.get_num_threads()
    try:
        lua.execute("torch.setnumthreads(1)")
        assert torch.get_num_threads() == 1
        assert lua.eval("torch.getnumthreads()") == 1
    finally:
        torch.set_num_threads(before)


PROGRAM = """
import bridge, os
with bridge.Lua() as lua:
    lua.execute('''
        require 'nn'
        torch.setnumthreads(3)
        x = torch.randn(32, 100) -- rows that torch itself would share
        y = torch.randn(2000) -- numbers that MKL would share
        wide = torch.randn(400, 400)
    ''')
    tasks = len(os.listdir("/proc/self/task"))
    lua.execute("nn.LogSoftMax():forward(x) torch.tanh(y) torch.mm(x, x:t())")
    print(len(os.listdir("/proc/self/task")) - tasks, lua.eval("torch.getnumthreads()"))
    lua.execute("torch.mm(wide, wide) torch.tanh(wide)")
    print(len(os.listdir("/proc/self/task")) - tasks, lua.eval("torch.getnumthreads()"))
"""


@pytest.mark.slow
def test_only_large_work_starts_torchs_threads() -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], capture_output=True, text=True, timeout=60, check=False
    )
    assert (done.stdout, done.stderr) == ("0 3\n2 3\n", "")


@pytest.mark.parametrize("count", ["0", "-1", "1e99", "nil", "{}"])
def test_a_number_of_threads_that_cannot_be(lua: bridge.Lua, count: str) -> None:
    with pytest.raises(bridge.LuaError, match="'setnumthreads'"):
        lua.execute(f"torch.setnumthreads({count})")


def test_heap_tracking_is_remembered(lua: bridge.Lua) -> None:
    assert lua.eval("torch._heaptracking") is True
    lua.execute("torch.setheaptracking(false)")
    assert lua.eval("torch._heaptracking") is False
    with pytest.raises(bridge.LuaError, match=r"boolean expected, got boolean.: it is a number"):
        lua.execute("torch.setheaptracking(1)")
