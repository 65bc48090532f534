"""Lua workers that ask which keys exist, delete some and look at the keys of a node."""

from __future__ import annotations

from typing import Any

import pytest


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
