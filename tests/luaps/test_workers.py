"""The life of Lua workers beside others: barriers, sums, signals, kills, forks, the end."""

from __future__ import annotations

import ctypes
import gc
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import bridge
import pyps

ROOT = Path(__file__).parents[2]

STEPS = """
local one, v = ffi.new('float[1]', 1), ffi.new('float[1]')
for step = 1, 20 do
   kv:push(1, one) kv:barrier(30)
   kv:pull(1, v) say(v[0]) kv:barrier(30)
end
"""


def workers(server: pyps.Server) -> int:
    return server.stats()["workers"]


def soon(what: Any, seconds: float = 10.0) -> bool:
    """Wait until something is true."""
    end = time.monotonic() + seconds
    while not what() and time.monotonic() < end:
        time.sleep(0.005)
    return bool(what())


def test_lua_and_python_workers_meet_at_barriers(start: Any) -> None:
    with pyps.Server(1, 1, num_workers=3) as server:
        programs = [start(STEPS, server.address) for _ in range(2)]
        with server.worker() as kv:
            seen = []
            for _ in range(20):
                kv.push([0], np.ones(1, np.float32))
                kv.barrier(timeout=30)
                out = np.zeros(1, np.float32)
                kv.pull([0], out)
                seen.append(str(int(out[0])))
                kv.barrier(timeout=30)
            assert seen == [str(3 * step) for step in range(1, 21)]
            assert [program.finish() for program in programs] == [seen, seen]


def test_a_barrier_times_out(start: Any) -> None:
    source = "say(pcall(kv.barrier, kv, 0.05)) say(pcall(kv.barrier, kv, 0))"
    with pyps.Server(1, 1, num_workers=2) as server:
        for line in start(source, server.address).finish():
            assert line.startswith("false luaps: not all 2 workers came to the barrier")
            assert line.endswith("(PS_ETIMEDOUT)")


@pytest.mark.slow
def test_a_hundred_thousand_pushes_from_everywhere_sum_exactly(luajit: Any) -> None:
    source = """
    local keys, v = ffi.new('int64_t[10]'), ffi.new('int64_t[20]')
    for i = 1, 25000 do
       for j = 0, 9 do
          keys[j], v[2 * j], v[2 * j + 1] = (i * 7 + j * number) % 50 + 1, 1, number
       end
       kv:push(keys, v)
    end
    """
    with pyps.Server(50, 2, dtype="int64") as server, bridge.Lua() as lua:
        programs = [luajit(source, server.address, number) for number in (1, 3)]
        lua.execute(
            "ffi, luaps = require 'ffi', require 'luaps' kv = luaps.worker{address = ...}", server.address
        )
        thread = threading.Thread(target=lua.execute, args=("number = 9" + source,))
        thread.start()
        expected = np.zeros((50, 2), np.int64)
        steps = np.arange(1, 25001)[:, None] * 7
        with server.worker() as kv:
            values = np.stack([np.ones(10, np.int64), np.full(10, 11)], axis=1)
            for batch in (steps + np.arange(10) * 11) % 50:
                kv.push(batch, values)
            for number in (1, 3, 9, 11):
                np.add.at(expected, (steps + np.arange(10) * number) % 50, [1, number])
            for program in programs:
                assert program.finish() == []
            thread.join(50)
            assert not thread.is_alive()
            out = np.zeros((50, 2), np.int64)
            kv.pull(np.arange(50), out)
            assert np.array_equal(out, expected)


@pytest.mark.slow
def test_a_state_in_a_thread_pushes_while_python_holds_the_gil(server: pyps.Server, lua: bridge.Lua) -> None:
    source = """
    local one, stop = torch.FloatTensor(3):fill(1), torch.FloatTensor(3)
    repeat kv:push(1, one) kv:pull(10, stop) until stop[1] ~= 0
    """
    thread = threading.Thread(target=lua.execute, args=(source,))
    thread.start()
    try:
        with server.worker() as kv:
            before, after = np.zeros(3, np.float32), np.zeros(3, np.float32)
            while not before.any():
                kv.pull([0], before)
            ctypes.PyDLL(None).usleep(300_000)  # without letting the GIL go
            kv.pull([0], after)
    finally:
        with server.worker() as kv:
            kv.set([9], np.ones(3, np.float32))
        thread.join(30)
    assert after[0] - before[0] > 1000


@pytest.mark.slow
def test_killed_lua_workers_leave_whole_values_and_a_usable_node(luajit: Any) -> None:
    source = """
    local keys, v = ffi.new('int64_t[?]', 20), ffi.new('float[?]', 20 * 200)
    for i = 0, 19 do keys[i] = i + 1 end
    for i = 0, 20 * 200 - 1 do v[i] = 1 end
    say('ready')
    while true do kv:push(keys, v) end
    """
    with pyps.Server(20, 200) as server, server.worker() as kv:
        out = np.zeros((20, 200), np.float32)
        for round_number in range(15):
            program = luajit(source, server.address)
            assert program.line() == "ready"
            time.sleep(0.002 * round_number)
            program.kill()
            started = time.monotonic()
            kv.push(np.arange(20), np.ones((20, 200), np.float32))
            kv.pull(np.arange(20), out)
            assert time.monotonic() - started < 1
            assert np.array_equal(out, np.repeat(out[:, :1], 200, axis=1))
        assert soon(lambda: workers(server) == 1 or server.worker().finalize())


def test_a_killed_server_is_reported(luajit: Any) -> None:
    owner = luajit("""
    local server = luaps.server{num_keys = 1, num_workers = 3}
    say(server:address()) server:worker():barrier(60)
    """)
    user = luajit(
        """
    local v = ffi.new('float[1]')
    kv:pull(1, v) say('ready')
    while true do
       local ok, message = pcall(kv.pull, kv, 1, v)
       if not ok then say(message) break end
    end
    say(pcall(kv.barrier, kv, 5))
    """,
        owner.line(),
    )
    assert user.line() == "ready"
    owner.kill()
    for line in user.finish():
        assert "died (PS_ELOST)" in line


def test_finalize_leaves_the_node_and_may_be_called_again(server: pyps.Server, lua: bridge.Lua) -> None:
    assert workers(server) == 1
    assert lua.execute(
        "local before = kv:id() kv:finalize() kv:finalize() kv:close() return before, kv:id()"
    ) == (1, 0)
    assert workers(server) == 0
    assert str(lua.eval("tostring(kv)")).startswith("luaps.worker (finalized) of luaps node: 10 keys")


def test_a_forgotten_worker_is_collected(server: pyps.Server, lua: bridge.Lua) -> None:
    lua.execute("for _ = 1, 5 do luaps.worker{address = ...} end", server.address)
    lua.execute("kv = nil collectgarbage() collectgarbage()")
    assert workers(server) == 0


@pytest.mark.slow
def test_a_state_that_is_closed_leaves_the_node(server: pyps.Server) -> None:
    with bridge.Lua() as state:
        state.execute("kv = require('luaps').worker{address = ...}", server.address)
        assert workers(server) == 1
    del state
    gc.collect()
    assert workers(server) == 0


def test_a_process_that_ends_leaves_the_node(server: pyps.Server, luajit: Any) -> None:
    luajit("assert(kv:id() == 1)", server.address).finish()
    assert workers(server) == 0


def test_a_worker_without_a_free_slot_is_told_so() -> None:
    with (
        pyps.Server(1, 1, max_workers=1) as server,
        server.worker(),
        bridge.Lua() as lua,
        pytest.raises(bridge.LuaError, match=r"all 1 worker slots are taken .*\(PS_EWORKERS\)"),
    ):
        lua.execute("require('luaps').worker{address = ...}", server.address)


FORKS = """
import os, sys
import numpy as np
import bridge, pyps

lua = bridge.Lua(interruptible=False)
lua.execute("require 'torch' luaps = require 'luaps' kv = luaps.worker{address = ...} kept = kv:id()", sys.argv[1])
pid = os.fork()
lua.execute("kv:push(1, torch.FloatTensor(3):fill(1)) assert((kv:id() == kept) == ...)", pid != 0)
if pid == 0:
    lua.execute("assert(kv:current_clock() == 0) kv:finalize() collectgarbage() collectgarbage()")
    sys.exit(0)
assert os.waitpid(pid, 0)[1] == 0
lua.execute("kv:push(1, torch.FloatTensor(3):fill(1)) assert(kv:id() == kept) kv:finalize()")
lua.close()
"""


@pytest.mark.slow
def test_a_worker_used_in_a_forked_child_becomes_one_of_its_own(server: pyps.Server, contents: Any) -> None:
    subprocess.run([sys.executable, "-c", FORKS, server.address], cwd=ROOT, check=True, timeout=50)
    assert contents(server)[:3].tolist() == [3, 3, 3]
    assert workers(server) == 0


INTERRUPTED = """
import signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)
import bridge
lua = bridge.Lua()
lua.execute("kv = require('luaps').worker{address = ...}", sys.argv[1])
try:
    print("ready", flush=True)
    lua.execute("kv:barrier(50)")
except KeyboardInterrupt:
    print("stopped")
lua.close()
"""


@pytest.mark.slow
@pytest.mark.parametrize("after", [0, 0.2], ids=["at-once", "later"])
@pytest.mark.parametrize("program", ["python", "luajit"])
def test_ctrl_c_ends_a_barrier(luajit: Any, program: str, after: float) -> None:
    with pyps.Server(1, 1, num_workers=2) as server:
        if program == "luajit":
            process = luajit("say('ready') kv:barrier(50)", server.address).process
        else:
            command = [sys.executable, "-c", INTERRUPTED, server.address]
            process = subprocess.Popen(
                command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
            )
        try:
            assert process.stdout.readline() == "ready\n"
            time.sleep(after)
            process.send_signal(signal.SIGINT)
            output, errors = process.communicate(timeout=30)
        finally:
            process.kill()
            process.communicate()
        assert output == "stopped\n" if program == "python" else "interrupted!" in errors


def test_a_call_allocates_nothing(lua: bridge.Lua) -> None:
    lua.execute("""
    local keys, v = torch.LongTensor{1, 5, 9}, torch.FloatTensor(3, 3)
    local function go()
       for _ = 1, 20000 do kv:push(keys, v) kv:pull(keys, v) end
    end
    go()
    grown = math.huge
    for _ = 1, 3 do -- LuaJIT may be compiling yet
       collectgarbage() collectgarbage('stop')
       local before = collectgarbage('count')
       go()
       grown = math.min(grown, (collectgarbage('count') - before) * 1024)
       collectgarbage('restart')
    end
    """)
    assert lua.grown < 4000
