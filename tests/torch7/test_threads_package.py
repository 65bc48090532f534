"""threads: pools of threads with a Lua state each, and what they are made of."""

from __future__ import annotations

import signal
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import bridge

SERIALIZERS = ["threads.serialize", "threads.sharedserialize"]
pytestmark = pytest.mark.timeout(60)


@pytest.fixture
def threads() -> Iterator[bridge.Lua]:
    with bridge.Lua() as state:
        state.execute("torch, threads, tds = require 'torch', require 'threads', require 'tds'")
        yield state


def workers() -> int:
    return sum(thread.name == "lua" for thread in threading.enumerate())


def wait_until(condition: Any, seconds: float = 10.0) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.01)


def run_program(source: str, *arguments: str, timeout: float = 50) -> subprocess.CompletedProcess[str]:
    """Run Lua in a Python process of its own."""
    host = "import sys, bridge\nlua = bridge.Lua()\nlua.execute(sys.argv[1])\n"
    return subprocess.run(
        [sys.executable, "-c", host, textwrap.dedent(source), *arguments],
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
        cwd=Path(__file__).parents[2],
    )


# ---- pools


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


@pytest.mark.parametrize("name", ["Byte", "Char", "Short", "Int", "Long", "Half", "Float", "Double"])
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
    with pytest.raises(bridge.LuaError, match="a thread id from 1 to 2 is expected"):
        threads.execute(f"pool:addjob({number}, function() end)")
    with pytest.raises(bridge.LuaError, match="a thread id from 1 to 2 is expected"):
        threads.execute(f"pool:acceptsjob({number})")
    threads.execute("pool:terminate()")


def test_a_pool_accepts_as_many_jobs_as_it_has_threads_before_it_waits(threads: bridge.Lua) -> None:
    threads.execute("""
        mutex = threads.Mutex()
        local id = mutex:id()
        mutex:lock()
        pool = threads.Threads(1)
        local function job() local m = require 'threads'.Mutex(id) m:lock() m:unlock() end
        before = pool:acceptsjob()
        added = 0
        while added < 2 or pool:acceptsjob() do pool:addjob(job) added = added + 1 end
        full, has = not pool:acceptsjob(), pool:hasjob()
        mutex:unlock()
        pool:terminate()
        mutex:free()
    """)
    assert threads.eval("before, added, full, has") == (True, 2, True, True)


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


# ---- errors


def test_an_error_in_a_job_surfaces_here_with_its_traceback(threads: bridge.Lua) -> None:
    threads.execute(
        "pool = threads.Threads(1) pool:addjob(function() local function f() error('boo') end f() end)"
    )
    with pytest.raises(
        bridge.LuaError, match=r"(?s)\[thread 1 callback\] .*: boo\nstack traceback:.*in function 'f'"
    ):
        threads.execute("pool:synchronize()")
    assert threads.eval("pool:haserror(), pool:hasjob()") == (True, False)
    threads.execute("pool:synchronize()")
    assert threads.eval("pool:haserror()") is False
    threads.execute("pool:addjob(function() return 1 end, function(x) one = x end) pool:terminate()")
    assert threads.eval("one") == 1


def test_an_error_in_an_endcallback_surfaces(threads: bridge.Lua) -> None:
    threads.execute("pool = threads.Threads(1) pool:addjob(function() end, function() error('end boo') end)")
    with pytest.raises(bridge.LuaError, match=r"\[thread 1 endcallback\] .*: end boo"):
        threads.execute("pool:dojob()")
    assert threads.eval("pool:hasjob()") is False
    threads.execute("pool:terminate()")


def test_an_error_that_is_a_table_surfaces(threads: bridge.Lua) -> None:
    threads.execute("pool = threads.Threads(1) pool:addjob(function() error({code = 1}) end)")
    with pytest.raises(bridge.LuaError, match=r"\[thread 1 callback\] table: 0x"):
        threads.execute("pool:synchronize()")
    threads.execute("pool:terminate()")


def test_other_jobs_are_finished_after_one_that_failed(threads: bridge.Lua) -> None:
    threads.execute("""
        pool = threads.Threads(2)
        done = 0
        local ok = 0
        for i = 1, 4 do
           pool:addjob(function() if i == 2 then error('second') end end, function() done = done + 1 end)
        end
    """)
    with pytest.raises(bridge.LuaError, match="second"):
        threads.execute("pool:terminate()")
    assert threads.eval("done") == 3
    wait_until(lambda: workers() == 0)


def test_an_error_in_a_first_function_is_the_pools_and_ends_it(threads: bridge.Lua) -> None:
    with pytest.raises(bridge.LuaError, match=r"\[thread 1 callback\] .*: not today"):
        threads.execute("threads.Threads(2, function(id) if id == 1 then error('not today') end end)")
    wait_until(lambda: workers() == 0)


def test_what_cannot_be_sent_is_an_error_of_addjob(threads: bridge.Lua) -> None:
    threads.execute("pool = threads.Threads(1) mutex = threads.Mutex()")
    for upvalue in ("print", "io.stdout", "coroutine.create(print)"):
        with pytest.raises(bridge.LuaError, match=r"\(addjob\) .*Unwritable object <"):
            threads.execute(f"local x = {upvalue} pool:addjob(function() return x end)")
    assert threads.eval("pool:hasjob()") is False
    threads.execute("pool:terminate() mutex:free()")


def test_what_cannot_be_sent_back_is_an_error_of_the_job(threads: bridge.Lua) -> None:
    threads.execute("pool = threads.Threads(1) pool:addjob(function() return print end)")
    with pytest.raises(
        bridge.LuaError, match=r"\[thread 1 callback\] .*\(write\) .*Unwritable object <function>"
    ):
        threads.execute("pool:synchronize()")
    threads.execute("pool:terminate()")


def test_a_class_that_a_thread_does_not_know_is_an_error_of_the_job(threads: bridge.Lua) -> None:
    threads.execute("""
        torch.class('OnlyHere')
        local object = OnlyHere()
        pool = threads.Threads(1)
        pool:addjob(function() return object end)
    """)
    with pytest.raises(
        bridge.LuaError, match=r"\[thread 1 callback\] .*\(read\) .*unknown Torch class <OnlyHere>"
    ):
        threads.execute("pool:synchronize()")
    threads.execute("pool:terminate()")


def test_a_function_of_a_file_stays_forbidden_in_other_threads(threads: bridge.Lua) -> None:
    threads.execute("""
        f = torch.deserialize(torch.serialize(function() return 'ran' end))
        pool = threads.Threads(1)
    """)
    with pytest.raises(bridge.LuaError, match="stored in a file"):
        threads.execute("f()")
    with pytest.raises(bridge.LuaError, match="Unwritable object <function>"):
        threads.execute("pool:addjob(f)")
    threads.execute("""
        local bytes = torch.serialize(function() return 'ran' end)
        pool:addjob(function() return pcall(torch.deserialize(bytes)) end, function(ok) ran = ok end)
        pool:terminate()
    """)
    assert threads.eval("ran") is False


@pytest.mark.parametrize("call", ["addjob(print)", "dojob()", "acceptsjob()", "specific(true)"])
def test_a_terminated_pool_says_so(threads: bridge.Lua, call: str) -> None:
    threads.execute("pool = threads.Threads(1) pool:terminate() pool:terminate() pool:synchronize()")
    with pytest.raises(bridge.LuaError, match="thread system is not running"):
        threads.execute(f"pool:{call}")


def test_waiting_for_no_job_is_an_error(threads: bridge.Lua) -> None:
    threads.execute("pool = threads.Threads(1)")
    with pytest.raises(bridge.LuaError, match="no job to wait for"):
        threads.execute("pool:dojob()")
    threads.execute("pool:terminate()")


@pytest.mark.parametrize("n", ["0", "-1", "1.5", "'x'", "nil"])
def test_a_pool_has_a_positive_number_of_threads(threads: bridge.Lua, n: str) -> None:
    with pytest.raises(bridge.LuaError, match="a positive number of threads expected"):
        threads.execute(f"threads.Threads({n})")


def test_a_thread_that_ends_by_itself_is_noticed(
    threads: bridge.Lua, capfd: pytest.CaptureFixture[str]
) -> None:
    threads.execute("pool = threads.Threads(1) pool:addjob(function() os.exit(3) end)")
    with pytest.raises(bridge.LuaError, match=r"\[thread 1\] has ended"):
        threads.execute("pool:synchronize()")
    with pytest.raises(bridge.LuaError, match=r"\[thread 1\] has ended"):
        threads.execute("pool:terminate()")
    assert "FATAL THREAD PANIC: SystemExit: 3" in capfd.readouterr().err


# ---- how pools end


def test_a_pool_that_nobody_has_any_more_ends(threads: bridge.Lua) -> None:
    threads.execute("local pool = threads.Threads(2) pool:synchronize()")
    assert workers() == 2

    def ended() -> bool:
        threads.collect()
        return workers() == 0

    wait_until(ended)


def test_closing_a_state_ends_its_pools() -> None:
    with bridge.Lua() as lua:
        lua.execute("pool = require('threads').Threads(2) pool:addjob(function() return 1 end)")
        assert workers() == 2
    wait_until(lambda: workers() == 0)


def test_many_pools_one_after_another_leave_nothing(threads: bridge.Lua) -> None:
    tasks = Path("/proc/self/task")
    make = threads.eval("""function(n)
        for i = 1, n do
           local pool = threads.Threads(2)
           pool:addjob(function() return i end, function(x) assert(x == i) end)
           pool:terminate()
        end
        for _ = 1, 3 do collectgarbage() end
        return collectgarbage('count')
    end""")
    kilobytes = make(3)
    before = len(list(tasks.iterdir()))
    assert make(10) - kilobytes < 500
    wait_until(lambda: len(list(tasks.iterdir())) <= before)


@pytest.mark.slow
@pytest.mark.timeout(200)
def test_hundreds_of_pools_leave_nothing(threads: bridge.Lua) -> None:
    def resident() -> int:
        text = Path("/proc/self/status").read_text()
        return int(text.split("VmRSS:")[1].split()[0])  # KiB

    run = threads.eval("""function(n)
        for i = 1, n do
           local pool = threads.Threads(1)
           pool:addjob(function() return torch.ones(1000) end, function(x) assert(x:sum() == 1000) end)
           pool:terminate()
        end
        for _ = 1, 3 do collectgarbage() end
    end""")
    run(50)
    before = resident()
    run(300)
    assert resident() - before < 20_000
    wait_until(lambda: workers() == 0)


@pytest.mark.parametrize(
    "ending",
    [
        "",
        "error('over')",
        "os.exit(4)",
        pytest.param("pool:addjob(function() while true do end end)", marks=pytest.mark.slow),
    ],
)
def test_a_process_ends_with_live_pools(ending: str) -> None:
    began = time.monotonic()
    done = run_program(f"""
        local threads = require 'threads'
        pool = threads.Threads(2)
        pool:addjob(function() return 1 end)
        other = threads.Thread("require('threads').Condition():wait(require('threads').Mutex())")
        blocked = threads.Thread("local m = require('threads').Mutex() m:lock() m:lock()")
        io.write('running')
        {ending}
    """)
    assert done.stdout == "running"
    assert done.returncode == {"error('over')": 1, "os.exit(4)": 4}.get(ending, 0), done.stderr
    assert time.monotonic() - began < 20


def test_ctrl_c_ends_a_wait_for_jobs() -> None:
    source = """
        local threads = require 'threads'
        local mutex = threads.Mutex()
        mutex:lock()
        local id = mutex:id()
        local pool = threads.Threads(1)
        pool:addjob(function() local m = require('threads').Mutex(id) m:lock() m:unlock() end)
        io.write('waiting\\n')
        io.flush()
        pool:synchronize()
    """
    host = (
        "import sys, bridge\nlua = bridge.Lua()\ntry:\n    lua.execute(sys.argv[1])\n"
        "except KeyboardInterrupt:\n    print('interrupted')\n"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", host, textwrap.dedent(source)],
        stdout=subprocess.PIPE,
        text=True,
        cwd=Path(__file__).parents[2],
    )
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == "waiting\n"
        time.sleep(0.3)
        process.send_signal(signal.SIGINT)
        out, _ = process.communicate(timeout=20)
    finally:
        process.kill()
        process.wait()
    assert out == "interrupted\n"
    assert process.returncode == 0


@pytest.mark.parametrize("wait", ["mutex:lock()", "condition:wait(mutex)", "thread:free()"])
def test_an_exception_of_a_signal_ends_every_wait(threads: bridge.Lua, wait: str) -> None:
    threads.execute("""
        mutex, condition = threads.Mutex(), threads.Condition()
        mutex:lock()
        thread = threads.Thread(string.format("require('threads').Mutex(%d):lock()", mutex:id()))
    """)

    def ring(*_: object) -> None:
        raise TimeoutError("rung")

    previous = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, 0.3)
    try:
        with pytest.raises(Exception, match="rung"):
            threads.execute(wait)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, previous)
    threads.execute("pcall(mutex.unlock, mutex) thread:free() mutex:free() condition:free()")


# ---- what pools are made of


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


def test_a_thread_runs_code_and_is_waited_for(
    threads: bridge.Lua, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    threads.execute(
        """
        local path = ...
        thread = threads.Thread(string.format("local f = io.open(%q, 'w') f:write('done') f:close()", path))
        thread:free()
        threads.Thread("error('in a thread')"):free()
    """,
        str(out),
    )
    assert out.read_text() == "done"
    assert "FATAL THREAD PANIC: LuaError: (thread):1: in a thread" in capfd.readouterr().err


def test_threads_run_at_the_same_time(threads: bridge.Lua) -> None:
    # each of the two waits for the other, which would not end one after the other
    threads.execute("""
        threads.serialization('threads.sharedserialize')
        local here = tds.AtomicCounter()
        pool = threads.Threads(2, function() require 'tds' end)
        for _ = 1, 2 do
           pool:addjob(function() here:inc() while here:get() < 2 do end end)
        end
        pool:terminate()
    """)


@pytest.mark.parametrize("name", SERIALIZERS)
def test_a_queue_carries_functions(threads: bridge.Lua, name: str) -> None:
    threads.execute(
        """
        local Queue = require 'threads.queue'
        local queue, x = Queue(2, ...), 10
        queue:addjob(function(a, b) return a + x, b end, 1, nil)
        queue:addjob(function() return 'second' end)
        full = queue:isfull()
        first = {queue:dojob()}
        second = queue:dojob()
    """,
        name,
    )
    assert threads.eval("full, first[1], first[2], second") == (True, 11, None, "second")


@pytest.mark.parametrize("name", SERIALIZERS)
def test_serialize_saves_to_a_charstorage_and_loads_from_it(threads: bridge.Lua, name: str) -> None:
    threads.execute(
        """
        local serialize = require(...)
        local storage = serialize.save{1, t = torch.ones(2), h = tds.Hash{a = 1}}
        kind, value = torch.type(storage), serialize.load(storage)
        second = serialize.load(storage)
    """,
        name,
    )
    assert threads.eval("kind, value[1], value.t:sum(), value.h.a, second.t:sum()") == (
        "torch.CharStorage",
        1,
        2,
        1,
        2,
    )


def test_references_do_not_outlive_their_bytes(threads: bridge.Lua) -> None:
    threads.execute("""
        local serialize = require 'threads.sharedserialize'
        local storage = serialize.save(torch.FloatTensor(1000000))
        copy = torch.CharStorage(storage:size()):copy(storage)
    """)
    for _ in range(3):
        threads.collect()
    assert threads.held_bytes < 100_000
    with pytest.raises(bridge.LuaError, match="did not come with them"):
        threads.execute("require('threads.sharedserialize').load(copy)")


def test_jobs_that_nobody_takes_are_freed(threads: bridge.Lua) -> None:
    threads.execute("""
        local Queue = require 'threads.queue'
        local queue = Queue(10, 'threads.sharedserialize')
        for _ = 1, 5 do queue:addjob(function() end, torch.FloatTensor(100000)) end
        queue = nil
    """)
    for _ in range(3):
        threads.collect()
    assert threads.held_bytes < 100_000


@pytest.mark.parametrize("name", SERIALIZERS)
def test_sharing_leaves_files_as_they_are(threads: bridge.Lua, name: str) -> None:
    threads.execute("require(...)", name)
    assert threads.execute("""
        local t, h = torch.rand(3), tds.Hash{a = 1}
        local back = torch.deserialize(torch.serialize{t, h, tds.Vec(1, nil, 'x'), tds.AtomicCounter()})
        return (back[1] - t):abs():max(), back[1]:storage() == t:storage(), back[2].a, #back[3], back[4]:get()
    """) == (0, False, 1, 3, 0)


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


def test_a_safe_function_unlocks_after_an_error(threads: bridge.Lua) -> None:
    threads.execute("f = threads.safe(function(x) if x then error('bad', 0) end return 'good' end)")
    with pytest.raises(bridge.LuaError, match="bad"):
        threads.execute("f(true)")
    assert threads.eval("f(false)") == "good"


def test_pools_work_within_a_thread(threads: bridge.Lua) -> None:
    threads.execute("""
        pool = threads.Threads(1)
        pool:addjob(function()
           local inner = require('threads').Threads(2)
           local sum = 0
           for i = 1, 10 do inner:addjob(function() return i end, function(x) sum = sum + x end) end
           inner:terminate()
           return sum
        end, function(x) total = x end)
        pool:terminate()
    """)
    assert threads.eval("total") == 55


def test_os_exit_in_a_thread_ends_a_program_of_th(tmp_path: Path) -> None:
    script = tmp_path / "script.lua"
    script.write_text("""
        local pool = require('threads').Threads(1)
        pool:addjob(function() print('leaving') os.exit(5) end)
        pool:synchronize()
        print('not reached')
    """)
    done = subprocess.run(
        [sys.executable, "-m", "bridge.th", str(script)],
        capture_output=True,
        text=True,
        timeout=50,
        check=False,
        cwd=Path(__file__).parents[2],
    )
    assert (done.stdout, done.returncode) == ("leaving\n", 5)
