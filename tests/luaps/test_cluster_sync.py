"""Lua programs that wait for the workers of all nodes, and until what is on its way has arrived."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

import pyps
from tests.luaps.nodes import NUM_KEYS, Cluster, Nodes, values_of


def test_a_barrier_spans_the_workers_of_all_nodes(cluster: Cluster, luajit: Any) -> None:
    nodes = cluster(2, 10, 1, num_workers=2)
    source = """
    local v = {}
    for step = 1, 20 do
       kv:push({1, 2}, {1, 1}) kv:barrier(30)
       kv:pull({1, 2}, v) assert(v[1] == 4 * step and v[2] == 4 * step) kv:barrier(30)
    end
    say('done')
    """
    programs = [luajit(source, node.address) for node in nodes]
    with ThreadPoolExecutor(2) as pool:

        def work(node: pyps.Server) -> None:
            out = np.zeros(2, np.float32)
            with node.worker() as kv:
                for step in range(1, 21):
                    kv.push([0, 1], np.ones(2, np.float32))
                    kv.barrier(30)
                    kv.pull([0, 1], out)
                    assert out.tolist() == [4 * step] * 2
                    kv.barrier(30)

        list(pool.map(work, nodes, timeout=50))
    assert [program.finish() for program in programs] == [["done"]] * 2


def test_values_that_were_set_up_are_seen_by_all(cluster: Cluster, luajit: Any) -> None:
    nodes = cluster(2, 10, 1, num_workers=1)
    source = """
    kv:begin_setup()
    kv:set({1 + number, 3 + number}, {5, 6}, true)
    kv:endSetup(30)
    local v = {}
    kv:pull({1, 2, 3, 4}, v) say(table.concat(v, ' '), kv:stats().sets)
    kv:intent({1, 2}, 0, 5) kv:waitSync(30)
    say(kv:pull_if_local({1, 2}, {}))
    kv:barrier(30)
    kv:push({1, 2}, {1, 1}) kv:barrier(30) kv:quiesce(30) kv:barrier(30) kv:quiesce(30)
    local w = {} kv:pull({1, 2}, w) say(w[1], w[2])
    kv:barrier(30)
    """
    programs = [luajit(source, node.address, rank) for rank, node in enumerate(nodes)]
    for program in programs:
        assert program.finish() == ["5 5 6 6 0", "true", "7 7"]


@pytest.mark.slow
def test_a_wait_for_nodes_that_never_answer_ends_with_its_timeout(cluster: Cluster, start: Any) -> None:
    source = """
    kv:intent({2}, 0, 10)
    for _, name in ipairs{'wait_sync', 'quiesce', 'endSetup'} do say(pcall(kv[name], kv, 0.3)) end
    kv:pull(2, {}, true)
    say(pcall(kv.waitSync, kv, 0.2))
    """
    exchange = "false luaps: the exchange with other nodes has not finished in time (PS_ETIMEDOUT)"
    operations = "false luaps: the operations on their way have not finished in time (PS_ETIMEDOUT)"
    assert start(source, cluster(2, 10, 1, quiet=True)[0].address).finish() == [exchange] * 3 + [operations]


def test_lua_waits_until_what_it_intends_to_use_is_here_and_what_it_pushed_is_everywhere(
    nodes: Nodes, start: Any
) -> None:
    source = """
    local keys, v = {}, {}
    for i = 1, 60 do keys[i] = i end
    kv:intent(keys, 0, 100) kv:wait_sync(20)
    say(kv:pull_if_local(keys, v))
    kv:push({1, 2}, {1, 1, 1, 2, 2, 2}, true)
    kv:intent(keys, 100, 101)
    for _ = 1, 5 do kv:push({2}, {0, 0, 0}) kv:wait_sync(20, 2) end
    say(pcall(kv.wait_sync, kv, 20, -1))
    kv:quiesce(20)
    say(kv:stats().keys_remote, kv:stats().keys_pushed_local)
    kv:beginSetup()
    kv:set({3}, {9, 9, 9})
    say(kv:stats().sets)
    kv:endSetup(20)
    say(kv:stats().sets)
    """
    refusal = "false luaps: behind is -1; it must be at least 1 (PS_EINVAL)"
    assert start(source, nodes[0].address).finish() == ["true", refusal, "0 7", "1", "0"]
    for node in nodes:
        assert values_of(node)[:3, 0].tolist() == [1, 2, 9]
    moved = NUM_KEYS - NUM_KEYS // len(nodes)
    assert [node.stats()["relocations_in"] for node in nodes] == [moved, *[0] * (len(nodes) - 1)]


@pytest.mark.slow
def test_waits_end_with_their_timeout(cluster: Cluster, start: Any) -> None:
    source = """
    local v = ffi.new('float[1]')
    local pulled = kv:pull(2, v, true)
    say(kv:is_finished(pulled), pcall(kv.wait, kv, {pulled, timeout = 0.3}))
    say(pcall(kv.waitall, kv, 0.2))
    say(kv:future(pulled):done())
    """
    first, second, third = start(source, cluster(2, 10, 1, quiet=True)[0].address).finish()
    assert first == (
        "false false luaps: the operation with timestamp 0 has not ended within 0.3 s (PS_ETIMEDOUT)"
    )
    assert second == "false luaps: the operations on their way have not ended within 0.2 s (PS_ETIMEDOUT)"
    assert third == "false"


@pytest.mark.slow
def test_an_operation_without_an_answer_ends_with_its_timeout(cluster: Cluster, start: Any) -> None:
    source = """
    local v = ffi.new('float[1]')
    for i, name in ipairs{'pull', 'push', 'set'} do say(pcall(kv[name], kv, 2 * i, ffi.new('float[1]'), false, 0.3)) end
    say(pcall(kv.localize, kv, 8, false, 0.3))
    say(kv:pull(1, v, false, 5), v[0])
    """
    lines = start(source, cluster(2, 10, 1, quiet=True)[0].address).finish()
    for line, name in zip(lines, ["pull", "push", "set", "localize"], strict=False):
        assert line.startswith(f"false luaps: the {name} of 1 keys was sent, and ")
        assert line.endswith("it has not finished in time (timeout: 0.3 s, PS_ETIMEDOUT)")
    assert lines[4] == "-1 0"


@pytest.mark.slow
def test_an_operation_that_waits_for_its_turn_ends_with_its_timeout_unsent(
    cluster: Cluster, start: Any
) -> None:
    source = """
    local v, w = ffi.new('float[1]'), ffi.new('float[1]')
    kv:pull(2, v, true)
    say(pcall(kv.push, kv, 2, w, true, 0.3))
    say(pcall(kv.push, kv, 4, v, true, 0.05))
    say(pcall(kv.push, kv, 4, w, true, -1))
    """
    late = "false luaps: nothing was sent: {} has not finished in time (timeout: {:g} s, PS_ETIMEDOUT)"
    assert start(source, cluster(2, 10, 1, quiet=True)[0].address).finish() == [
        late.format("earlier operations on the same keys", 0.3).replace(" has ", " have "),
        late.format("an earlier pull into the same buffer", 0.05),
        "false luaps: timeout is -1; it must be a number of seconds, or nil for the default",
    ]
