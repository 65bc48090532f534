"""ipc's threads: map, workqueue, channel, mutex, marshal, and tasks in the background."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator

import pytest

import bridge
from tests.torch7.ipc.errors import error

pytestmark = pytest.mark.timeout(60)


@pytest.fixture
def ipc() -> Iterator[bridge.Lua]:
    with bridge.Lua() as state:
        state.execute("torch, ipc = require 'torch', require 'libipc'")
        yield state
    deadline = time.monotonic() + 10
    while any(thread.name == "lua" for thread in threading.enumerate()):
        assert time.monotonic() < deadline, "a thread of Lua is left"
        time.sleep(0.01)


# ---- map


def test_join_gives_what_all_threads_returned(ipc: bridge.Lua) -> None:
    ipc.execute("got = {ipc.map(3, function(a, b, id) return id, a + b end, 1, 2):join()}")
    assert ipc.eval("got") == [1, 3, 2, 3, 3, 3]


def test_threads_share_tensors_and_copy_tables(ipc: bridge.Lua) -> None:
    ipc.execute("""
        t, mine = torch.zeros(2), {1}
        ipc.map(2, function(t, mine, id) t[id] = id mine[1] = 5 end, t, mine):join()
    """)
    assert ipc.eval("t:totable(), mine") == ([1, 2], [1])


def test_nil_travels_there_and_back(ipc: bridge.Lua) -> None:
    ipc.execute("a, b, c = ipc.map(1, function(x, y, id) return x, y, id end, nil, 2):join()")
    assert ipc.eval("a, b, c") == (None, 2, 1)


def test_an_error_in_a_thread_is_raised_by_join(ipc: bridge.Lua) -> None:
    assert "boom" in error(ipc, "ipc.map(2, function(id) if id == 2 then error('boom') end end):join()")


def test_checkErrors_raises_what_has_failed_by_now(ipc: bridge.Lua) -> None:
    ipc.execute("""
        m = ipc.map(2, function(q, id) if id == 2 then error('boom') end q:read() end, ipc.workqueue('stay'))
        q = ipc.workqueue('stay')
    """)
    assert "boom" in error(ipc, "while true do m:checkErrors() end")
    ipc.execute("q:write(1)")


@pytest.mark.parametrize(
    ("call", "words"),
    [
        ("ipc.map(0, print)", "a positive number of threads expected, got 0"),
        ("ipc.map(1, 'print')", "function expected as argument 2, got string"),
        ("local up = 1 ipc.map(1, function() return up end)", "with 1 upvalues, the first of which is 'up'"),
        (
            "ipc.map(1, function() end, {{function() return q end}}, io.stdout)",
            "Unwritable object <userdata>",
        ),
        ("ipc.map(1, function() return io.stdout end):join()", "a result cannot be sent"),
        ("ipc.map(1, function() require('nothing.there') end):join()", "module 'nothing.there' not found"),
    ],
)
def test_a_wrong_map_is_told(ipc: bridge.Lua, call: str, words: str) -> None:
    assert words in error(ipc, call)


# ---- workqueue


def test_a_workqueue_is_found_by_name_and_goes_both_ways(ipc: bridge.Lua) -> None:
    ipc.execute("""
        local q = ipc.workqueue('my queue')
        local workers = ipc.map(2, function()
           local q = require('libipc').workqueue('my queue')
           repeat
              local x = q:read()
              if x then q:write(x * 2) end
           until x == nil
        end)
        q:write(1, 2, 3)
        sum = q:read() + q:read() + q:read()
        nothing = select('#', q:read(true))
        q:write(nil, nil)
        workers:join()
        q:close()
    """)
    assert ipc.eval("sum, nothing") == (12, 0)
    assert "this workqueue is closed" in error(ipc, "local q = ipc.workqueue('x') q:close() q:read()")


def test_drain_waits_until_everything_is_answered(ipc: bridge.Lua) -> None:
    ipc.execute("""
        local q = ipc.workqueue()
        local worker = ipc.map(1, function(q)
           while true do
              local x = q:read()
              if x == nil then return end
              require('sys').sleep(0.05)
              q:write(x)
           end
        end, q)
        q:write('a', 'b')
        q:drain()
        got = q:read(true) .. q:read(true)
        q:write(nil)
        worker:join()
    """)
    assert ipc.eval("got") == "ab"


def test_a_queue_that_all_have_closed_is_forgotten(ipc: bridge.Lua) -> None:
    ipc.execute("""
        local q = ipc.workqueue('brief')
        q:write('lost')
        q:close()
        mine = ipc.map(1, function() return require('ipc').workqueue('brief'):read(true) == nil end):join()
    """)
    assert ipc.eval("mine") is True


def test_writeup_takes_upvalues_and_write_does_not(ipc: bridge.Lua) -> None:
    ipc.execute("q, up = ipc.workqueue(), 0 do local up = 5 f = function() return up end end")
    assert "workqueue:writeup() sends it with them" in error(ipc, "q:write(f)")
    ipc.execute("q:writeup(f) got = ipc.map(1, function(q) return q:read()() end, q):join()")
    assert ipc.eval("got") == 5


def test_only_its_maker_drains(ipc: bridge.Lua) -> None:
    code = "q = ipc.workqueue() ipc.map(1, function(q) q:drain() end, q):join()"
    assert "only the thread that made a workqueue" in error(ipc, code)


# ---- channel


def test_a_channel_is_read_until_it_is_drained(ipc: bridge.Lua) -> None:
    ipc.execute("""
        local c = ipc.channel()
        local readers = ipc.map(2, function(c)
           local ipc, n = require 'libipc', 0
           while true do
              local status, x = c:read()
              if status == ipc.channel.DRAINED then return n end
              n = n + x
           end
        end, c)
        for i = 1, 100 do assert(c:write(i) == ipc.channel.OPEN) end
        before = c:closed()
        c:close()
        local a, b = readers:join()
        sum, after, left = a + b, c:drained(), c:num_items()
        late = c:write(1) == ipc.channel.DRAINED and c:read(true) == ipc.channel.DRAINED
    """)
    assert ipc.eval("sum, before, after, left, late") == (5050, False, True, 0, True)


def test_a_channel_counts_and_answers_at_once_when_asked(ipc: bridge.Lua) -> None:
    ipc.execute(
        "c = ipc.channel() c:write(1, 2) n = c:num_items() s1, a = c:read(true) s2, b = c:read() s3, d = c:read(true)"
    )
    assert ipc.eval("n, a, b, d, s1 == ipc.channel.OPEN, s3 == ipc.channel.OPEN") == (
        2,
        1,
        2,
        None,
        True,
        True,
    )


# ---- mutex, marshal


def test_a_mutex_guards_and_its_barrier_gathers(ipc: bridge.Lua) -> None:
    ipc.execute("""
        local m, t = ipc.mutex(), torch.FloatTensor(2):zero()
        local threads = ipc.map(3, function(m, t)
           for _ = 1, 100 do
              m:lock()
              t[1] = t[1] + 1
              m:unlock()
           end
           m:barrier(4)
           m:barrier(4)
           return t[2]
        end, m, t)
        m:barrier(4)
        count, t[2] = t[1], 1000
        m:barrier(4)
        a, b, c = threads:join()
    """)
    assert ipc.eval("count, a, b, c") == (300, 1000, 1000, 1000)
    assert "this mutex is not locked" in error(ipc, "ipc.mutex():unlock()")


@pytest.mark.parametrize("name", ["mutex", "workqueue", "channel"])
def test_what_threads_share_stays_in_this_process(ipc: bridge.Lua, name: str) -> None:
    assert f"ipc.{name} can be sent to threads of this process only" in error(
        ipc, f"torch.serialize(ipc.{name}())"
    )


def test_a_marshalled_value_is_read_again_and_again(ipc: bridge.Lua) -> None:
    ipc.execute("""
        local m = ipc.marshal{v = 3, t = torch.ones(2)}
        local a, b = m:read(), m:read()
        new, same = a ~= b, a.t:storage() == b.t:storage()
        there = ipc.map(1, function(m) return m:read().v + m:read().t:sum() end, m):join()
    """)
    assert ipc.eval("new, same, there") == (True, True, 5)


# ---- sharedtable


def test_threads_write_one_shared_table(ipc: bridge.Lua) -> None:
    ipc.execute("""
        t = ipc.sharedtable()
        ipc.map(3, function(t, m)
           for i = 1, 20 do
              m:lock()
              t[i] = (t[i] or 0) + 1
              m:unlock()
           end
        end, t, ipc.mutex()):join()
        n, same = #t, true
        for i = 1, 20 do same = same and t[i] == 3 end
    """)
    assert ipc.eval("n, same") == (20, True)


def test_a_table_in_a_shared_table_is_a_copy_unless_it_is_shared(ipc: bridge.Lua) -> None:
    ipc.execute("""
        from = {plain = {a = 1}, tensor = torch.ones(2), gone = 5}
        t = ipc.sharedtable(from, true)
        t.shared = ipc.sharedtable{a = 1}
        t.plain.a, t.shared.a, t.gone = 2, 2, nil
        t.tensor:fill(3)
        keys = {}
        for key in pairs(t) do keys[#keys + 1] = key end
        table.sort(keys)
    """)
    assert ipc.eval("t.plain.a, t.shared.a, t.tensor:sum(), t.gone, next(from)") == (1, 2, 6, None, None)
    assert ipc.eval("keys") == ["plain", "shared", "tensor"]
    assert "string or number expected as a key, got table" in error(ipc, "t[{}] = 1")


# ---- in the background


def test_a_pool_gives_results_and_errors_by_task(ipc: bridge.Lua) -> None:
    ipc.execute("""
        local pool = ipc.BackgroundTaskPool(2)
        local ids, got = {}, {}
        for i = 1, 4 do
           ids[i] = pool.addTask(function(x) if x == 3 then error('three', 0) end return x * x, nil, x end, i)
        end
        a, _, b = pool.getResult(ids[4])
        ok, message = pcall(pool.getResult, ids[3])
        done, busy = pool.isDone(nil, true), pool.hasTask()
        first = pool.getResult(ids[1])
        pool.close()
    """)
    assert ipc.eval("a, b, ok, message, done, busy, first") == (16, 4, False, "three", True, False, 1)


def test_a_background_task_ends_with_its_result(ipc: bridge.Lua) -> None:
    ipc.execute("a, b = require('ipc.BackgroundTask')(function(x) return x, 7 end, 3).getResult()")
    assert ipc.eval("a, b") == (3, 7)


# ---- processes


def test_processes_know_their_numbers(ipc: bridge.Lua) -> None:
    assert ipc.eval("ipc.getpid(), ipc.getppid()") == (os.getpid(), os.getppid())
    assert "No child processes" in error(ipc, "ipc.waitpid(ipc.getppid())")
