"""Mutexes, conditions, and functions that one thread runs at a time."""

from __future__ import annotations

import time

import pytest

import bridge
from tests.torch7.threads.waiting import wait_until

pytestmark = pytest.mark.timeout(60)


def test_a_mutex_keeps_threads_apart(threads: bridge.Lua) -> None:
    threads.execute("""
        threads.serialization('threads.sharedserialize')
        local mutex, sum = threads.Mutex(), torch.zeros(1)
        local id = mutex:id()
        pool = threads.Threads(4, function() threads = require 'threads' end)
        for _ = 1, 4 do
           pool:addjob(function()
              local m = threads.Mutex(id)
              for _ = 1, 2000 do m:lock() sum[1] = sum[1] + 1 m:unlock() end
              m:free()
           end)
        end
        pool:terminate()
        mutex:free()
        total = sum[1]
    """)
    assert threads.eval("total") == 8000


def test_a_mutex_is_known_by_its_id_until_it_is_freed(threads: bridge.Lua) -> None:
    threads.execute("a = threads.Mutex() id = a:id() b = threads.Mutex(id) a:free() b:lock() b:unlock()")
    assert threads.eval("b:id() == id")
    threads.execute("b:free()")
    with pytest.raises(bridge.LuaError, match="there is no mutex with the id"):
        threads.execute("threads.Mutex(id)")
    with pytest.raises(bridge.LuaError, match="this mutex was freed"):
        threads.execute("b:lock()")


@pytest.mark.parametrize("kind", ["Mutex", "Condition"])
@pytest.mark.parametrize("number", ["0", "-1", "0/0", "1e300", "'1'", "{}"])
def test_a_wrong_id_is_an_error(threads: bridge.Lua, kind: str, number: str) -> None:
    with pytest.raises(bridge.LuaError, match=r"there is no|number expected"):
        threads.execute(f"threads.{kind}({number})")


def test_unlocking_what_is_not_locked_is_an_error(threads: bridge.Lua) -> None:
    with pytest.raises(bridge.LuaError, match="not locked"):
        threads.execute("local m = threads.Mutex() m:unlock()")


@pytest.mark.parametrize("wake", ["for _ = 1, 3 do condition:signal() end", "condition:broadcast()"])
def test_a_condition_wakes_those_that_wait(threads: bridge.Lua, wake: str) -> None:
    threads.execute(
        """
        mutex, condition, ready = threads.Mutex(), threads.Condition(), tds.AtomicCounter()
        threads.serialization('threads.sharedserialize')
        local m, c = mutex:id(), condition:id()
        local ready = ready
        pool = threads.Threads(3, function() threads = require 'threads' require 'tds' end)
        for _ = 1, 3 do
           pool:addjob(function()
              local mutex, condition = threads.Mutex(m), threads.Condition(c)
              mutex:lock()
              ready:inc()
              condition:wait(mutex)
              ready:inc()
              mutex:unlock()
           end)
        end
        while ready:get() < 3 do end
        mutex:lock()
        """
        + wake
        + """
        mutex:unlock()
        pool:terminate()
        mutex:free() condition:free()
        count = ready:get()
    """
    )
    assert threads.eval("count") == 6


def test_one_signal_wakes_one_thread(threads: bridge.Lua) -> None:
    threads.execute("""
        mutex, condition, ready, woken = threads.Mutex(), threads.Condition(), tds.AtomicCounter(), tds.AtomicCounter()
        threads.serialization('threads.sharedserialize')
        local m, c, ready, woken = mutex:id(), condition:id(), ready, woken
        pool = threads.Threads(2, function() threads = require 'threads' require 'tds' end)
        for _ = 1, 2 do
           pool:addjob(function()
              local mutex, condition = threads.Mutex(m), threads.Condition(c)
              mutex:lock()
              ready:inc()
              condition:wait(mutex)
              woken:inc()
              mutex:unlock()
           end)
        end
        while ready:get() < 2 do end
        mutex:lock()
        condition:signal()
        mutex:unlock()
    """)
    wait_until(lambda: threads.eval("woken:get()") == 1)
    time.sleep(0.1)
    assert threads.eval("woken:get()") == 1
    threads.execute("condition:signal() pool:terminate() mutex:free() condition:free()")
    assert threads.eval("woken:get()") == 2


def test_a_safe_function_is_run_by_one_thread_at_a_time(threads: bridge.Lua) -> None:
    threads.execute("""
        threads.serialization('threads.sharedserialize')
        local sum = torch.zeros(1)
        local add = threads.safe(function(n)
           for _ = 1, n do sum[1] = sum[1] + 1 end
           return n, nil
        end)
        pool = threads.Threads(4, function() require 'threads' end)
        for _ = 1, 40 do pool:addjob(function() return select('#', add(100)) end, function(n) results = n end) end
        pool:terminate()
        total = sum[1]
    """)
    assert threads.eval("total, results") == (4000, 2)


@pytest.mark.slow
def test_a_safe_function_unlocks_after_an_error(threads: bridge.Lua) -> None:
    threads.execute("f = threads.safe(function(x) if x then error('bad', 0) end return 'good' end)")
    with pytest.raises(bridge.LuaError, match="bad"):
        threads.execute("f(true)")
    assert threads.eval("f(false)") == "good"
