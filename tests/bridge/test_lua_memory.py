"""Lua without memory: every request of every crossing of the border is refused once, and the process goes on."""

from __future__ import annotations

import ctypes
import gc
import subprocess
import sys
import weakref
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import lupa.luajit21
import numpy as np
import pytest
import torch

import bridge

SOURCE = Path(__file__).parent / "native" / "failing.c"
LUAJIT = ctypes.CDLL(lupa.luajit21.__file__)
# What a call may raise when Lua has no memory. An error of the message handler, too, is Lua's.
REFUSED = (bridge.LuaError, MemoryError, RecursionError)


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    made = tmp_path_factory.mktemp("failing") / "failing.so"
    subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-o", str(made), str(SOURCE)], check=True, timeout=60)
    return ctypes.CDLL(str(made))


class Failing:
    """A state whose allocator refuses what it is told to."""

    def __init__(self, library: ctypes.CDLL) -> None:
        self._library = library
        self.lua = bridge.Lua(interruptible=False)
        self.lua.require("torch")
        thread = self.lua.eval("tostring(require('bridge.native').main_thread)")
        self._state = ctypes.c_void_p(int(thread.partition(": ")[2], 16))
        library.failing_install(self._state, LUAJIT.lua_getallocf, LUAJIT.lua_setallocf)

    def refuse(self, first: int, last: int) -> None:
        self._library.failing_refuse(ctypes.c_long(first), ctypes.c_long(last))

    def asked(self) -> int:
        return int(self._library.failing_asked())

    def close(self) -> None:
        self.refuse(-1, -1)
        self._library.failing_remove(self._state, LUAJIT.lua_setallocf)
        self.lua.close()


@pytest.fixture
def failing(library: ctypes.CDLL) -> Iterator[Failing]:
    made = Failing(library)
    yield made
    made.close()


class Thing: ...


class Called:
    def __call__(self) -> int:
        return 1


def raise_error(*arguments: Any) -> None:
    raise ValueError("no")


def fresh(n: int) -> str:
    """Return a string that Lua has not seen."""
    fresh.count += 1  # type: ignore[attr-defined]
    return f"{fresh.count}" * n  # type: ignore[attr-defined]


fresh.count = 0  # type: ignore[attr-defined]

ECHO = "function(...) return ... end"
CALLBACK = "function(f, ...) return f(...) end"
SAFE = "function(f, ...) local ok, e = pcall(f, ...) return ok, tostring(e) end"
# name -> a Lua function, and what calls it
CROSSINGS: dict[str, tuple[str, Callable[[Any], Any]]] = {
    "nothing": (ECHO, lambda f: f()),
    "numbers": (ECHO, lambda f: f(1, 2.5, True, None)),
    "a string": (ECHO, lambda f: f(fresh(10))),
    "bytes": (ECHO, lambda f: f(fresh(100).encode() + b"\xff")),
    "a list": (ECHO, lambda f: f([1, [2, [3, fresh(3)]], None])),
    "a dict": (ECHO, lambda f: f({fresh(4): {fresh(5): [1]}, 7: 8.5})),
    "a long list": (ECHO, lambda f: f(list(range(1000)))),
    "many arguments": (ECHO, lambda f: f(*range(200))),
    "an array": (ECHO, lambda f: f(np.ones((2, 3)))),
    "an array of five dimensions": (ECHO, lambda f: f(np.ones((1, 2, 1, 2, 1)))),
    "a torch tensor": (ECHO, lambda f: f(torch.ones(2, 3))),
    "an index": (ECHO, lambda f: f(bridge.index([1, 2]))),
    "an object": (ECHO, lambda f: f(Thing())),
    "a function": (ECHO, lambda f: f(lambda: 1)),
    "an exception": (ECHO, lambda f: f(ValueError("x"))),
    "a copy": (ECHO, lambda f: f(np.ones(3), copy=True)),
    "a table of a class": (
        "function(...) return setmetatable({}, {__typename = 'a.b'}), {...} end",
        lambda f: f(),
    ),
    "a Lua function": ("function() return function() end end", lambda f: f()),
    "an integer of FFI": ("function() return 12LL, 13ULL end", lambda f: f()),
    "a table that is no list": ("function() return {a = 1, {2}, [3] = 4} end", lambda f: f()),
    "a tensor of Lua": ("function() return torch.ones(3), torch.LongStorage{1, 2} end", lambda f: f()),
    "a callback": (CALLBACK, lambda f: f(lambda *a: (a, fresh(3), [1, 2]), 1, [2], "x")),
    "a callback's array": (CALLBACK, lambda f: f(lambda x: (x, np.ones(3)), np.ones(2))),
    "a callback's error": (CALLBACK, lambda f: f(raise_error, 1)),
    "a callback's error, caught": (SAFE, lambda f: f(raise_error, 1)),
    "a callback that calls": (CALLBACK, lambda f: f(lambda g, n: g(len, fresh(n)), f, 9)),
    "an error": ("function() error('bad') end", lambda f: f()),
    "an error with a table": ("function() error({code = 1, message = 'bad'}) end", lambda f: f()),
    "a long error": ("function(s) error(s:rep(50)) end", lambda f: f(fresh(20))),
    "text": ("function(n) return ('x'):rep(n) end", lambda f: f(5000)),
    "a description": (ECHO, repr),
    "a signature": (ECHO, lambda f: f.__doc__),
}


def attempt(call: Callable[[Any], Any], function: Any) -> str:
    try:
        call(function)
    except REFUSED as error:
        return type(error).__name__
    except ValueError as error:
        assert str(error) == "no"  # noqa: PT017
    return ""


@pytest.mark.parametrize("how", ["one", "all from there on"])
@pytest.mark.parametrize("name", CROSSINGS)
def test_a_crossing_survives_each_refusal(failing: Failing, name: str, how: str) -> None:
    source, call = CROSSINGS[name]
    function = failing.lua.eval(source)
    attempt(call, function)
    failing.refuse(-1, -1)
    attempt(call, function)
    requests = failing.asked()
    refused = 0
    for k in range(requests + 2):
        failing.refuse(k, k + 1 if how == "one" else 1 << 60)
        refused += attempt(call, function) != ""
        failing.refuse(-1, -1)
        assert failing.lua.eval("6 * 7") == 42
    assert refused or not requests or name.endswith("caught")


LENT: dict[str, Callable[[], Any]] = {
    "an array": lambda: np.ones(100),
    "an object": Thing,
    "a function": Called,
}


@pytest.mark.slow
@pytest.mark.parametrize("kind", LENT)
def test_what_was_lent_when_lua_had_no_memory_is_let_go(failing: Failing, kind: str) -> None:
    function = failing.lua.eval(ECHO)
    lent = []
    for k in range(40):
        value = LENT[kind]()
        lent.append(weakref.ref(value))
        failing.refuse(k, 1 << 60)
        attempt(lambda f, value=value: f(value), function)
        failing.refuse(-1, -1)
        del value
    failing.lua.collect()
    failing.lua.collect()
    failing.lua.eval("1")
    gc.collect()
    assert [k for k, reference in enumerate(lent) if reference() is not None] == []


@pytest.mark.slow
def test_a_refusal_costs_no_depth(failing: Failing) -> None:
    function = failing.lua.eval(ECHO)
    for k in range(2 * sys.getrecursionlimit()):
        failing.refuse(k % 7, 1 << 60)
        attempt(lambda f: f([[[[1]]]]), function)
        failing.refuse(-1, -1)
    assert function([[[[1]]]]) == [[[[1]]]]


PROGRAMS = {
    "strings": 'local s = "x" while true do s = s .. s end',
    "tables": "local t = {} for i = 1, 1e10 do t[i] = {i} end",
    "closures": "local f = function() end while true do local g = f f = function() return g() end end",
    "coroutines": "local t = {} for i = 1, 1e10 do t[i] = coroutine.create(print) end",
    "callbacks": "local f = ... local t = {} for i = 1, 1e10 do t[i] = ('x'):rep(10000) .. i "
    "if i % 100 == 0 then f(i) end end",
    "tensors": "require 'torch' local t = {} for i = 1, 1e10 do t[i] = torch.zeros(3) end",
}
EATER = """
import resource, sys
resource.setrlimit(resource.RLIMIT_AS, (1_000_000_000,) * 2)
import bridge
lua = bridge.Lua(interruptible=False)
for _ in range(3):
    try:
        lua.execute(sys.argv[1], lambda x: [x] * 10)
    except (bridge.LuaError, MemoryError):
        pass
    assert lua.eval("6 * 7") == 42
print("survived")
"""


@pytest.mark.long
@pytest.mark.parametrize("program", PROGRAMS)
def test_a_program_that_eats_all_memory_ends_with_an_error(program: str) -> None:
    done = subprocess.run(
        [sys.executable, "-X", "faulthandler", "-c", EATER, PROGRAMS[program]],
        capture_output=True,
        text=True,
        timeout=110,
        check=False,
    )
    assert (done.returncode, done.stdout) == (0, "survived\n"), done.stderr[-2000:]
