"""Lua servers whose keys are any numbers and whose values have several lengths, beside Python workers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import bridge
import pyps
from pyps import classed_keys


@pytest.fixture(autouse=True)
def of_the_environment(library: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Lua processes open the ZeroMQ library that is here."""
    monkeypatch.setenv("PYPS_ZMQ", library)


def test_a_key_says_which_length_its_value_has(luajit: Any) -> None:
    source = """
    local server = luaps.server{capacity = 1000, value_length = {2, 1, 3}, dtype = 'int64', num_workers = 2}
    say(server:address(), tostring(server:value_length()))
    local kv, of = server:worker(), luaps.classed_keys
    local keys = {of(0, 7), of(2, 7), of(1, 7), 5}
    local v = ffi.new('int64_t[8]', 1, 2, 3, 4, 5, 6, 7, 8)
    kv:push(keys, v)
    kv:barrier(30)
    kv:barrier(30)
    kv:pull(keys, v)
    say(shown(v, 8), kv:get_key_size(of(2, 9)))
    say(select(2, pcall(kv.pull, kv, {5, of(3, 1)}, v)))
    say(select(2, pcall(kv.pull, kv, {-1}, v)))
    say(select(2, pcall(kv.push, kv, {of(1, 1)}, v)))
    local async = kv:pull(keys, v, true)
    kv:wait(async)
    say(shown(v, 8))
    kv:localize(keys)
    kv:intent(keys, 0, 1)
    kv:finalize()
    server:shutdown()
    """
    program = luajit(source)
    address, *rest = program.line().split()
    assert rest == ["nil"]
    keys = [7, *classed_keys(2, [7]), *classed_keys(1, [7])]
    with pyps.attach(address) as node, node.worker() as kv:
        kv.barrier(timeout=30)
        assert kv.pull(keys).tolist() == [1, 2, 3, 4, 5, 6]
        kv.push(keys, np.ones(6, np.int64))
        kv.barrier(timeout=30)
        lines = program.finish()
    assert lines[0] == "2 3 4 5 6 7 7 8 3"
    assert f"key {3 * 2**56 + 1} at position 2 is of length class 3, but there are only 3" in lines[1]
    assert "key -1 at position 1 is of length class 255, but there are only 3" in lines[2]
    assert "PS_ESIZE" in lines[3]
    assert lines[4] == "2 3 4 5 6 7 7 8"


@pytest.mark.parametrize(
    ("ids", "found"),
    [
        ("5", "int64_t 5"),
        ("5LL", "int64_t 5"),
        ("{5, 6LL}", "table 5 6"),
        ("ffi.new('int64_t[2]', 5, 6)", "int64_t [?] 5 6"),
        ("ffi.new('double[2]', 5, 6)", "int64_t [?] 5 6"),
    ],
)
def test_keys_of_a_class_without_torch(luajit: Any, ids: str, found: str) -> None:
    source = f"""
    local made = luaps.classed_keys(3, {ids})
    local function id(key) return tostring(tonumber(key - 3LL * 2LL ^ 56)) end
    local kind = type(made) == 'cdata' and tostring(ffi.typeof(made)):match('^ctype<(.*)>$') or type(made)
    if kind == 'int64_t' then
        say(kind, id(made))
    elseif kind == 'table' then
        say(kind, id(made[1]), id(made[2]))
    else
        say(kind, id(made[0]), id(made[1]))
    end
    """
    assert luajit(source).finish() == [found]


def test_a_tensor_of_ids_becomes_one_of_keys(lua: bridge.Lua) -> None:
    source = """
    local of, unchanged = require('luaps').classedKeys, torch.LongTensor{1, 2}
    local made = of(1, unchanged)
    local matrix = of(127, torch.IntTensor{{1, 2, 3}, {4, 5, 6}}:t())
    return torch.type(made), made, unchanged, matrix
    """
    kind, made, unchanged, matrix = lua.execute(source)
    assert kind == "torch.LongTensor"
    assert made.tolist() == [2**56 + 1, 2**56 + 2]
    assert unchanged.tolist() == [1, 2]
    assert (np.asarray(matrix) - 127 * 2**56).tolist() == [[1, 4], [2, 5], [3, 6]]


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ("128, 1", "the length class is 128; it must be in [0, 127]"),
        ("'a', 1", "the length class must be a number"),
        ("0, {3, -1}", "id -1 at position 2 is outside [0, 2^56)"),
        ("0, 0x100000000000000LL", "id 72057594037927936 at position 1 is outside [0, 2^56)"),
        ("0, {0.5}", "ids: 0.5 at position 1 is not a whole number"),
        ("0, 'x'", "ids must be a number, a table of numbers"),
    ],
)
def test_what_makes_no_key_of_a_class_is_refused(luajit: Any, arguments: str, text: str) -> None:
    (line,) = luajit(f"say(select(2, pcall(luaps.classed_keys, {arguments})))").finish()
    assert line.startswith("luaps: ")
    assert text in line
