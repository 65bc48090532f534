"""Lua programs as workers of a cluster, in this process and as plain LuaJIT processes, beside Python workers."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from typing import Any

import numpy as np
import pytest

import bridge
import pyps
from tests.luaps.nodes import NUM_KEYS, Cluster, Nodes, values_of


def numbers(keys: Any, width: int = 3) -> np.ndarray[Any, Any]:
    return np.repeat(np.asarray(keys), width).reshape(-1, width)


def test_python_sees_what_lua_sets_and_pushes(nodes: Nodes, start: Any) -> None:
    source = """
    local keys, v = ffi.new('int64_t[60]'), ffi.new('int64_t[180]')
    for i = 0, 59 do keys[i] = 60 - i for j = 0, 2 do v[3 * i + j] = 59 - i end end
    say(kv:set(keys, v), kv:push(keys, v))
    """
    assert start(source, nodes[0].address).finish() == ["-1 -1"]
    for node in nodes:
        assert (values_of(node) == 2 * numbers(np.arange(NUM_KEYS))).all()


def test_lua_sees_on_every_node_what_python_sets(nodes: Nodes, start: Any) -> None:
    with nodes[-1].worker() as kv:
        kv.set(np.arange(NUM_KEYS), numbers(np.arange(NUM_KEYS)))
    source = "local v = ffi.new('int64_t[9]') kv:pull({60, 2, 1}, v) say(shown(v, 9))"
    for node in nodes:
        assert start(source, node.address).finish() == ["59 59 59 1 1 1 0 0 0"]


def test_values_of_different_lengths_travel(cluster: Cluster, start: Any) -> None:
    nodes = cluster(2, 6, [1, 2, 3, 1, 2, 3])
    source = """
    kv:push({6, 1, 2}, {1, 2, 3, 4, 5, 6})
    local v = {} kv:pull({2, 6}, v) say(table.concat(v, ' '))
    """
    assert start(source, nodes[0].address).finish() == ["5 6 1 2 3"]


def test_asynchronous_operations_take_place_in_their_order(cluster: Cluster, start: Any) -> None:
    source = """
    local v, seen = ffi.new('float[3]'), {}
    for i = 1, 100 do
       v[0] = 1
       kv:push(2, v, true)
       local pulled = kv:pull(2, v, true)
       kv:wait(pulled)
       assert(v[0] == i, v[0])
       local last = kv:set(2, {0, 5, i}, true)
       kv:push(2, {i, 0, 0}, true)
       kv:wait{last, timeout = 20}
    end
    kv:waitall()
    kv:pull(2, v) say(shown(v, 3))
    """
    assert start(source, cluster(2, 10, 3)[0].address).finish() == ["100 5 100"]


def test_an_operation_is_also_a_future(nodes: Nodes, start: Any) -> None:
    source = """
    local v = {}
    kv:push(2, {1, 2, 3})
    local pulled = kv:future(kv:pull({2}, v, true))
    pulled:wait(20)
    say(pulled:done(), table.concat(v, ' '))
    say(tostring(pulled):match('^luaps.future %-?%d of luaps.worker 1 of luaps node'))
    say(select(2, pcall(kv.future, kv, 99)))
    """
    done, text, error = start(source, nodes[0].address).finish()
    assert done == "true 1 2 3"
    assert text.startswith("luaps.future")
    assert error.startswith("luaps: timestamp 99 was not returned by an operation of this worker")


def test_what_is_pulled_asynchronously_into_a_tensor_arrives_when_it_is_waited_for(cluster: Cluster) -> None:
    nodes = cluster(2, 10, 3)
    with nodes[0].worker() as kv:
        kv.set([1], np.array([1, 2, 3], np.float32))
    with bridge.Lua() as lua:
        lua.execute(
            """
            require 'torch'
            kv = require('luaps').worker{address = ...}
            one, columns = torch.FloatTensor(3), torch.FloatTensor(3, 2):zero()
            kv:wait(kv:pull(2, one, true), kv:pull(2, columns:select(2, 2), true))
            moved = torch.FloatTensor(3)
            local first = kv:pull(2, moved, true)
            moved:resize(3000):resize(3) -- to other memory and back
            collectgarbage() collectgarbage()
            kv:wait(first)
            smaller = torch.FloatTensor(3)
            local second = kv:pull(2, smaller, true)
            smaller:resize(2)
            message = select(2, pcall(kv.wait, kv, second))
            kv:finalize()
            """,
            nodes[0].address,
        )
        assert lua.one.tolist() == lua.moved.tolist() == [1, 2, 3]
        assert lua.columns.tolist() == [[0, 1], [0, 2], [0, 3]]
        assert "has 2 elements, and had 3 when the pull began" in lua.message


def test_a_forgotten_buffer_lives_until_its_pull_has_ended(cluster: Cluster, start: Any) -> None:
    source = """
    for i = 1, 300 do
       kv:pull({2, 4}, ffi.new('float[2000]'), true)
       kv:pull({2, 4}, {}, true)
       if i % 10 == 0 then collectgarbage() end
    end
    kv:waitall(20) say('done')
    """
    assert start(source, cluster(2, 10, 1000)[0].address).finish() == ["done"]


def test_localized_keys_are_local(nodes: Nodes, start: Any) -> None:
    source = """
    local v = ffi.new('int64_t[6]')
    local before = kv:pull_if_local({2, 4}, v)
    kv:push({2, 4}, ffi.new('int64_t[6]', 1, 2, 3, 4, 5, 6))
    say(before, kv:localize({2, 4}), kv:pull_if_local({2, 4}, v), shown(v, 6))
    kv:wait(kv:localize({6, 8}, true))
    say(kv:pull_if_local({6, 8}, v))
    """
    first = "true" if len(nodes) == 1 else "false"
    assert start(source, nodes[0].address).finish() == [f"{first} -1 true 1 2 3 4 5 6", "true"]


def test_localize_beyond_the_memory_limit_is_refused(cluster: Cluster, start: Any) -> None:
    """With 4 MB of values on each of two nodes."""
    nodes = cluster(2, 20_000, 100, memory_limit=7_000_000)
    source = """
    local keys = {}
    for i = 1, 10000 do keys[i] = 2 * i end
    local stamp = kv:localize(keys, true)
    for _, localize in ipairs{function() kv:localize(keys) end, function() kv:wait(stamp) end} do
       local ok, refused = pcall(localize)
       say(ok, refused)
    end
    kv:localize({2, 4})
    local v = {} kv:pull({2}, v) say(v[1])
    """
    *refusals, value = start(source, nodes[0].address).finish()
    assert len(refusals) == 2
    for line in refusals:
        assert line.startswith("false ")
        assert "no room on this node" in line
        assert line.endswith("its memory_limit is 7000000 bytes (PS_ENOMEM)")
    assert value == "0"
    assert nodes[0].stats()["keys_held"] == 10_002


def test_an_intent_brings_the_keys(cluster: Cluster, start: Any) -> None:
    source = """
    local v = ffi.new('float[6]')
    kv:intent({2, 4}, 1, 3)
    kv:advance_clock()
    local clock = os.time()
    while not kv:pull_if_local({2, 4}, v) and os.time() < clock + 20 do end
    say(kv:pull_if_local({2, 4}, v), kv:current_clock())
    """
    assert start(source, cluster(2, 10, 3)[0].address).finish() == ["true 1"]


def test_statistics_tell_what_was_local(cluster: Cluster, start: Any) -> None:
    source = """
    kv:pull({1, 2, 3, 4}, {}) local stats = kv:stats()
    assert(kv.node:worker_stats().keys_pulled == 4)
    say(stats.keys_pulled, stats.keys_local, kv.node:stats().keys_held, kv.node:num_nodes(), kv.node:rank())
    """
    assert start(source, cluster(2, 10, 3)[1].address).finish() == ["4 2 5 2 1"]


def test_methods_have_the_names_of_torch_too(nodes: Nodes, start: Any) -> None:
    source = """
    local v = ffi.new('int64_t[3]')
    say(kv:pullIfLocal(1, v), kv:isFinished(-1), kv:waitAll(), kv:advanceClock(), kv:currentClock())
    say(kv:getKeySize(1), kv:numKeys(), kv.node:numKeys(), kv.node:valueLength(), kv.node:isOpen())
    """
    assert start(source, nodes[0].address).finish() == ["true true nil 1 1", "3 60 60 3 true"]


MIXED = """
local random = require 'math'.random
math.randomseed(number)
local seen = 0
for step = 1, 150 do
   local keys, v = {}, {}
   for i = 1, 5 do keys[i] = math.random(1, 8) v[2 * i - 1], v[2 * i] = 1, number end
   local last = kv:push(keys, v, step % 2 == 0)
   if step % 7 == 0 then kv:localize({keys[1], keys[2]}, step % 3 == 0) end
   if step % 5 == 0 then kv:intent({keys[3]}, kv:current_clock() + 1, kv:current_clock() + 3) end
   kv:advance_clock()
   local total, out = 0, ffi.new('int64_t[16]')
   kv:pull({1, 2, 3, 4, 5, 6, 7, 8}, out, step % 2 == 0)
   kv:waitall(40)
   for i = 0, 7 do total = total + tonumber(out[2 * i]) end
   assert(total >= 5 * step)
end
say('done')
"""


def python_worker(node: pyps.Server, number: int) -> None:
    random = np.random.default_rng(number)
    with node.worker() as kv:
        for step in range(1, 151):
            keys = random.integers(0, 8, 5)
            kv.push(keys, np.tile([1, number], 5), asynchronous=step % 2 == 0)
            if step % 7 == 0:
                kv.localize(keys[:2], asynchronous=step % 3 == 0)
            if step % 5 == 0:
                kv.intent(keys[2:3], kv.current_clock() + 1, kv.current_clock() + 3)
            kv.advance_clock()
        kv.waitall(40)


@pytest.mark.slow
@pytest.mark.parametrize("count", [1, 2])
def test_lua_and_python_workers_sum_exactly_while_keys_move(
    cluster: Cluster, luajit: Any, count: int
) -> None:
    nodes = cluster(count, 8, 2, dtype="int64")
    processes = [luajit(MIXED, node.address, 10 + rank) for rank, node in enumerate(nodes)]
    with ExitStack() as stack, ThreadPoolExecutor(2 * count) as pool:
        states = [stack.enter_context(bridge.Lua()) for _ in nodes]
        work = [pool.submit(python_worker, node, 100 + rank) for rank, node in enumerate(nodes)]
        for rank, state in enumerate(states):
            said: list[str] = []
            state.say = said.append
            state.execute(
                "ffi, luaps = require 'ffi', require 'luaps' kv = luaps.worker{address = ...}",
                nodes[rank].address,
            )
            state.number = 1000 + rank
            work.append(pool.submit(state.execute, MIXED))
        for process in processes:
            assert process.finish() == ["done"]
        for done in work:
            done.result(50)
        for state in states:
            state.execute("kv:finalize()")
    writers = [base + rank for base in (10, 100, 1000) for rank in range(count)]
    expected = [750 * len(writers), 750 * sum(writers)]
    end = time.monotonic() + 30
    while values_of(nodes[0]).sum(0).tolist() != expected and time.monotonic() < end:
        time.sleep(0.01)  # what replicas still have is on its way
    assert values_of(nodes[0]).sum(0).tolist() == expected
