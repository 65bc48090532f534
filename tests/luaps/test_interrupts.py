"""Ctrl-C ends calls that wait for another node: in a plain LuaJIT, and in Python with what its handlers raise."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import bridge
import pyps
from tests.luaps.nodes import Cluster

pytestmark = pytest.mark.slow

CALLS = {
    "pull": "kv:pull({2, 4}, v)",
    "push": "kv:push({2, 4}, v)",
    "set": "kv:set({2, 4}, v)",
    "localize": "kv:localize({6})",
    "pull_sample": "kv:pull_sample(kv:prepare_sample(4, 0), ffi.new('int64_t[4]'), ffi.new('float[4]'))",
    "wait": "kv:wait(kv:push({2}, {0}, true))",
    "waitall": "kv:push({2}, {0}, true) kv:waitall()",
    "future": "kv:future(kv:push({2}, {0}, true)):wait()",
    "order": "kv:set({2}, {0}, true) kv:pull({2}, w, true)",
    "room": "for _ = 1, 1000 do kv:push({2}, {0}, true) end",
    "wait_sync": "kv:push({2}, {0}, true) kv:wait_sync()",
    "quiesce": "kv:push({2}, {0}, true) kv:quiesce()",
    "end_setup": "kv:end_setup()",
    "table": "kv:table('users')",
    "barrier": "kv:barrier()",
    "finalize": "local other = kv.node:worker() other:push({2}, {0}, true) other:finalize()",
}
INTERRUPTED = """
local v, w = ffi.new('float[2]', 7, 7), ffi.new('float[1]')
say('waits')
local ok, message = pcall(function() %s end)
say(ok, message:match('interrupted!') or message)
kv:waitall(20)
say(v[0], v[1])
kv:push({2, 4}, {0, 0}) kv:pull({8}, w) say(w[0])
"""
SOON = 1.0  # seconds


@pytest.fixture
def alone() -> Iterator[tuple[pyps.Server, Callable[[], None]]]:
    """A node whose only other one does not answer before the function is called."""
    nodes = [pyps.Server(10, 1, num_nodes=2, rank=rank, in_flight=100) for rank in range(2)]
    endpoints = [node.bind("tcp://127.0.0.1:*") for node in nodes]
    nodes[0].enable_sampling_support("naive", True, "weighted", 0, 10, weights=np.eye(10)[1])
    nodes[0].connect(endpoints)
    yield nodes[0], lambda: nodes[1].connect(endpoints)
    for node in nodes:
        node.shutdown(timeout=0)


@pytest.mark.parametrize("name", CALLS)
def test_ctrl_c_ends_a_wait(alone: Any, luajit: Any, name: str) -> None:
    """The worker goes on, and no buffer is written to later."""
    node, answer = alone
    program = luajit(INTERRUPTED % CALLS[name], node.address)
    assert program.line() == "waits"
    time.sleep(0.2)
    start = time.monotonic()
    program.process.send_signal(signal.SIGINT)
    assert program.line() == "false interrupted!"
    assert time.monotonic() - start < SOON
    answer()
    assert [program.line(), program.line()] == ["7 7", "0"]
    program.finish()


class Refused(Exception):
    """What the program's own handler raises."""


def refuse(number: int, frame: object) -> None:
    raise Refused


@pytest.mark.parametrize("handler", [signal.default_int_handler, refuse])
@pytest.mark.parametrize("name", CALLS)
def test_what_a_handler_raises_in_python_ends_a_wait(alone: Any, name: str, handler: Any) -> None:
    """As it is if it is no Exception, else as a Lua error that it is the cause of."""
    node, answer = alone
    former = signal.signal(signal.SIGINT, handler)
    timer = threading.Timer(0.2, signal.raise_signal, (signal.SIGINT,))
    with bridge.Lua() as lua:
        lua.execute(
            """
            ffi, kv = require 'ffi', require('luaps').worker{address = ...}
            v, w = ffi.new('float[2]', 7, 7), ffi.new('float[1]')
            """,
            node.address,
        )
        try:
            timer.start()
            start = time.monotonic()
            with pytest.raises((KeyboardInterrupt, bridge.LuaError)) as raised:
                lua.execute(CALLS[name])
            assert time.monotonic() - start < 0.2 + SOON
            cause = raised.value.__cause__ if handler is refuse else raised.value
            assert isinstance(cause, Refused if handler is refuse else KeyboardInterrupt)
        finally:
            timer.join()
            signal.signal(signal.SIGINT, former)
        answer()
        lua.execute("kv:waitall(20) kv:push({2, 4}, {0, 0}) kv:pull({8}, w)")
        assert lua.eval("v[0] == 7 and v[1] == 7 and w[0] == 0")
        lua.execute("kv:finalize()")


@pytest.mark.parametrize("call", ["barrier", "end_setup"])
def test_an_interrupted_barrier_is_left(cluster: Cluster, luajit: Any, call: str) -> None:
    nodes = cluster(2, 10, 1)
    source = f"""
    say('ready')
    local ok, message = pcall(kv.{call}, kv, 50)
    say(ok, message:match('interrupted!'))
    os.execute('sleep 1')
    kv:{call}(30) say('together')
    """
    with nodes[1].worker() as kv:
        program = luajit(source, nodes[0].address)
        assert program.line() == "ready"
        time.sleep(0.1)
        program.process.send_signal(signal.SIGINT)
        assert program.line() == "false interrupted!"
        with pytest.raises(pyps.WaitTimeoutError):
            getattr(kv, call)(0.2)
        getattr(kv, call)(30)
        assert program.finish() == ["together"]
