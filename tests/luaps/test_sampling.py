"""Samples in Lua: drawn by a state of this process and by plain LuaJIT processes, of Python's and Lua's servers."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import numpy as np
import pytest

import bridge
import pyps
from tests.pyps import chi_square

NUM_KEYS = 30

# Every element of a value is its key, from 0; what a sample has must fit.
PULLED = """
function pulled(kv, sample, n, async)
   local keys, values = ffi.new('int64_t[?]', n), ffi.new('float[?]', 3 * n)
   kv:wait(kv:pull_sample(sample, keys, values, async))
   for i = 0, n - 1 do
      for j = 0, 2 do assert(values[3 * i + j] == tonumber(keys[i]) - kv.base) end
   end
   return keys
end
"""


def filled(node: pyps.Server) -> None:
    with node.worker() as kv:
        kv.set(np.arange(NUM_KEYS), np.repeat(np.arange(NUM_KEYS, dtype=np.float32), 3))


@pytest.fixture(params=[1, 2])
def nodes(request: pytest.FixtureRequest) -> Iterator[list[pyps.Server]]:
    """Thirty keys of three float32 on one node or two, each with its number in it."""
    count = request.param
    with ExitStack() as stack:
        nodes = [
            stack.enter_context(pyps.Server(NUM_KEYS, 3, num_nodes=count, rank=rank)) for rank in range(count)
        ]
        endpoints = [node.bind("tcp://127.0.0.1:*") for node in nodes if count > 1]
        for node in nodes if count > 1 else []:
            node.connect(endpoints)
        filled(nodes[0])
        yield nodes


@pytest.mark.parametrize("scheme", ["naive", "preloc", "pool", "local"])
@pytest.mark.parametrize("base", [0, 1])
def test_samples_have_distinct_keys_and_their_values(
    nodes: list[pyps.Server], start: Any, scheme: str, base: int
) -> None:
    nodes[0].enable_sampling_support(scheme, False, "log-uniform", 10, 20)
    source = """
    local kv = luaps.worker{address = select(1, ...), base = number}
    for clock = 0, 9 do
       local sample = kv:prepare_sample(10, clock, clock + 2)
       local parts = {pulled(kv, sample, 3), pulled(kv, sample, 7, true)}
       local seen = {}
       for i = 0, 9 do
          local key = tonumber(i < 3 and parts[1][i] or parts[2][i - 3])
          assert(key >= 10 + number and key < 20 + number and not seen[key])
          seen[key] = true
       end
       kv:advance_clock()
    end
    say('done')
    """
    assert start(PULLED + source, nodes[0].address, base).finish() == ["done"]


def test_weights_of_a_server_in_python_hold_in_lua(nodes: list[pyps.Server], start: Any) -> None:
    weights = np.arange(NUM_KEYS) % 5
    nodes[-1].enable_sampling_support("naive", True, "weighted", 0, NUM_KEYS, weights=weights, seed=2)
    source = """
    local counts, words = {}, {}
    for i = 1, 40 do
       local keys = pulled(kv, kv:prepareSample(100, 0), 100)
       for j = 0, 99 do
          local key = tonumber(keys[j])
          counts[key] = (counts[key] or 0) + 1
       end
    end
    for key = 1, 30 do words[key] = counts[key] or 0 end
    say(unpack(words))
    """
    (line,) = start(PULLED + source, nodes[-1].address).finish()
    assert chi_square.fits(np.array(line.split(), np.int64), weights / weights.sum())


def test_a_server_in_lua_draws_too(luajit: Any) -> None:
    source = """
    local server = luaps.server{num_keys = 10, value_length = 3}
    server:enable_sampling_support{scheme = 'local', distribution = 'weighted', min = 2, max = 5, seed = 7,
       weights = {0, 3, 1}}
    local kv = server:worker()
    for key = 1, 10 do kv:set(key, {key - 1, key - 1, key - 1}) end
    local keys, counts = pulled(kv, kv:prepare_sample(1000, 0), 1000), {}
    for i = 0, 999 do counts[tonumber(keys[i])] = (counts[tonumber(keys[i])] or 0) + 1 end
    say(counts[2], counts[3] + counts[4], counts[3] > 700, counts[3] < 800, next(counts, next(counts, next(counts))))
    """
    assert luajit(PULLED + source).finish() == ["nil 1000 true true nil"]


def test_keys_and_values_come_as_tensors_and_tables(lua: bridge.Lua, server: pyps.Server) -> None:
    server.enable_sampling_support("naive", True, "uniform", 4, 5)
    with server.worker() as kv:
        kv.set([4], np.array([7, 8, 9], np.float32))
    lua.execute(
        """
        local keys, values = torch.LongTensor(2, 3):fill(0), torch.FloatTensor(4, 3):fill(1)
        local sample = kv:prepare_sample(9, 0)
        assert(kv:pull_sample(sample, keys:select(2, 2), values) == -1)
        assert(keys:select(2, 2):eq(5):all() and keys:select(2, 1):eq(0):all())
        assert(values[1][1] == 7 and values[2][3] == 9 and values:narrow(1, 3, 2):eq(1):all())
        local gaps = torch.FloatTensor(3, 8):fill(1):t()
        kv:pull_sample(sample, torch.LongTensor(2), gaps)
        assert(gaps[1][1] == 7 and gaps[2][3] == 9 and gaps:narrow(1, 3, 6):eq(1):all())
        local list, room = {0, 0}, {1, 1, 1, 1, 1, 1, 1}
        kv:pull_sample(sample, list, room)
        assert(table.concat(list, ' ') == '5 5' and table.concat(room, ' ') == '7 8 9 7 8 9 1')
        local empty = {}
        kv:pull_sample(sample, {0}, empty)
        assert(table.concat(empty, ' ') == '7 8 9')
        """
    )


@pytest.mark.parametrize(
    ("call", "message"),
    [
        ("kv:prepare_sample(0, 0)", "a sample cannot have 0 keys"),
        ("kv:prepare_sample(7, 0)", "7 distinct keys cannot be drawn"),
        ("kv:prepare_sample(1.5, 0)", "n is 1.5; it must be a whole number"),
        ("kv:prepare_sample(1)", "start must be a number, got nil"),
        ("kv:prepare_sample(1, 3, 2)", "ends at clock 2"),
        ("kv:pull_sample(99, ffi.new('int64_t[1]'), v)", "sample 99 was not prepared"),
        ("kv:pull_sample('x', ffi.new('int64_t[1]'), v)", "number of the sample must be a number"),
        ("kv:pull_sample(s, ffi.new('int64_t[4]'), v)", "4 keys of sample 1 cannot be pulled; it has 3 left"),
        (
            "kv:pull_sample(s, ffi.new('int64_t[3]'), v)",
            "room for 6 elements, the values of the 3 drawn keys have 9",
        ),
        ("kv:pull_sample(s, ffi.new('int32_t[2]'), v)", "a luaps.buffer of int64_t, as drawn keys are int64"),
        ("kv:pull_sample(s, {}, v)", "an empty table does not say how many"),
        (
            "kv:pull_sample(s, {0}, ffi.new('double[3]'))",
            "as the server holds float32; got luaps.buffer of 3 double",
        ),
        ("kv:pull_sample(s, {0}, v, 1)", "async must be true or false, got 1"),
        ("kv:finish_sample(2)", "sample 2 was not prepared"),
    ],
)
def test_a_bad_call_is_refused_and_takes_nothing(
    server: pyps.Server, lua: bridge.Lua, call: str, message: str
) -> None:
    server.enable_sampling_support("pool", False, "uniform", 0, 6)
    lua.execute("s, v = kv:prepare_sample(3, 0), ffi.new('float[6]')")
    with pytest.raises(bridge.LuaError, match="luaps: ") as refused:
        lua.execute(call)
    assert message in str(refused.value)
    lua.execute("assert(kv:pull_sample(s, ffi.new('int64_t[3]'), ffi.new('float[9]')) == -1)")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("{distribution = 'uniform'}", "needs scheme"),
        ("{scheme = 'best', distribution = 'uniform'}", "there are: naive, preloc, pool, local"),
        ("{scheme = 'naive', distribution = 'uniform', max = 12}", "within [0, 10)"),
        (
            "{scheme = 'naive', distribution = 'weighted', weights = {1, -1}, max = 3}",
            "weight 2 of 2 is -1",
        ),
        (
            "{scheme = 'naive', distribution = 'weighted', weights = ffi.new('float[10]')}",
            "weights are float64",
        ),
        (
            "{scheme = 'naive', distribution = 'uniform', with_replacement = 1}",
            "must be true or false, got 1",
        ),
        ("{scheme = 'naive', distribution = 'uniform', pool_size = 0}", "pool_size is 0"),
    ],
)
def test_bad_settings_are_refused(options: str, message: str) -> None:
    with bridge.Lua() as lua:
        with pytest.raises(bridge.LuaError, match="luaps: ") as refused:
            lua.execute(
                "ffi = require 'ffi' local server = require 'luaps'.server{num_keys = 10} "
                f"server:enable_sampling_support{options}"
            )
        assert message in str(refused.value)


def test_sampling_has_to_be_enabled(lua: bridge.Lua) -> None:
    with pytest.raises(bridge.LuaError, match=r"sampling is not enabled on this node.*\(PS_ESTATE\)"):
        lua.execute("kv:prepare_sample(1, 0)")
