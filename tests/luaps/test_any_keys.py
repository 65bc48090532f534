"""A Lua server whose keys are any numbers, beside Python workers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pyps
from tests.pyps.any_keys import used_until_full
from tests.pyps.cluster import Cluster


@pytest.fixture(autouse=True)
def of_the_environment(library: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Lua processes open the ZeroMQ library that is here."""
    monkeypatch.setenv("PYPS_ZMQ", library)


def test_a_full_server_and_a_full_table_let_keys_go(luajit: Any) -> None:
    source = """
    local server = luaps.server{capacity = 100, eviction = 'lru'}
    server:table('users', {dim = 1, capacity = 50, eviction = 'lfu'})
    local kv = server:worker()
    local users = kv:table('users')
    for key = 1, 1000 do
       kv:push(key, {1})
       users:push(key, {1})
    end
    local v = ffi.new('float[1]')
    kv:pull(1, v)
    for _, node in ipairs{server, users.node} do
       say(node:stats().keys_held, node:stats().keys_evicted, v[0])
    end
    kv:finalize()
    server:shutdown()
    """
    lines = luajit(source).finish()
    assert lines == ["100 901 0", "50 950 0"]


def test_keys_that_nobody_uses_go(luajit: Any) -> None:
    source = """
    local server = luaps.server{capacity = 100, max_age = 0.2}
    server:table('users', {dim = 1, capacity = 50, max_age = 0.3, eviction = 'lfu'})
    local kv = server:worker()
    kv:push({1, 2, 3}, {1, 1, 1})
    kv:table('users'):push(7, {1})
    for _, node in ipairs{server, kv:table('users').node} do
       while node:stats().keys_held > 0 do end
       say(node:stats().keys_expired, node:stats().keys_evicted)
    end
    kv:finalize()
    server:shutdown()
    """
    assert luajit(source).finish() == ["3 0", "1 0"]


def test_keys_exist_when_they_were_used_often_enough(luajit: Any) -> None:
    source = """
    local server = luaps.server{capacity = 100, admission = 3, initializer = 'constant:value=5'}
    server:table('users', {dim = 1, capacity = 50, admission = 2})
    local kv = server:worker()
    local v = ffi.new('float[1]')
    kv:push({7, 8}, {1, 1})
    kv:pull(7, v)
    say(v[0], server:stats().keys_held, server:stats().keys_waiting, server:stats().pushes_dropped)
    kv:push({7, 8}, {1, 1})
    kv:pull(7, v)
    say(v[0], server:stats().keys_held, server:stats().keys_waiting, server:stats().pushes_dropped)
    for _ = 1, 2 do
       kv:table('users'):push(7, {1})
       say(kv:table('users').node:stats().keys_held)
    end
    kv:finalize()
    server:shutdown()
    """
    assert luajit(source).finish() == ["5 0 2 2", "6 1 1 3", "0", "1"]


def test_keys_of_several_lengths_go_for_each_other(luajit: Any) -> None:
    source = """
    local server = luaps.server{capacity = 10, value_length = {1, 3}, eviction = 'lru'}
    local kv = server:worker()
    for id = 1, 100 do
       kv:push(luaps.classed_keys(0, {id}), {1})
       kv:push(luaps.classed_keys(1, {id}), {1, 1, 1})
    end
    say(server:stats().keys_held, server:stats().keys_evicted)
    kv:finalize()
    server:shutdown()
    """
    assert luajit(source).finish() == ["10 190"]


def test_keys_are_what_they_are_called(luajit: Any) -> None:
    source = """
    local server = luaps.server{capacity = 1000, value_length = 2, dtype = 'int64', num_workers = 2}
    say(server:address(), tostring(server:num_keys()))
    local kv = server:worker()
    local v = ffi.new('int64_t[4]', 1, 1, 2, 2)
    kv:push({7, -3}, v)
    kv:push(ffi.new('int64_t[1]', 0x7fffffffffffffffLL), ffi.new('int64_t[2]', 5, 5))
    kv:barrier(30)
    kv:barrier(30)
    kv:pull({7, -3}, v)
    say(shown(v, 4))
    say(select(2, pcall(kv.pull, kv, {-1}, ffi.new('int64_t[2]'))))
    say(select(2, pcall(server.enable_sampling_support, server,
        {scheme = 'naive', distribution = 'uniform', with_replacement = true})))
    local async = kv:pull({100, 7}, v, true)
    kv:wait(async)
    say(shown(v, 4))
    kv:finalize()
    server:shutdown()
    """
    program = luajit(source)
    address, *rest = program.line().split()
    assert rest == ["nil"]
    with pyps.attach(address) as node, node.worker() as kv:
        assert node.num_keys is None
        kv.barrier(timeout=30)
        assert kv.pull([7, -3, 2**63 - 1]).tolist() == [[1, 1], [2, 2], [5, 5]]
        kv.push([7], np.ones((1, 2), np.int64))
        kv.barrier(timeout=30)
        lines = program.finish()
    assert lines[0] == "2 2 2 2"
    assert "key -1 at position 1 is none: keys are any 64-bit numbers but -1" in lines[1]
    assert "may be any numbers: give it num_keys" in lines[2]
    assert lines[3] == "0 0 2 2"


def test_more_keys_than_the_capacity_are_an_error(luajit: Any) -> None:
    source = """
    local server = luaps.server{capacity = 2, dtype = 'int64'}
    local kv, v = server:worker(), ffi.new('int64_t[3]', 1, 1, 1)
    say(select(2, pcall(kv.push, kv, {1, 2, 3}, v)))
    kv:push({1, 2}, ffi.new('int64_t[2]', 4, 4))
    kv:pull({1, 2, 2}, v)
    say(shown(v, 3))
    server:shutdown()
    """
    refused, found = luajit(source).finish()
    assert "its capacity is 2 keys" in refused
    assert "PS_ENOMEM" in refused
    assert found == "4 4 4"


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ("num_keys = 3, capacity = 3", "give one of them"),
        ("capacity = 0", "capacity is 0; it must be in [1,"),
        ("num_keys = 0", "num_keys is 0; it must be in [1,"),
        ("capacity = 'many'", "capacity must be a number"),
        ("value_length = {1, 2}", "say num_keys for one for each key, or capacity if"),
        ("value_length = {}", "0 value lengths were given"),
        (
            "value_length = {}, capacity = 9",
            "0 value lengths were given; keys that may be any numbers have 1 to",
        ),
    ],
)
def test_options_that_do_not_fit(luajit: Any, options: str, text: str) -> None:
    source = f"local ok, text = pcall(luaps.server, {{{options}}})\nsay(tostring(ok), text)"
    (line,) = luajit(source).finish()
    assert line.startswith("false luaps: ")
    assert text in line


def test_a_key_without_room_at_its_home_is_refused_to_another_node(start: Any) -> None:
    source = """
    local v = ffi.new('int64_t[1]')
    local ok, refused = pcall(kv.localize, kv, {number})
    say(tostring(ok), tostring(refused))
    kv:intent({number}, 0, 10)
    kv:wait_sync()
    say(select(2, pcall(kv.pull, kv, {number}, v)))
    kv:localize({1})
    kv:pull({1}, v)
    say(shown(v, 1))
    """
    with Cluster(2, dtype="int64", capacity=50) as cluster:
        used = len(used_until_full(cluster.nodes[0], list(range(1, 101))))
        home, other = sorted(cluster.nodes, key=lambda node: -node.stats()["keys_held"])
        assert (home.stats()["keys_held"], other.stats()["keys_held"]) == (50, used - 50)
        localized, pulled, found = start(source, other.address, used + 1).finish()
        assert localized.startswith("false ")
        for line in (localized, pulled):
            assert "its capacity is 50 keys" in line
            assert "PS_ENOMEM" in line
        assert found == "1"
        assert other.stats()["keys_without_room"] == 1
        assert home.is_open
        assert other.is_open
