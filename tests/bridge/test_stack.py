"""Lua and Python that call each other, and nested containers, on C stacks of any size: an error, never a crash."""

from __future__ import annotations

import subprocess
import sys

import pytest

PROGRAM = """
import sys, threading
import bridge
kilobytes, limit, kind = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
sys.setrecursionlimit(limit)
lua = bridge.Lua()
lua.execute("function pong(p, d) return p(pong, d + 1) end")
pong = lua.globals["pong"]
reached = []

def ping(f, d):
    reached.append(d)
    return f(ping, d + 1)

def deep(value):
    for _ in range(200_000):
        value = [value]
    return value

nested = deep([])
uses = {
    "calls": lambda: pong(ping, 0),
    "a container": lambda: pong(nested),
    "a container, in a callback": lambda: lua.eval("(...)()", lambda: nested),
    "a table": lambda: lua.execute("local t = {} for i = 1, 200000 do t = {t} end return t"),
    "a table, to a callback": lambda: lua.execute(
        "local t = {} for i = 1, 200000 do t = {t} end (...)(t)", lambda t: None),
}

def work():
    try:
        uses[kind]()
    except (bridge.LuaError, RecursionError) as error:
        assert "RecursionError" in f"{type(error).__name__}: {error}" or "stack" in str(error), error
    else:
        print("no error")

threading.stack_size(kilobytes << 10)
thread = threading.Thread(target=work)
thread.start()
thread.join()
assert kind != "calls" or len(reached) > 20, len(reached)
assert lua.eval("6 * 7") == 42
while nested:                    # a chain this long must not be freed by recursion
    nested = nested.pop()
print("alive")
"""
KINDS = [
    "calls",
    "a container",
    "a container, in a callback",
    "a table",
    "a table, to a callback",
]


@pytest.mark.slow
@pytest.mark.parametrize("limit", [1000, 1_000_000])
@pytest.mark.parametrize("kilobytes", [64, 256, 8192])
@pytest.mark.parametrize("kind", KINDS)
def test_depth_ends_in_an_error(kind: str, kilobytes: int, limit: int) -> None:
    done = subprocess.run(
        [sys.executable, "-X", "faulthandler", "-c", PROGRAM, str(kilobytes), str(limit), kind],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stdout) == (0, "alive\n"), done.stderr[-2000:]
