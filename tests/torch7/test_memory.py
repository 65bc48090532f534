"""Memory of tensors: counted, collected in time, kept while it is used, refused when there is not enough."""

from __future__ import annotations

import resource
from pathlib import Path

import pytest

import bridge

MIB = 2**20


def resident() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()


def test_a_gigabyte_of_temporaries_does_not_grow_the_process(lua: bridge.Lua) -> None:
    lua.execute("for i = 1, 16 do local t = torch.Tensor(2^20):fill(i) end")
    before = resident()
    lua.execute("for i = 1, 128 do local t = torch.Tensor(2^20):fill(i) end")
    assert resident() - before < 128 * MIB


def test_many_small_temporaries_do_not_grow_the_process(lua: bridge.Lua) -> None:
    lua.execute("for i = 1, 200000 do local t = torch.Tensor(10):fill(i) end")
    before = resident()
    lua.execute("for i = 1, 1000000 do local t = torch.Tensor(10):fill(i) end")
    assert resident() - before < 64 * MIB


def test_what_is_held_is_counted_and_given_back(lua: bridge.Lua) -> None:
    lua.execute("heap = require('bridge.native').heap; collectgarbage(); before = tonumber(heap.held)")
    lua.execute("t = torch.ByteTensor(10 * 2^20)")
    assert lua.eval("tonumber(heap.held) - before") == 10 * MIB
    lua.execute("t = nil; collectgarbage()")
    assert lua.eval("tonumber(heap.held) - before") == 0


def test_more_memory_than_there_is_raises_and_changes_nothing(lua: bridge.Lua) -> None:
    lua.execute("t = torch.range(1, 3)")
    with pytest.raises(bridge.LuaError, match="memory"):
        lua.execute("t:resize(2^45)")
    with pytest.raises(bridge.LuaError, match="memory"):
        lua.execute("torch.DoubleStorage(2^45)")
    assert lua.eval("t:storage():size()") == 3


# Operands that are temporaries, in loops that LuaJIT compiles, with a collection before every allocation.
@pytest.mark.parametrize(
    "expression",
    [
        "torch.add(torch.ones(50), torch.zeros(50))",
        "torch.ones(5, 10):index(1, torch.LongTensor{1, 2, 3, 4, 5})",
        "torch.ones(5, 10):t():clone()",
        "torch.ones(5, 10):narrow(1, 1, 5)",
        "torch.ones(5, 10):view(50)",
        "torch.ones(5, 2):mm(torch.Tensor(5, 10):fill(0.1), torch.ones(10, 2)):repeatTensor(1, 5)",
        "torch.cat(torch.ones(25), torch.ones(25))",
        "torch.ones(60)[torch.ones(60):narrow(1, 1, 60):cumsum():le(50)]",
        "torch.sort(torch.ones(50))",
        "torch.ones(100):unfold(1, 2, 2):sum(2):mul(0.5)",
        "torch.ones(1, 10):expand(5, 10):contiguous()",
        "torch.ones(5, 2, 5):transpose(1, 3):reshape(50)",
        "torch.sigmoid(torch.zeros(100)):resize(50):mul(2)",
    ],
)
def test_operands_live_until_the_operation_is_done(lua: bridge.Lua, expression: str) -> None:
    lua.execute("heap = require('bridge.native').heap")
    lua.execute(f"""
       for i = 1, 300 do
          heap.limit = 0
          local s = ({expression}):sum()
          assert(math.abs(s - 50) < 1e-9, s)
       end
    """)
