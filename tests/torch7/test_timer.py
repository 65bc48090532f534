"""torch.Timer, torch.tic and torch.toc."""

from __future__ import annotations

import time

import pytest

import bridge

BUSY = "local t = os.clock() while os.clock() - t < 0.05 do end"


def test_a_timer_measures_wall_and_processor_time(lua: bridge.Lua) -> None:
    spent = lua.execute(f"local timer = torch.Timer() {BUSY} return timer:time()")
    assert set(spent) == {"real", "user", "sys"}
    assert 0.04 < spent["user"] + spent["sys"] < 30
    assert 0.04 < spent["real"] < 30


@pytest.mark.slow
def test_sleeping_takes_no_processor_time(lua: bridge.Lua) -> None:
    lua.execute("timer = torch.Timer()")
    time.sleep(0.2)
    spent = lua.eval("timer:time()")
    assert spent["real"] >= 0.2
    assert spent["user"] + spent["sys"] < spent["real"]


def test_a_stopped_timer_stands(lua: bridge.Lua) -> None:
    code = f"""
    local timer = torch.Timer():stop()
    local before = timer:time().real
    {BUSY}
    return timer:time().real == before
    """
    assert lua.execute(code)


def test_a_resumed_timer_adds_up(lua: bridge.Lua) -> None:
    code = f"""
    local timer = torch.Timer()
    do {BUSY} end
    timer:stop()
    local first = timer:time().real
    timer:resume()
    {BUSY}
    return first, timer:time().real
    """
    first, second = lua.execute(code)
    assert first > 0.04
    assert second > first + 0.04


def test_reset_begins_again_and_leaves_a_stopped_timer_stopped(lua: bridge.Lua) -> None:
    code = f"""
    local running, stopped = torch.Timer(), torch.Timer():stop()
    {BUSY}
    running:reset() stopped:reset()
    return running:time().real, stopped:time().real, tostring(running), tostring(stopped)
    """
    real, zero, running, stopped = lua.execute(code)
    assert 0 <= real < 0.04
    assert zero == 0
    assert (running, stopped) == ("torch.Timer [status: running]", "torch.Timer [status: stopped]")


@pytest.mark.parametrize("method", ["stop", "resume", "reset"])
def test_methods_return_the_timer(lua: bridge.Lua, method: str) -> None:
    assert lua.execute(f"local timer = torch.Timer() return timer:{method}() == timer")


def test_a_timer_is_an_object_of_its_own_class(lua: bridge.Lua) -> None:
    assert lua.execute(
        "local t = torch.Timer() return type(t), torch.type(t), torch.isTypeOf(t, 'torch.Timer')"
    ) == ("userdata", "torch.Timer", True)


@pytest.mark.parametrize("value", ["{}", "5", "torch.Generator()"])
def test_other_values_are_no_timers(lua: bridge.Lua, value: str) -> None:
    with pytest.raises(bridge.LuaError, match=r"bad argument #1 to 'time' \(torch.Timer expected, got "):
        lua.eval(f"torch.Timer().time({value})")


def test_a_timer_has_no_fields(lua: bridge.Lua) -> None:
    assert lua.eval("torch.Timer().anything") is None
    with pytest.raises(bridge.LuaError, match=r"the class torch\.Timer cannot be indexed"):
        lua.execute("torch.Timer().anything = 1")


def test_tic_and_toc_measure_what_lies_between(lua: bridge.Lua) -> None:
    assert 0.04 < lua.execute(f"local began = torch.tic() {BUSY} return torch.toc(began)") < 30


def test_toc_needs_what_tic_gave(lua: bridge.Lua) -> None:
    with pytest.raises(bridge.LuaError, match=r"bad argument #1 to 'toc' \(number expected, got no value\)"):
        lua.eval("torch.toc()")
