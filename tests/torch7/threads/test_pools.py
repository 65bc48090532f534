"""Pools of threads with a Lua state each: jobs, what travels with them, and the specific mode."""

from __future__ import annotations

import re

import pytest

import bridge
from tests.elements import ALL

SERIALIZERS = ["threads.serialize", "threads.sharedserialize"]
pytestmark = pytest.mark.timeout(60)


@pytest.mark.parametrize("serializer", SERIALIZERS)
def test_jobs_run_in_threads_and_endcallbacks_here(threads: bridge.Lua, serializer: str) -> None:
    threads.execute("threads.serialization(...)", serializer)
    threads.execute("""
        local message = 'an upvalue'
        pool = threads.Threads(2, function(id) started = message .. id end)
        ids, total = {}, 0
        for i = 1, 20 do
           pool:addjob(function(a, b)
              assert(started == 'an upvalue' .. __threadid and total == nil)
              return __threadid, a + b
           end, function(id, sum)
              ids[id], total = true, total + sum
           end, i, 0.5)
        end
        pool:synchronize()
        assert(not pool:hasjob())
        pool:terminate()
    """)
    assert threads.eval("total") == 220
    assert set(threads.eval("ids")) <= {1, 2}


def test_a_pool_gives_what_the_last_function_returned_in_each_thread(threads: bridge.Lua) -> None:
    threads.execute(
        "pool, results = threads(2, function() return 'first' end, function(id) return id, id * 10 end)"
    )
    assert threads.eval("results") == [[1, 10], [2, 20]]
    threads.execute("pool:terminate()")


def test_a_class_is_known_where_an_earlier_function_has_made_it(threads: bridge.Lua) -> None:
    threads.execute("""
        nn = require 'nn'
        local model = nn.Linear(3, 2)
        pool, results = threads.Threads(1, function() require 'nn' end, function()
           return model:forward(torch.ones(3)):sum()
        end)
        expected = model:forward(torch.ones(3)):sum()
        pool:terminate()
    """)
    assert threads.eval("results[1][1] == expected")


def test_values_travel_with_nil_and_without_end(threads: bridge.Lua) -> None:
    threads.execute("""
        pool = threads.Threads(1)
        pool:addjob(function(...) return select('#', ...), ... end, function(...) got = {n = select('#', ...), ...} end,
           nil, 2, nil)
        pool:synchronize()
        pool:terminate()
    """)
    assert threads.eval("got.n, got[1], got[2], got[3], got[4]") == (4, 3, None, 2, None)


def test_upvalues_are_copied_and_shared_among_functions(threads: bridge.Lua) -> None:
    threads.execute("""
        local count = 1
        local function add() count = count + 1 end
        pool = threads.Threads(1)
        pool:addjob(function() add() add() return count end, function(x) there = x end)
        pool:synchronize()
        pool:terminate()
        here = count
    """)
    assert threads.eval("there, here") == (3, 1)


def test_without_sharing_tensors_are_copied(threads: bridge.Lua) -> None:
    threads.execute("""
        local t = torch.zeros(3)
        pool = threads.Threads(1)
        pool:addjob(function() return t:fill(7) end, function(x) sum = x:sum() end)
        pool:synchronize()
        pool:terminate()
        here = t:sum()
    """)
    assert threads.eval("sum, here") == (21, 0)


@pytest.mark.parametrize("name", ALL)
def test_with_sharing_tensors_have_the_same_memory(threads: bridge.Lua, name: str) -> None:
    threads.execute(
        """
        threads.serialization('threads.sharedserialize')
        local t = torch[... .. 'Tensor'](4, 2):fill(0)
        local view = t:narrow(1, 2, 2):t()
        pool = threads.Threads(1)
        pool:addjob(function() view:fill(7) return view end, function(x)
           same, shape = x:storage() == t:storage(), {x:size(1), x:stride(1), x:storageOffset()}
        end)
        pool:synchronize()
        pool:terminate()
        values = t:totable()
    """,
        name,
    )
    assert threads.eval("values") == [[0, 0], [7, 7], [7, 7], [0, 0]]
    assert threads.eval("same, shape") == (True, [2, 1, 3])


def test_with_sharing_tds_objects_are_the_same(threads: bridge.Lua) -> None:
    threads.execute("""
        threads.serialization('threads.sharedserialize')
        local h, v, c = tds.Hash{a = {1}}, tds.Vec('x'), tds.AtomicCounter()
        pool = threads.Threads(4, function() require 'tds' end)
        for i = 1, 8 do
           pool:addjob(function()
              h[i] = 'job ' .. i
              h.a[2] = 'inner'
              for _ = 1, 10000 do c:inc() end
              return v
           end, function(x) assert(x == v) end)
        end
        pool:synchronize()
        pool:terminate()
        count, size, eighth, inner = c:get(), #h, h[8], h.a[2]
    """)
    assert threads.eval("count, size, eighth, inner") == (80000, 9, "job 8", "inner")


@pytest.mark.slow
def test_threads_that_change_one_hash_and_vec_at_a_time_do_not_break_them(threads: bridge.Lua) -> None:
    threads.execute("""
        threads.serialization('threads.sharedserialize')
        local h, v = tds.Hash(), tds.Vec()
        pool = threads.Threads(4, function() tds = require 'tds' end)
        for job = 1, 4 do
           pool:addjob(function()
              for i = 1, 2000 do
                 h[i % 97], h['k' .. i % 31] = torch.rand(2), tds.Vec(i)
                 v[i % 50 + 1] = 'text ' .. i
                 if i % 10 == 0 then v:remove(1) v:insert(3, i) h[i % 97] = nil v:resize(40) end
                 for _, x in pairs(h) do if i % 100 == 0 then assert(torch.isTensor(x) or #x == 1) end end
                 if i % 100 == 0 then tostring(v) collectgarbage() end
              end
           end)
        end
        pool:synchronize()
        pool:terminate()
        size = #v
    """)
    assert threads.eval("size") >= 39


def test_a_thread_has_what_a_new_state_has(threads: bridge.Lua) -> None:
    threads.execute("""
        package.path = package.path .. ';/some/where/?.lua'
        torch.setdefaulttensortype('torch.FloatTensor')
        pool = threads.Threads(1)
        pool:addjob(function() return package.path, torch.getdefaulttensortype(), __threadid, not not _G.threads end,
           function(...) there = {...} end)
        pool:terminate()
    """)
    assert threads.eval("there[1] == package.path, there[2], there[3], there[4]") == (
        True,
        "torch.DoubleTensor",
        1,
        False,
    )


def test_in_specific_mode_a_job_goes_to_its_thread(threads: bridge.Lua) -> None:
    threads.execute("""
        pool = threads.Threads(3)
        assert(pool:specific() == false)
        pool:specific(true)
        ran = {}
        for i = 1, 30 do
           pool:addjob(i % 3 + 1, function() return __threadid end, function(id) ran[i] = id end)
        end
        pool:specific(false)
        pool:addjob(function() return 'any' end, function(x) last = x end)
        pool:specific(true)
        pool:addjob(2, function() return __threadid end, function(id) again = id end)
        pool:terminate()
    """)
    assert threads.eval("ran") == [i % 3 + 1 for i in range(1, 31)]
    assert threads.eval("last, again") == ("any", 2)


@pytest.mark.parametrize("number", ["0", "3", "nil", "'x'", "print"])
def test_in_specific_mode_the_thread_must_exist(threads: bridge.Lua, number: str) -> None:
    threads.execute("pool = threads.Threads(2) pool:specific(true)")
    with pytest.raises(bridge.LuaError, match="thread index expected"):
        threads.execute(f"pool:addjob({number}, function() end)")
    with pytest.raises(bridge.LuaError, match="thread index expected"):
        threads.execute(f"pool:acceptsjob({number})")
    threads.execute("pool:terminate()")


def test_a_pool_accepts_as_many_jobs_as_it_has_threads_before_it_waits(threads: bridge.Lua) -> None:
    threads.execute("""
        require 'sys'
        mutex = threads.Mutex()
        local id = mutex:id()
        mutex:lock()
        pool = threads.Threads(1)
        local function job() local m = require 'threads'.Mutex(id) m:lock() m:unlock() end
        before = pool:acceptsjob()
        added = 0
        while added < 2 or pool:acceptsjob() do
           while not pool:acceptsjob() do sys.sleep(0.001) end -- until the thread has taken the first
           pool:addjob(job)
           added = added + 1
        end
        full, has = not pool:acceptsjob(), pool:hasjob()
        mutex:unlock()
        pool:terminate()
        mutex:free()
    """)
    assert threads.eval("before, added, full, has") == (True, 2, True, True)


def test_results_do_not_pile_up_while_jobs_are_added(threads: bridge.Lua) -> None:
    done = threads.execute("""
        local pool = threads.Threads(2)
        local done = 0
        for i = 1, 100 do
           pool:addjob(function() return i end, function() done = done + 1 end)
        end
        local before = done
        pool:terminate()
        return before, done
    """)
    assert done[1] == 100
    assert (
        done[0] >= 100 - 3 * 2
    )  # in the queue, with the threads, and on their way back: one each per thread


@pytest.mark.parametrize(
    ("call", "message"),
    [
        ("addjob(1)", "function callback expected"),
        ("addjob(print, 1)", "function (or nil) endcallback expected"),
        ("specific(1)", "boolean expected"),
    ],
)
def test_misuse_is_told_in_the_originals_words(threads: bridge.Lua, call: str, message: str) -> None:
    threads.execute("pool = threads.Threads(1)")
    with pytest.raises(bridge.LuaError) as raised:
        threads.execute(f"pool:{call}")
    assert raised.value.message == message
    threads.execute("pool:terminate()")


@pytest.mark.parametrize("kind", ["Mutex", "Condition"])
def test_locks_print_their_kind_and_number(threads: bridge.Lua, kind: str) -> None:
    text = threads.execute(f"local x = threads.{kind}() local text = tostring(x) x:free() return text")
    assert re.fullmatch(f"threads.{kind} <[0-9a-f]+>", text)


def test_jobs_can_be_fed_and_fetched_asynchronously(threads: bridge.Lua) -> None:
    threads.execute("""
        pool = threads.Threads(3)
        local sent, seen = 0, {}
        repeat
           while sent < 50 and pool:acceptsjob() do
              sent = sent + 1
              pool:addjob(function(i) return i end, function(i) seen[i] = true end, sent)
           end
           if pool:hasjob() then pool:dojob() end
        until sent == 50 and not pool:hasjob()
        pool:terminate()
        n = 0
        for _ in pairs(seen) do n = n + 1 end
    """)
    assert threads.eval("n") == 50


def test_an_endcallback_may_add_jobs(threads: bridge.Lua) -> None:
    threads.execute("""
        pool = threads.Threads(2)
        done = 0
        local function again()
           done = done + 1
           if done < 10 then pool:addjob(function() end, again) end
        end
        pool:addjob(function() end, again)
        pool:synchronize()
        pool:terminate()
    """)
    assert threads.eval("done") == 10


@pytest.mark.slow
def test_an_endcallback_may_yield(threads: bridge.Lua) -> None:
    threads.execute("""
        pool = threads.Threads(1)
        pool:addjob(function() return 5 end, function(x) got = coroutine.yield(x) end)
        local routine = coroutine.wrap(function() pool:dojob() return 'end' end)
        yielded = routine()
        has = pool:hasjob()
        ended = routine('resumed')
        pool:terminate()
    """)
    assert threads.eval("yielded, has, ended, got") == (5, False, "end", "resumed")
