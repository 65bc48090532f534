"""How pools of threads end: with their states, with the process, by signals."""

from __future__ import annotations

import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

import bridge
from tests.torch7.threads.waiting import wait_until, workers

pytestmark = pytest.mark.timeout(60)


def run_program(source: str, *arguments: str, timeout: float = 50) -> subprocess.CompletedProcess[str]:
    """Run Lua in a Python process of its own."""
    host = "import sys, bridge\nlua = bridge.Lua()\nlua.execute(sys.argv[1])\n"
    return subprocess.run(
        [sys.executable, "-c", host, textwrap.dedent(source), *arguments],
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
        cwd=Path(__file__).parents[3],
    )


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


@pytest.mark.slow
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


@pytest.mark.long
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


@pytest.mark.long
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


@pytest.mark.slow
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
        cwd=Path(__file__).parents[3],
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


@pytest.mark.slow
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
