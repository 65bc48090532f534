"""Pull, push, set and what else a worker does, from Lua states and from plain LuaJIT processes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pyps

# How LuaJIT writes an element of each dtype, and three numbers as their bits.
ELEMENTS = {
    "float32": ("float", "1.5, -2, 3"),
    "float64": ("double", "1.5, -2, 3"),
    "float16": ("uint16_t", "0x3e00, 0xc000, 0x4200"),
    "bfloat16": ("uint16_t", "0x3fc0, 0xc000, 0x4040"),
    "int32": ("int32_t", "1, -2, 3"),
    "int64": ("int64_t", "1, -2, 3"),
}


def test_what_lua_pushes_python_pulls(server: pyps.Server, start: Any, contents: Any) -> None:
    start("say(kv:push({2, 10}, ffi.new('float[6]', 1, 2, 3, 4, 5, 6)))", server.address).finish()
    expected = np.zeros((10, 3))
    expected[[1, 9]] = [[1, 2, 3], [4, 5, 6]]
    assert contents(server).tolist() == expected.reshape(-1).tolist()


def test_what_python_pushes_lua_pulls(server: pyps.Server, start: Any) -> None:
    with server.worker() as kv:
        kv.set([1, 9], np.arange(6, dtype=np.float32))
    source = "local v = ffi.new('float[6]') kv:pull({10, 2}, v) say(shown(v, 6))"
    assert start(source, server.address).finish() == ["3 4 5 0 1 2"]


def test_a_push_adds_and_a_set_replaces(server: pyps.Server, start: Any) -> None:
    source = """
    local v = ffi.new('float[3]', 1, 2, 3)
    kv:push(4, v) kv:push(4, v) kv:pull(4, v) say(shown(v, 3))
    kv:set(4, ffi.new('float[3]', 7)) kv:pull(4, v) say(shown(v, 3))
    """
    assert start(source, server.address).finish() == ["2 4 6", "7 7 7"]


def test_repeated_keys_add_each_and_keep_the_last_that_was_set(server: pyps.Server, start: Any) -> None:
    source = """
    local v = ffi.new('float[9]', 1, 1, 1, 2, 2, 2, 4, 4, 4)
    kv:push({5, 5, 5}, v) kv:pull({5, 1, 5}, v) say(shown(v, 9))
    kv:set({5, 1, 5}, ffi.new('float[9]', 1, 1, 1, 2, 2, 2, 3, 3, 3)) kv:pull({5, 1, 5}, v) say(shown(v, 9))
    """
    assert start(source, server.address).finish() == ["7 7 7 0 0 0 7 7 7", "3 3 3 2 2 2 3 3 3"]


@pytest.mark.parametrize("base", [0, 1])
def test_the_base_is_what_the_first_key_is_called(
    server: pyps.Server, start: Any, contents: Any, base: int
) -> None:
    source = """
    local kv = luaps.worker{address = select(1, ...), base = number}
    kv:push({number, 9 + number}, ffi.new('float[6]', 1, 1, 1, 2, 2, 2))
    say(kv:get_key_size(9 + number), kv:get_key_size(), select(2, pcall(kv.get_key_size, kv, 10 + number)))
    """
    (line,) = start(source, server.address, base).finish()
    limits = f"the server has keys {base} to {9 + base} (PS_EKEY)"
    assert line == f"3 3 luaps: key {10 + base} at position 1 is out of range: {limits}"
    assert contents(server)[[0, 29]].tolist() == [1, 2]


@pytest.mark.parametrize("dtype", ELEMENTS)
def test_every_dtype(start: Any, contents: Any, dtype: str) -> None:
    ctype, numbers = ELEMENTS[dtype]
    source = f"""
    local v = ffi.new('{ctype}[3]', {numbers})
    kv:push(1, v) kv:set({{2}}, v)
    local pulled = ffi.new('{ctype}[6]')
    kv:pull({{2, 1}}, pulled)
    for i = 0, 5 do assert(pulled[i] == v[i % 3]) end
    kv:push({{1}}, v)
    """
    with pyps.Server(2, 3, dtype=dtype) as server:
        start(source, server.address).finish()
        first = 1 if dtype.startswith("int") else 1.5
        assert contents(server).tolist() == [2 * first, -4, 6, first, -2, 3]


def test_values_of_different_lengths_lie_one_after_another(start: Any, contents: Any) -> None:
    source = """
    local v = ffi.new('float[6]', 1, 2, 3, 4, 5, 6)
    kv:push({3, 1, 2}, v) kv:pull({2, 3}, luaps.buffer(ffi.cast('float*', v), 5))
    say(shown(v, 6)) say(kv:get_key_size(1), kv:get_key_size(2), kv:get_key_size(3))
    """
    with pyps.Server(3, [1, 2, 3]) as server:
        assert start(source, server.address).finish() == ["5 6 1 2 3 6", "1 2 3"]
        assert contents(server).tolist() == [4, 5, 6, 1, 2, 3]


def test_no_keys_and_no_values_are_fine(server: pyps.Server, start: Any, contents: Any) -> None:
    source = """
    local none = ffi.new('float[?]', 0)
    say(kv:pull({}, none), kv:push({}, none), kv:set({}, none), kv:pull_if_local({}, none), kv:localize({}))
    """
    assert start(source, server.address).finish() == ["-1 -1 -1 true -1"]
    assert not contents(server).any()


def test_operations_return_timestamps_to_wait_for(server: pyps.Server, start: Any) -> None:
    source = """
    local v = ffi.new('float[3]')
    local first, second = kv:push(1, v, true), kv:pull(1, v, false)
    say(first, second, kv:set(1, v, true), kv:localize({1, 2}, true), kv:is_finished(first))
    kv:wait(first) kv:wait(first, second) kv:wait{first, second, timeout = 5} kv:wait() kv:waitall() kv:waitall(5)
    say(pcall(kv.wait, kv, first, 99)) say(pcall(kv.is_finished, kv, -7)) say(pcall(kv.wait, kv, nil))
    """
    timestamps, *errors = start(source, server.address).finish()
    assert timestamps == "-1 -1 -1 -1 true"
    assert [error.split(":")[0] for error in errors] == ["false luaps"] * 3
    assert "timestamp 99 was not returned" in errors[0]
    assert "timestamp -7 was not returned" in errors[1]
    assert errors[2] == "false luaps: timestamp must be a number, got nil"


def test_pull_if_local_pulls_where_every_key_is_here(server: pyps.Server, start: Any) -> None:
    source = "local v = ffi.new('float[3]', 9) say(kv:pull_if_local(3, v), shown(v, 3))"
    assert start(source, server.address).finish() == ["true 0 0 0"]


def test_clocks_and_intents(server: pyps.Server, start: Any) -> None:
    source = """
    say(kv:current_clock(), kv:advance_clock(), kv:advance_clock(), kv:current_clock())
    kv:intent({1, 2}, 3) kv:intent({1, 10}, 3, 5)
    """
    assert start(source, server.address).finish() == ["0 1 2 2"]


def test_a_worker_tells_about_itself_and_its_server(server: pyps.Server, start: Any) -> None:
    source = """
    kv:push({1, 2}, ffi.new('float[6]')) kv:pull(3, ffi.new('float[3]'))
    say(kv:num_keys(), kv:numKeys(), kv:id(), kv)
    local stats = kv:stats()
    say(stats.pushes, stats.keys_pushed, stats.pulls, stats.keys_pulled, stats.sets, stats.keys_local)
    """
    node = "luaps node: 10 keys, value_length 3, float32, open"
    assert start(source, server.address).finish() == [f"10 10 1 luaps.worker 1 of {node}", "1 2 1 1 0 3"]


def test_several_workers_in_one_program_see_each_others_values(server: pyps.Server, start: Any) -> None:
    source = """
    local other = luaps.worker{address = select(1, ...)}
    kv:push(1, ffi.new('float[3]', 5))
    local v = ffi.new('float[3]') other:pull(1, v) say(shown(v, 3), other:id())
    """
    assert start(source, server.address).finish() == ["5 5 5 2"]


@pytest.mark.parametrize("n", [1, 10, 1000, 30_000])
def test_many_keys_in_one_call(start: Any, contents: Any, n: int) -> None:
    source = """
    local keys, v = ffi.new('int64_t[?]', number), ffi.new('double[?]', 2 * number)
    for i = 0, number - 1 do keys[i], v[2 * i], v[2 * i + 1] = number - i, i, -i end
    for _ = 1, 3 do kv:push(keys, v) end
    """
    with pyps.Server(n, 2, dtype="float64") as server:
        start(source, server.address, n).finish()
        expected = 3.0 * np.arange(n)[::-1]
        assert np.array_equal(contents(server).reshape(n, 2), np.stack([expected, -expected], axis=1))
