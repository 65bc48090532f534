"""Every kind of keys means the same keys, in both bases."""

from __future__ import annotations

from typing import Any

import pytest

import bridge

KEYS = [3, 10, 3, 1, 7]
# Each makes these keys, which $ stands for; in a worker with base 0 they are shifted by `s` = -1.
KINDS = {
    "a list": "{$}",
    "a list of int64": "{3LL + s, 10 + s, 3LL + s, 1LL + s, 7 + s}",
    **{
        f"torch.{name}Tensor": f"torch.{name}Tensor{{$}}"
        for name in ("Long", "Int", "Short", "Char", "Byte", "Float", "Double")
    },
    "a column of a matrix": "torch.LongTensor{{$}, {$}}:t():contiguous():select(2, 1)",
    "a column of doubles": "torch.DoubleTensor{{$}, {$}}:t():contiguous():select(2, 1)",
    "a part of a tensor": "torch.LongTensor{99, $, 99}:narrow(1, 2, 5)",
    "a matrix": "torch.LongTensor{{$}}",
    "a transposed matrix": "torch.LongTensor{{$}}:t()",
    "an FFI array of int64": "ffi.new('int64_t[5]', $)",
    "an FFI array of int32": "ffi.new('int32_t[?]', 5, $)",
    "an FFI array of double": "ffi.new('double[5]', $)",
    "a const FFI array": "ffi.new('const int64_t[5]', {$})",
    "a buffer": "luaps.buffer(ffi.new('int64_t[5]', $))",
    "the start of a buffer": "luaps.buffer(ffi.new('int64_t[6]', $, 99), 5)",
    "a pointer and a count": "luaps.buffer(pointer($), 5)",
}
SINGLE = {
    "a number": "7 + s",
    "an int64": "7LL + s",
    "a list of one": "{7 + s}",
    "a tensor of one": "torch.LongTensor{7 + s}",
}
POINTER = "function pointer(...) kept = ffi.new('int64_t[5]', ...) return ffi.cast('int64_t*', kept) end "


def pulled(lua: bridge.Lua, keys: str, base: int, count: int) -> Any:
    """Return the first element of each value that is pulled with the keys; value k holds k."""
    lua.execute("for k = 1, 10 do kv:set(k, torch.FloatTensor(3):fill(k)) end")
    return lua.execute(
        f"""
        local base, n = ...
        local s = base - 1
        {POINTER}
        local kv = luaps.worker{{address = address_of_kv, base = base}}
        local keys = {keys.replace("$", "3 + s, 10 + s, 3 + s, 1 + s, 7 + s")}
        local v = torch.FloatTensor(n, 3)
        kv:pull(keys, v)
        kv:finalize()
        return v:select(2, 1):totable()
        """,
        base,
        count,
    )


@pytest.fixture
def lua(lua: bridge.Lua, server: Any) -> bridge.Lua:
    lua.address_of_kv = server.address
    return lua


@pytest.mark.parametrize("base", [0, 1])
@pytest.mark.parametrize("keys", KINDS.values(), ids=KINDS)
def test_kinds_of_keys(lua: bridge.Lua, keys: str, base: int) -> None:
    assert pulled(lua, keys, base, 5) == KEYS


@pytest.mark.parametrize("base", [0, 1])
@pytest.mark.parametrize("keys", SINGLE.values(), ids=SINGLE)
def test_kinds_of_single_keys(lua: bridge.Lua, keys: str, base: int) -> None:
    assert pulled(lua, keys, base, 1) == [7]


@pytest.mark.parametrize(
    "keys", ["{}", "torch.LongTensor()", "ffi.new('int64_t[?]', 0)", "torch.DoubleTensor()"]
)
def test_kinds_of_no_keys(lua: bridge.Lua, keys: str) -> None:
    assert lua.execute(f"return kv:pull({keys}, torch.FloatTensor())") == -1


def test_keys_stay_as_they_are(lua: bridge.Lua) -> None:
    source = "local keys = torch.LongTensor{3, 1} kv:pull(keys, torch.FloatTensor(6)) return keys:totable()"
    assert lua.execute(source) == [3, 1]


def test_a_numpy_array_from_python_serves_as_keys(lua: bridge.Lua) -> None:
    import numpy as np

    out = np.zeros((2, 3), np.float32)
    lua.execute("kv:set(7, torch.FloatTensor{1, 2, 3})")
    lua.eval("function(keys, values) kv:pull(keys, values) end")(np.array([7, 1]), out)
    assert out.tolist() == [[1, 2, 3], [0, 0, 0]]
