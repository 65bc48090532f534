"""What goes wrong in pools of threads, and where it surfaces."""

from __future__ import annotations

import pytest

import bridge
from tests.torch7.threads.waiting import wait_until, workers

pytestmark = pytest.mark.timeout(60)


def test_an_error_in_a_job_surfaces_here_with_its_traceback(threads: bridge.Lua) -> None:
    threads.execute(
        "pool = threads.Threads(1) pool:addjob(function() local function f() error('boo') end f() end)"
    )
    with pytest.raises(
        bridge.LuaError, match=r"(?s)\[thread 1 callback\] .*: boo\nstack traceback:.*in function 'f'"
    ):
        threads.execute("pool:synchronize()")
    assert threads.eval("pool:haserror(), pool:hasjob()") == (False, False)
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
    with pytest.raises(bridge.LuaError, match=r"\[thread 1 callback\] table") as raised:
        threads.execute("pool:synchronize()")
    assert "[thread 1 callback] table: 0x" in raised.value.message
    threads.execute("pool:terminate()")


def test_other_jobs_are_finished_after_one_that_failed(threads: bridge.Lua) -> None:
    threads.execute("""
        pool = threads.Threads(4)
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


@pytest.mark.slow
def test_a_thread_that_ends_by_itself_is_noticed(
    threads: bridge.Lua, capfd: pytest.CaptureFixture[str]
) -> None:
    threads.execute("pool = threads.Threads(1) pool:addjob(function() os.exit(3) end)")
    with pytest.raises(bridge.LuaError, match=r"\[thread 1\] has ended"):
        threads.execute("pool:synchronize()")
    with pytest.raises(bridge.LuaError, match=r"\[thread 1\] has ended"):
        threads.execute("pool:terminate()")
    assert "FATAL THREAD PANIC: SystemExit: 3" in capfd.readouterr().err
