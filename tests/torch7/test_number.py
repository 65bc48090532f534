"""NaNs of every pattern of bits are numbers in Lua.

LuaJIT would take most of those below for nil, booleans, or tables and strings at an address that the data chose.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator

import numpy as np
import pytest

import bridge

DOUBLES = [0xFFFFFFFFFFFFFFFF, 0xFFFA000000001234, 0xFFF8000000000001, 0xFFF9000000000000, 0xFFFC800012345678]
DOUBLES += [0xFFFE000000000000, 0x7FFFFFFFFFFFFFFF, 0xFFF0000000000001, 0x7FF0000000000001]
FLOATS = [0xFFFFFFFF, 0xFFC80000, 0xFFD00001, 0xFFE81234, 0xFF880000, 0x7FC00000, 0xFFC00000, 0xFF800001]
HALVES = [0xFFFF, 0xFE00, 0xFF40, 0x7E00, 0xFC01]
ARRAYS = {
    "Double": np.array(DOUBLES, np.uint64).view(np.float64),
    "Float": np.array(FLOATS, np.uint32).view(np.float32),
    "Half": np.array(HALVES, np.uint16).view(np.float16),
}
READS = {
    "t[i]": "local r = {} for i = 1, t:size(1) do r[i] = t[i] end return r",
    "t[{i, j}]": "local m, r = t:view(t:size(1), 1), {} for i = 1, t:size(1) do r[i] = m[{i, 1}] end return r",
    "m[i][j]": "local m, r = t:view(t:size(1), 1), {} for i = 1, t:size(1) do r[i] = m[i][1] end return r",
    "storage[i]": "local s, r = t:storage(), {} for i = 1, #s do r[i] = s[i] end return r",
    "totable": "return t:totable()",
    "storage:totable": "return t:storage():totable()",
    "apply": "local r = {} t:apply(function(x) r[#r + 1] = x end) return r",
    "map": "local r = {} t:map(t, function(_, x) r[#r + 1] = x end) return r",
    "select": "local r = {} for i = 1, t:size(1) do r[i] = t:select(1, i) end return r",
}
REDUCTIONS = ["sum", "prod", "max", "min", "mean", "var", "std", "norm"]


@pytest.fixture(scope="module")
def lua() -> Iterator[bridge.Lua]:
    with bridge.Lua() as state:
        state.require("torch")
        state.execute("""
           function allnan(list, n)
              assert(#list == n)
              for i = 1, n do
                 assert(type(list[i]) == 'number' and list[i] ~= list[i], tostring(i))
              end
              return true
           end
        """)
        yield state


@pytest.mark.parametrize("compiled", [True, False], ids=["compiled", "interpreted"])
@pytest.mark.parametrize("read", READS.values(), ids=READS)
@pytest.mark.parametrize("name", ARRAYS)
def test_what_is_read_is_a_number(lua: bridge.Lua, name: str, read: str, compiled: bool) -> None:
    array = np.tile(ARRAYS[name], 40)
    read = read if compiled else f"jit.off() local function go() {read} end local r = go() jit.on() return r"
    assert lua.execute(f"local t = ... return allnan((function() {read} end)(), t:size(1))", array)


@pytest.mark.parametrize("reduction", REDUCTIONS)
@pytest.mark.parametrize("name", ["Double", "Float"])
def test_what_is_computed_is_a_number(lua: bridge.Lua, name: str, reduction: str) -> None:
    for value in ARRAYS[name]:
        array = np.array([value, value], ARRAYS[name].dtype)
        assert lua.execute(
            f"local t = ... return allnan({{t:{reduction}(), t:dot(t), t:dist(t * 2)}}, 3)", array
        )


def test_infinities_and_ordinary_numbers_stay_what_they_are(lua: bridge.Lua) -> None:
    values = [np.inf, -np.inf, -0.0, 1.5, -1.5, 65504.0]
    for dtype in (np.float64, np.float32, np.float16):
        array = np.array(values, dtype)
        assert lua.execute("local t, r = ..., {} for i = 1, 6 do r[i] = t[i] end return r", array) == values


@pytest.mark.parametrize("name", ["Double", "Float"])
def test_they_print_and_train(lua: bridge.Lua, name: str) -> None:
    lua.require("nn")
    text, loss = lua.execute(
        """
        local t = ...
        local log = t:view(1, t:size(1))
        local criterion = nn.ClassNLLCriterion():type(t:type())
        tostring(t:storage())
        pcall(torch.histc, t, 3, 0, 1)
        torch.match(t:view(-1, 1), t:view(-1, 1))
        return tostring(t) .. tostring(log), (criterion:forward(log, torch.LongTensor{1}))
        """,
        ARRAYS[name],
    )
    assert text.count("nan") == 2 * len(ARRAYS[name])
    assert np.isnan(loss)


@pytest.mark.slow
def test_uninitialised_memory_of_any_bits_does_no_harm() -> None:
    """In a process of its own: what this guards against ends it."""
    program = """
import random, bridge, numpy as np
random.seed(3)
with bridge.Lua() as lua:
    use = lua.execute('''
       require 'torch'
       return function(t)
          local kept = {}
          for i = 1, t:size(1) do kept[i] = t[i] end
          t:apply(function(x) kept[#kept + 1] = x end)
          collectgarbage()
          for i = 1, #kept do assert(type(kept[i]) == 'number') end
          return #tostring(t) + #tostring(t:storage())
       end
    ''')
    for _ in range(200):
        bits = np.frombuffer(random.randbytes(800), np.uint64) | np.uint64(0xFFF8000000000000)
        assert use(bits.view(np.float64)) > 0
        assert use((bits >> np.uint64(32)).astype(np.uint32).view(np.float32)) > 0
"""
    subprocess.run([sys.executable, "-c", program], check=True, timeout=60)
