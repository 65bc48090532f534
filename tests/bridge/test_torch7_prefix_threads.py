"""A real Torch7 and threads: it knows by the thread whose errors it raises, and whom it has collect."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

import bridge


@pytest.fixture
def lua(prefix: Path) -> Iterator[bridge.Lua]:
    with bridge.Lua(torch7=prefix) as state:
        state.require("torch")
        yield state


@pytest.fixture
def another() -> Iterator[ThreadPoolExecutor]:
    """Yield a thread of its own."""
    with ThreadPoolExecutor(1) as pool:
        yield pool


def test_states_of_threads_find_the_packages_behind_a_path_of_their_own(
    prefix: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LUA_PATH", "/elsewhere/?.lua")
    with bridge.Lua(torch7=prefix) as lua:
        lua.require("threads")
        assert lua.execute("return require('threads').run(\"require 'torch' return package.path\")").endswith(
            "/elsewhere/?.lua"
        )


def test_an_error_is_raised_on_a_thread_that_did_not_load_torch7(
    lua: bridge.Lua, another: ThreadPoolExecutor
) -> None:
    with pytest.raises(bridge.LuaError, match="out of range"):
        another.submit(lua.eval, "torch.ones(3):narrow(1, 3, 2)").result(60)
    with pytest.raises(bridge.LuaError, match="out of range"):
        lua.eval("torch.ones(3):narrow(1, 3, 2)")


def test_an_error_is_raised_on_a_thread_that_came_before_torch7(prefix: Path) -> None:
    with bridge.Lua(torch7=prefix) as lua, ThreadPoolExecutor(1) as early, ThreadPoolExecutor(1) as later:
        early.submit(lua.eval, "1").result(60)
        later.submit(lua.require, "torch").result(60)
        with pytest.raises(bridge.LuaError, match="out of range"):
            early.submit(lua.eval, "torch.ones(3):narrow(1, 3, 2)").result(60)


def test_an_error_is_raised_in_the_state_that_runs(lua: bridge.Lua, prefix: Path) -> None:
    with bridge.Lua(torch7=prefix) as other:
        other.require("torch")
        for state in (lua, other, lua):
            with pytest.raises(bridge.LuaError, match="out of range"):
                state.eval("torch.ones(3):narrow(1, 3, 2)")


def test_an_error_is_raised_in_the_state_that_called_the_one_that_ran_last(
    lua: bridge.Lua, prefix: Path
) -> None:
    with bridge.Lua(torch7=prefix) as other:
        other.require("torch")
        nested = lua.eval(
            "function(f) f() local ok, e = pcall(function() x:narrow(1, 3, 2) end) return e end"
        )
        lua.execute("x = torch.ones(3)")
        assert "out of range" in nested(lambda: other.eval("torch.ones(3):sum()"))


def test_a_closed_state_is_not_collected(lua: bridge.Lua, prefix: Path) -> None:
    other = bridge.Lua(torch7=prefix)
    other.require("torch")
    other.close()
    lua.execute("for i = 1, 100 do x = torch.ones(1):resize(1000000) end")
    assert lua.eval("x:size(1)") == 1000000


def test_a_states_own_tensors_do_not_pile_up_on_another_thread(
    lua: bridge.Lua, another: ThreadPoolExecutor
) -> None:
    alive = lua.execute(
        """local made = setmetatable({}, {__mode = 'v'})
           return function(i)
              made[i] = torch.DoubleTensor(1000000)
              local n = 0
              for _ in pairs(made) do n = n + 1 end
              return n
           end"""
    )
    assert max(another.map(alive, range(200))) < 30


def test_arrays_of_several_threads_states_stay(prefix: Path) -> None:
    def work() -> float:
        with bridge.Lua(torch7=prefix) as lua:
            lua.require("torch")
            grow = lua.eval("function(x) y = x:narrow(1, 1, 10) x:resize(5000):fill(3) return y end")
            return sum(float(grow(np.ones(100)).sum()) for _ in range(200))

    with ThreadPoolExecutor(4) as pool:
        assert [job.result(60) for job in [pool.submit(work) for _ in range(4)]] == [6000.0] * 4
