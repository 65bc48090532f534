"""A function over the elements of tensors, whatever it does meanwhile to the tensors it is called for."""

from __future__ import annotations

import pytest
import torch

import bridge
from tests.elements import ALL

# Tensors of 40,000 elements, which take several runs.
SHAPES = {
    "contiguous": "of(200, 200)",
    "a column": "of(40000, 3):select(2, 2)",
    "transposed": "of(100, 400):t()",
    "columns apart": "of(200, 400):narrow(2, 5, 200)",
}
# What a function does when it is first called, to a tensor t of 40,000 elements.
DEEDS = {
    "grows it": "t:resize(10^6)",
    "grows its storage": "t:storage():resize(10^6)",
    "shrinks it": "t:resize(1)",
    "shrinks its storage": "t:storage():resize(1)",
    "empties it": "t:resize(0)",
    "gives it another storage": "t:set(torch.DoubleStorage(40000))",
    "takes its storage away": "t:set()",
}


@pytest.fixture(autouse=True)
def of(lua: bridge.Lua) -> None:
    lua.execute("""
       function made(name)
          return function(...)
             local t = torch[name .. 'Tensor'](...)
             return t:copy(torch.range(1, t:nElement()):fmod(100))
          end
       end
    """)


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
@pytest.mark.parametrize("name", ALL)
def test_every_element_is_replaced_by_what_the_function_returns(
    lua: bridge.Lua, name: str, shape: str
) -> None:
    lua.execute(
        f"""
        local of = made(...)
        local t, a = {shape}, {shape}:clone()
        local before = t:double():clone()
        t:apply(function(x) return x + 1 end)
        assert(t:double():equal(before + 1))
        t:map(a, function(x, y) return x - y end)
        assert(t:double():eq(1):all())
        t:map2(a, {shape}, function(x, y, z) return x + y + z > 100 and 3 or nil end)
        assert(t:double():equal(torch.cmul(before:gt(49):double(), before:clone():fill(2)) + 1))
        """,
        name,
    )


@pytest.mark.parametrize("call", ["t:apply(f)", "t:map(t, f)", "other:map2(t, t, f)"])
@pytest.mark.parametrize("deed", DEEDS.values(), ids=DEEDS)
def test_the_function_may_do_anything_to_the_tensor(lua: bridge.Lua, deed: str, call: str) -> None:
    lua.execute(
        f"""
        for round = 1, 5 do
           local t, other, calls = torch.DoubleTensor(40000):fill(7), torch.DoubleTensor(40000):fill(7), 0
           local function f(x)
              calls = calls + 1
              if calls == 1 then
                 {deed}
                 collectgarbage()
                 kept = {{}}
                 for i = 1, 20 do
                    kept[i] = torch.DoubleTensor(40000):fill(-1)
                 end
              end
              return 5
           end
           local fine, why = pcall(function() {call} end)
           assert(fine or why:find('released or shrunk', 1, true), why)
           for i = 1, 20 do
              assert(kept[i]:eq(-1):all())
           end
        end
        """
    )


def test_memory_that_python_moves_is_looked_for_at_every_element(lua: bridge.Lua) -> None:
    tensor = torch.full((1000,), 7.0, dtype=torch.double)
    lua.move = lambda: tensor.resize_(10**6).fill_(1) is None
    lua.execute(
        """
        local t, calls = ..., 0
        t:apply(function(x)
           calls = calls + 1
           if calls == 10 then
              move()
           end
           return x + 1
        end)
        """,
        tensor,
    )
    assert tensor[:9].eq(1).all()
    assert tensor[10:1000].eq(2).all()


def test_what_an_error_leaves_is_given_back(lua: bridge.Lua) -> None:
    lua.execute(
        """
        local heap = require('bridge.native').heap
        collectgarbage() collectgarbage()
        local before = tonumber(heap.held)
        for i = 1, 10 do
           local fine, why = pcall(function()
              torch.DoubleTensor(10^5):apply(function() error('stop', 0) end)
           end)
           assert(not fine and why == 'stop')
        end
        collectgarbage() collectgarbage()
        assert(tonumber(heap.held) <= before)
        """
    )


def test_a_result_that_is_no_number_is_an_error(lua: bridge.Lua) -> None:
    lua.execute("t = torch.zeros(3):apply(function() return '4' end) assert(t:eq(4):all())")
    with pytest.raises(bridge.LuaError, match="given function should return a number"):
        lua.execute("torch.zeros(3):apply(function() return {} end)")


def test_each_of_many_functions_is_the_one_that_is_called(lua: bridge.Lua) -> None:
    lua.execute(
        """
        local t = torch.zeros(2000)
        for i = 1, 600 do
           local f = loadstring('return function(x) return x + ' .. i .. ' end, function(x) return x - 1 end')
           local add, take = f()
           t:apply(add):apply(take)
           t:apply(function(x) return x - i end)
        end
        assert(t:eq(-600):all())
        """
    )
