"""Lua workers that ask which keys exist, delete some and look at the keys of a node."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.pyps.cluster import Cluster


@pytest.fixture(autouse=True)
def of_the_environment(library: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Lua processes open the ZeroMQ library that is here."""
    monkeypatch.setenv("PYPS_ZMQ", library)


def test_keys_come_and_go(luajit: Any) -> None:
    source = """
    local server = luaps.server{capacity = 10, value_length = 2, dtype = 'int64'}
    local kv = server:worker()
    local v = ffi.new('int64_t[20]')
    for turn = 1, 50 do
        local names = {}
        for i = 1, 10 do names[i] = turn * 10 + i end
        kv:push(names, v)
        assert(kv:delete(names) == 10)
    end
    kv:push({7, -3, 9}, ffi.new('int64_t[6]', 1))
    local there = kv:contains({7, 8, -3})
    say(tostring(there[1]), tostring(there[2]), tostring(there[3]), #there)
    say(kv:delete({7, 8}), kv:delete({7, 8}))
    say(tostring(kv:contains(7)[1]))
    local count, sum = 0, 0
    for found in kv:keys(1) do
        count, sum = count + found.n, sum + tonumber(found.pointer[0])
        kv:pull(found, ffi.new('int64_t[2]'))
    end
    say(count, sum)
    say(select(2, pcall(kv.delete, kv, {-1})))
    say(select(2, pcall(kv.keys, kv, 0)))
    kv:finalize()
    server:shutdown()
    """
    lines = luajit(source).finish()
    assert lines[:4] == ["true false true 3", "1 0", "false", "2 6"]
    assert "key -1 at position 0 is none" in lines[4] or "key -1 at position 1 is none" in lines[4]
    assert "chunk" in lines[5]


def test_keys_of_a_range_stay(luajit: Any) -> None:
    source = """
    local server = luaps.server{num_keys = 5, value_length = 1}
    local kv = server:worker{base = 1}
    say(tostring(kv:contains(1)[1]))
    local names = {}
    for found in kv:keys(2) do
        for i = 0, found.n - 1 do names[#names + 1] = tonumber(found.pointer[i]) end
    end
    say(table.concat(names, ' '))
    say(select(2, pcall(kv.delete, kv, {2})))
    kv:finalize()
    server:shutdown()
    """
    lines = luajit(source).finish()
    assert lines[:2] == ["true", "1 2 3 4 5"]
    assert "only a server without num_keys can delete keys" in lines[2]


def test_keys_of_several_nodes_go_too(start: Any) -> None:
    source = """
    local names = ffi.new('int64_t[100]')
    for i = 0, 99 do names[i] = 7919LL * (i + 1) end
    names = luaps.buffer(names)
    local before, deleted, again, after = kv:contains(names), kv:delete(names), kv:delete(names), kv:contains(names)
    local there = {0, 0}
    for i = 1, 100 do
        there[1], there[2] = there[1] + (before[i] and 1 or 0), there[2] + (after[i] and 1 or 0)
    end
    say(there[1], deleted, again, there[2])
    """
    keys = 7919 * np.arange(1, 101)
    with Cluster(2, dtype="int64", capacity=500) as cluster, cluster.nodes[1].worker() as kv:
        kv.push(keys, np.ones((100, 1), np.int64))
        kv.localize(keys[:50])
        assert start(source, cluster.nodes[0].address).finish() == ["100 100 0 0"]
        assert not kv.contains(keys).any()
        assert not kv.pull(keys).any()
