"""Lua's finalizers: what they may meet that is finalized already, and how they are stopped."""

from __future__ import annotations

import signal
import subprocess
import sys
import time

import pytest

import bridge

# What a finalizer meets that lies in the same garbage, or that is closed with it: its own finalizer may have run.
MET = {
    "a Python function, called": ("f = ...", "f(1)"),
    "a Python function, given to Python": ("f = ...", "seen(f)"),
    "a Python object, given to Python": ("o = object", "seen(o)"),
    "a Python object, printed": ("o = object", "tostring(o)"),
    "a tensor, read": ("t = torch.ones(4)", "return t[1], t:sum(), t:size(1)"),
    "a tensor, given to Python": ("t = torch.ones(4)", "seen(t)"),
    "a tensor, resized": ("t = torch.ones(4)", "t:resize(100):fill(1)"),
    "a storage, read": ("s = torch.DoubleStorage(4)", "return s[1], #s, s:totable()"),
    "a storage, written": ("s = torch.DoubleStorage(4)", "s[1] = 2 s:fill(3) s:resize(100) s:copy(s)"),
    "a storage, given to Python": ("s = torch.DoubleStorage(4)", "seen(s)"),
    "a storage, in a tensor": ("s = torch.DoubleStorage(4)", "return torch.DoubleTensor(s):sum()"),
    "a file": ("f = torch.MemoryFile()", "f:writeInt(1) f:seek(1) return f:readInt()"),
    "a generator": ("g = torch.Generator()", "torch.manualSeed(g, 1) return torch.uniform(g)"),
    "a timer": ("t = torch.Timer()", "return t:time()"),
}
PROGRAM = """
import sys, bridge
class Thing: ...
lua = bridge.Lua()
lua.require("torch")
seen = []
lua.seen = lambda x: seen.append(type(x))
lua.object = Thing()
# Two finalizers around it in time, so that one of them runs before its own and one after.
lua.execute(f'''
   local function finalizer(use)
      local p = newproxy(true)
      getmetatable(p).__gc = function() ran = (ran or 0) + 1 pcall(use) seen(true) end
      return p
   end
   local met = {{}}
   setfenv(1, setmetatable(met, {{__index = _G}}))
   local holder = {{finalizer(function() {sys.argv[2]} end)}}
   {sys.argv[1]}
   object = nil
   holder[2] = finalizer(function() {sys.argv[2]} end)
   if {sys.argv[3]} then kept = holder _G.kept = holder end
''', lambda *a: None)
if sys.argv[3] == "false":
    lua.collect()
    lua.collect()
    assert lua.eval("1 + 1") == 2
lua.close()
assert seen.count(bool) == 2, seen
print("closed")
"""


@pytest.mark.slow
@pytest.mark.parametrize("kept", ["false", "true"], ids=["collected", "closed"])
@pytest.mark.parametrize("name", MET)
def test_a_finalizer_may_use_what_is_finalized_already(name: str, kept: str) -> None:
    made, use = MET[name]
    done = subprocess.run(
        [sys.executable, "-X", "faulthandler", "-c", PROGRAM, made, use, kept],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stdout) == (0, "closed\n"), done.stderr


def test_what_is_collected_is_said_where_it_is_used(lua: bridge.Lua) -> None:
    lua.f, lua.o = (lambda x: x), object()
    lua.execute(
        """
        local f, o = f, o
        _G.f, _G.o = nil, nil
        local p = newproxy(true)
        getmetatable(p).__gc = function() kept_f, kept_o = f, o end
        """
    )
    lua.collect()
    lua.collect()
    with pytest.raises(bridge.LuaError, match="this Python function is gone"):
        lua.execute("kept_f(1)")
    with pytest.raises(ReferenceError, match="this Python object is gone"):
        lua.eval("kept_o")


ENDLESS = """
import signal, sys, threading, time
signal.signal(signal.SIGINT, signal.default_int_handler)
import bridge
lua = bridge.Lua()
lua.go = lambda: print("running", flush=True)
lua.execute(sys.argv[1])
try:
    if sys.argv[2] == "close":
        lua.close()
    else:
        lua.execute("p = nil")
        lua.collect()
        lua.collect()
except KeyboardInterrupt:
    print("stopped", lua.closed, flush=True)
lua.close()
with bridge.Lua() as other:
    print(other.eval("6 * 7"), flush=True)
"""
LOOPS = {
    "userdata": "p = newproxy(true) getmetatable(p).__gc = function() go() while true do end end",
    "userdata whose loop is compiled already": """
        local function spin(n) local x = 0 while x ~= n do x = x + 1 end end
        for i = 1, 100 do spin(1000) end
        p = newproxy(true) getmetatable(p).__gc = function() go() spin(-1) end""",
    "cdata": "local ffi = require 'ffi' p = ffi.gc(ffi.new('int[1]'), function() go() while true do end end)",
    "many": """
        local function spin() while true do end end
        p = {} for i = 1, 100 do p[i] = newproxy(true)
           getmetatable(p[i]).__gc = function() if i == 100 then go() end while true do pcall(spin) end end end""",
}


@pytest.mark.slow
@pytest.mark.parametrize("how", ["close", "collect"])
@pytest.mark.parametrize("kind", LOOPS)
def test_ctrl_c_stops_an_endless_finalizer(kind: str, how: str) -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", ENDLESS, LOOPS[kind], how], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    with process.stdout:
        try:
            assert process.stdout.readline() == "running\n"
            with pytest.raises(subprocess.TimeoutExpired):
                process.wait(0.3)
            process.send_signal(signal.SIGINT)
            assert process.stdout.readline() == f"stopped {how == 'close'}\n"
            assert process.stdout.readline() == "42\n"
            assert process.wait(10) == 0
        finally:
            process.kill()
            process.wait()


@pytest.mark.slow
def test_other_threads_run_while_a_state_is_closed() -> None:
    import threading

    lua = bridge.Lua()
    lua.execute(
        "p = newproxy(true) local clock = os.clock "
        "getmetatable(p).__gc = function() local t = clock() while clock() - t < 0.5 do end end"
    )
    ticks: list[float] = []
    done = threading.Event()

    def tick() -> None:
        while not done.wait(0.01):
            ticks.append(time.perf_counter())

    thread = threading.Thread(target=tick)
    thread.start()
    began = time.perf_counter()
    lua.close()
    ended = time.perf_counter()
    done.set()
    thread.join()
    assert sum(began < t < ended for t in ticks) > 10


def test_an_error_in_a_finalizer_is_said(lua: bridge.Lua, capsys: pytest.CaptureFixture[str]) -> None:
    lua.execute("getmetatable(newproxy(true)).__gc = function() error('too late', 0) end")
    lua.collect()
    lua.collect()
    assert capsys.readouterr().err == "error in a Lua finalizer: too late\n"
