"""The border: calls, conversions and new states beside lupa, arrays of any size, a forward pass beside busy Python."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import lupa.luajit21
import numpy as np
import torch

import bridge
from benchmarks.harness import Row, seconds_per_call

NAME = "bridge: calls and conversions"

CALLS = "calls"
CONVERSIONS = "conversions"
PARALLEL = "without the GIL"
STATES = "a new state, made, used and closed"
SIZES = (10, 1_000_000)
FORWARD = """
require 'nn'
local net = nn.Sequential()
   :add(nn.Linear(64, 128)):add(nn.Tanh()):add(nn.Linear(128, 10)):add(nn.LogSoftMax()):float()
local input = torch.FloatTensor(16, 64):fill(0.5)
return function(n) for i = 1, n do net:forward(input) end end
"""


def run(quick: bool) -> list[Row]:
    """Measure every row; `quick` only sees that they run."""
    with bridge.Lua() as lua:
        lua.require("torch")
        peer = lupa.luajit21.LuaRuntime()
        return [
            *calls(lua, peer, quick),
            *containers(lua, peer, quick),
            *arrays(lua, quick),
            *forward_passes(lua, quick),
            *states(quick),
        ]


def calls(lua: bridge.Lua, peer: Any, quick: bool) -> Iterator[Row]:
    """Calls in both directions."""
    empty, first = "function() end", "function(a, b, c) return a end"
    ours_empty, theirs_empty = lua.eval(empty), peer.eval(empty)
    ours_first, theirs_first = lua.eval(first), peer.eval(first)
    ours, theirs = seconds_per_call(ours_empty, theirs_empty, quick=quick)
    yield row(CALLS, "Python -> Lua, empty call", ours, theirs, "lupa", "<= 1.3x")
    ours, theirs = seconds_per_call(
        lambda: ours_first(1, 2.0, "abc"), lambda: theirs_first(1, 2.0, "abc"), quick=quick
    )
    yield row(CALLS, "Python -> Lua, 3 arguments, 1 result", ours, theirs, "lupa", "<= 1.3x")
    loop = "function(f, n) for i = 1, n do f() end end"
    ours_loop, theirs_loop = lua.eval(loop), peer.eval(loop)

    def nothing() -> None: ...

    ours, theirs = seconds_per_call(
        lambda: ours_loop(nothing, 1000), lambda: theirs_loop(nothing, 1000), quick=quick
    )
    yield row(CALLS, "Lua -> Python call", ours / 1000, theirs / 1000, "lupa", "<= 1x")


def containers(lua: bridge.Lua, peer: Any, quick: bool) -> Iterator[Row]:
    """A list of 10,000 numbers, there and back."""
    numbers = [float(i) + 0.5 for i in range(10_000)]
    take = lua.eval("function(t) end")
    ours, theirs = seconds_per_call(lambda: take(numbers), lambda: peer.table_from(numbers), quick=quick)
    yield row(
        CONVERSIONS, "list of 10,000 numbers -> table", ours, theirs, "lupa table_from", "<= 0.7x", "us"
    )
    build = "local t = {} for i = 1, 10000 do t[i] = i + 0.5 end"
    give = lua.execute(f"{build} return function() return t end")
    table = peer.execute(f"{build} return t")
    ours, theirs = seconds_per_call(give, lambda: list(table.values()), quick=quick)
    yield row(
        CONVERSIONS, "table of 10,000 numbers -> list", ours, theirs, "lupa list(t.values())", "<= 0.4x", "us"
    )


def arrays(lua: bridge.Lua, quick: bool) -> Iterator[Row]:
    """Arrays of two sizes: the same time, because nothing is copied."""
    take = lua.eval("function(x) end")
    with bridge.Lua(tensors="torch") as other:
        other.require("torch")
        for size in SIZES:
            array, tensor = np.zeros(size), torch.zeros(size)
            make = f"local x = torch.DoubleTensor({size}):fill(1) return function() return x end"
            give, give_torch = lua.execute(make), other.execute(make)
            times = seconds_per_call(
                partial(take, array), partial(take, tensor), give, give_torch, quick=quick
            )
            names = ("numpy -> Lua", "torch -> Lua", "Lua -> numpy", "Lua -> torch")
            for name, seconds in zip(names, times, strict=True):
                what = f"{name}, {size:,} elements, with its call"
                yield Row(table=CONVERSIONS, what=what, ours=seconds * 1e6, unit="us", target="<= 2 us")


def states(quick: bool) -> Iterator[Row]:
    """A state with nothing, torch or nn in it, beside lupa's with nothing, whose own files the first one compiled."""

    def bare() -> None:
        lupa.luajit21.LuaRuntime()

    def with_package(name: str | None) -> None:
        with bridge.Lua(interruptible=False) as lua:
            if name is not None:
                lua.require(name)

    for name, target in ((None, "<= 2 ms"), ("torch", "<= 8 ms"), ("nn", "<= 20 ms")):
        ours, theirs = seconds_per_call(partial(with_package, name), bare, quick=quick)
        what = f"with {name}" if name else "with nothing"
        yield row(STATES, what, ours, theirs, "lupa, with nothing", target, "ms")


def forward_passes(lua: bridge.Lua, quick: bool) -> Iterator[Row]:
    """A forward pass alone and beside a Python thread that never rests; two states in two threads."""
    torch.set_num_threads(1)
    forward = lua.execute(FORWARD)
    n = 100 if quick else 20_000
    forward(100)
    (alone,) = seconds_per_call(lambda: forward(n), quick=quick, rounds=5)
    with busy_thread():
        (beside,) = seconds_per_call(lambda: forward(n), quick=quick, rounds=5)
    yield row(
        PARALLEL, "forward pass beside a busy Python thread", beside / n, alone / n, "alone", "<= 2x", "us"
    )
    with bridge.Lua() as second:
        other = second.execute(FORWARD)
        other(100)

        def both() -> None:
            thread = threading.Thread(target=other, args=(n,))
            thread.start()
            forward(n)
            thread.join()

        one, two = seconds_per_call(lambda: forward(n), both, quick=quick, rounds=5)
    yield Row(
        table=PARALLEL,
        what="forward passes per second, two states in two threads",
        ours=2 * n / two,
        unit="/s",
        peer="one state",
        theirs=n / one,
        target=">= 1.7x",
    )


@contextmanager
def busy_thread() -> Iterator[None]:
    """Run a Python thread that computes all the time."""
    stop = threading.Event()

    def spin() -> None:
        while not stop.is_set():
            sum(range(100))

    thread = threading.Thread(target=spin)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()


def row(table: str, what: str, ours: float, theirs: float, peer: str, target: str, unit: str = "ns") -> Row:
    """Return a row of two times given in seconds."""
    factor = {"ns": 1e9, "us": 1e6, "ms": 1e3}[unit]
    return Row(
        table=table,
        what=what,
        ours=ours * factor,
        unit=unit,
        peer=peer,
        theirs=theirs * factor,
        target=target,
    )
