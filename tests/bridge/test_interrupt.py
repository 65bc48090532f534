"""Ctrl-C stops Lua loops of every kind, compiled or interpreted; a real SIGINT in a real process."""

from __future__ import annotations

import signal
import subprocess
import sys

import pytest

pytestmark = pytest.mark.slow

LOOPS = {
    "empty": "while true do end",
    "numeric": "local x = 0 while true do x = x + 1 end",
    "string": "while true do local s = ('x'):rep(10) .. tostring(#'abc') end",
    "table": "local t = {} while true do t[1] = (t[1] or 0) + 1 t.x = {} end",
    "closure": "local function make(i) return function() i = i + 1 return i end end "
    "local f = make(0) while true do f = make(f()) end",
    "coroutine": "local co = coroutine.wrap(function() while true do coroutine.yield(1) end end) "
    "while true do co() end",
    "ffi": "local p = require('ffi').new('double[10]') while true do for i = 0, 9 do p[i] = p[i] + 1 end end",
    "apply": "local t = require('torch').zeros(10^6) while true do t:apply(function(x) return x + 1 end) end",
    "pcall": "while true do pcall(function() while true do end end) end",
    "callback": "while true do pcall(tick) end",
    "sleep": "require('sys').sleep(1000)",
}
PROGRAM = """
import signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)
import bridge
lua = bridge.Lua()
lua.tick = lambda: None
lua.go = lambda: print("running", flush=True)
try:
    lua.execute("go() " + sys.argv[1])
except KeyboardInterrupt:
    print("stopped", lua.eval("6 * 7"), flush=True)
lua.close()
"""


@pytest.mark.parametrize("loop", LOOPS.values(), ids=LOOPS)
def test_ctrl_c_stops_a_loop_and_the_state_goes_on(loop: str) -> None:
    process = subprocess.Popen([sys.executable, "-c", PROGRAM, loop], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    with process.stdout:
        try:
            assert process.stdout.readline() == "running\n"
            with pytest.raises(subprocess.TimeoutExpired):
                process.wait(0.3)  # long enough for the loop to be compiled
            process.send_signal(signal.SIGINT)
            assert process.stdout.readline() == "stopped 42\n"
            assert process.wait(10) == 0
        finally:
            process.kill()
            process.wait()


def test_a_signal_handler_of_the_program_runs_and_lua_goes_on() -> None:
    program = """
import signal, os, bridge
seen = []
signal.signal(signal.SIGALRM, lambda *_: seen.append(1))
signal.setitimer(signal.ITIMER_REAL, 0.2)
lua = bridge.Lua()
lua.execute("local x = 0 local t = os.clock() while os.clock() - t < 0.8 do x = x + 1 end", )
assert seen == [1], seen
"""
    subprocess.run([sys.executable, "-c", program], check=True, timeout=30)


def test_a_programs_own_debug_hook_survives() -> None:
    program = """
import bridge
lua = bridge.Lua()
lua.execute("n = 0 jit.off() debug.sethook(function() n = n + 1 end, '', 1000)")
lua.execute("local t = os.clock() while os.clock() - t < 0.5 do end before = n")
lua.execute("local t = os.clock() while os.clock() - t < 0.2 do end assert(n > before)")
"""
    subprocess.run([sys.executable, "-c", program], check=True, timeout=30)


TICKS_AT_ANY_MOMENT = '''
import os, subprocess, sys, time, bridge
lua = bridge.Lua()
work = lua.execute("""
   require 'torch'
   local t = torch.DoubleTensor(5, 4)
   for i = 1, 5 do for j = 1, 4 do t[i][j] = i * 1.25 - j * 1000 end end
   local printed, list, numbers = tostring(t), {}, require('ffi').new('double[50]')
   for i = 1, 50 do list[i], numbers[i - 1] = i, i end
   local function scaled(values, n, scale)
      local sum = 0
      for i = 0, n - 1 do sum = sum + values[i] / (scale or 1) end
      return sum
   end
   local function total(...)
      local sum = 0
      for i = 1, select('#', ...) do sum = sum + (select(i, ...)) end
      return sum
   end
   return function()
      local sum = 0
      for _, x in ipairs(list) do sum = sum + x end
      assert(sum == 1275 and scaled(numbers, 50) == 1275 and scaled(numbers, 50, 5) == 255)
      assert(total(1, 2, 3, 4, 5) == 15 and total(unpack(list)) == 1275)
      assert(tostring(t) == printed and t:narrow(1, 2, 3):size(1) == 3)
   end
""")
kick = """
import os, signal, sys, time
parent = int(sys.argv[1])
while os.getppid() == parent:
    os.kill(parent, signal.SIGPROF)
    time.sleep(2e-5)
"""
with subprocess.Popen([sys.executable, "-c", kick, str(os.getpid())]) as kicker:
    end, rounds = time.monotonic() + 3, 0
    while time.monotonic() < end:
        work()
        rounds += 1
    kicker.kill()
assert rounds > 100, rounds
'''


@pytest.mark.long
def test_a_look_for_signals_at_any_moment_changes_no_result() -> None:
    subprocess.run([sys.executable, "-c", TICKS_AT_ANY_MOMENT], check=True, timeout=60)
