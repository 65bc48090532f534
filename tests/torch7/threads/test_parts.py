"""What pools are made of: bare threads, queues, and the serializers."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import bridge

SERIALIZERS = ["threads.serialize", "threads.sharedserialize"]
pytestmark = pytest.mark.timeout(60)


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


@pytest.mark.slow
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
        cwd=Path(__file__).parents[3],
    )
    assert (done.stdout, done.returncode) == ("leaving\n", 5)
