"""Programs that differentiate others by replacing all functions of torch, as torch-autograd does."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import bridge

SETUP = """
require 'nn'
pcall(require, 'cutorch') -- as such programs ask whether there is a GPU
tape = require 'tape'
-- The largest difference between the gradients and finite differences.
function check(f, parameters, ...)
   local gradients = tape.grad(f)(parameters, ...)
   local worst = 0
   for name, parameter in pairs(parameters) do
      local flat = parameter:view(-1)
      for i = 1, flat:size(1) do
         local kept = flat[i]
         flat[i] = kept + 1e-6
         local _, more = tape.grad(f)(parameters, ...)
         flat[i] = kept - 1e-6
         local _, less = tape.grad(f)(parameters, ...)
         flat[i] = kept
         worst = math.max(worst, math.abs((more - less) / 2e-6 - gradients[name]:contiguous():view(-1)[i]))
      end
   end
   return worst
end
torch.manualSeed(1)
W, V, b, x = torch.randn(3, 4), torch.randn(3, 4), torch.randn(3), torch.randn(4)
net = nn.Sequential():add(nn.Linear(4, 5)):add(nn.ReLU()):add(nn.Linear(5, 3)):add(nn.LogSoftMax())
model, parameters = tape.functional(net)
"""


@pytest.fixture
def lua(monkeypatch: pytest.MonkeyPatch) -> Iterator[bridge.Lua]:
    monkeypatch.delenv("MOONTIDE_CUDA", raising=False)
    with bridge.Lua(path=[Path(__file__).parent / "programs"]) as state:
        state.execute(SETUP)
        yield state


@pytest.mark.parametrize(
    "call",
    [
        "check(function(p, x) return torch.sum(torch.tanh(p.W * x + p.b)) end, {W = W, b = b}, x)",
        "check(function(p) return torch.sum(1 - 2 * torch.exp(p.b) + p.b / 3) end, {b = b})",
        "check(function(p) return torch.mean(torch.pow(p.A * torch.t(p.W), 2)) end, {A = torch.randn(2, 4), W = W})",
        (
            "check(function(p) return torch.sum(torch.cmul(torch.cat({p.W, p.V}, 1), torch.cat({p.V, p.W}, 1))) end,"
            " {W = W, V = V})"
        ),
        "check(function(p) return torch.sum(torch.pow(torch.view(torch.narrow(p.W, 1, 2, 2), -1), 3)) end, {W = W})",
        "check(function(p) return torch.sum(torch.exp(p.W[2])) end, {W = W})",
        (
            "check(function(p) return -torch.sum(torch.narrow(model({p[1], p[2], p[3], p[4]}, p.x), 2, 2, 1)) end,"
            " {parameters[1]:clone(), parameters[2]:clone(), parameters[3]:clone(), parameters[4]:clone(),"
            " x = torch.randn(2, 4)})"
        ),
    ],
)
def test_gradients_are_those_of_finite_differences(lua: bridge.Lua, call: str) -> None:
    assert lua.eval(call) < 1e-7


@pytest.mark.parametrize("name", ["sort", "svd", "max", "histc"])
def test_functions_without_a_gradient_are_refused_while_recording(lua: bridge.Lua, name: str) -> None:
    ok, message = lua.execute(f"return pcall(tape.grad(function(p) return torch.{name}(p.W) end), {{W = W}})")
    assert ok is False
    assert f"function torch.{name} has no gradient here" in message
    assert lua.execute("local y = torch.sort(b) return (y - b:sort()):abs():max()") == 0


def test_floats_are_recorded_too(lua: bridge.Lua) -> None:
    code = """
    local gradients, value = tape.grad(function(p) return torch.sum(p.a * p.b) end)
       {a = torch.FloatTensor{{1, 2}, {3, 4}}, b = torch.FloatTensor{5, 6}}
    return torch.type(gradients.a), gradients.a:sum(), gradients.b:totable(), value
    """
    assert lua.execute(code) == ("torch.FloatTensor", 22, [4, 6], 56)


def test_a_program_can_write_the_code_of_its_gradient(lua: bridge.Lua) -> None:
    code = """
    local noted = {}
    local f = function(p) return torch.sum(torch.exp(torch.cmul(p.a, p.a)) * 2) end
    local _, expected = tape.grad(f, noted)({a = b})
    -- One line per call that was noted; constants and the parameter by name, results in a table that is used again.
    local names, lines, constants = {}, {}, {}
    for i, node in ipairs(noted) do
       local words = {}
       for k = 1, node.inputs.n do
          local input = node.inputs[k]
          if names[input] then
             words[k] = names[input]
          elseif torch.isTensor(tape.raw(input)) then
             words[k] = 'p.a'
          else
             words[k] = tostring(input)
          end
       end
       local result = torch.isTensor(tape.raw(node.output)) and 'locals[' .. i .. '], ' or ''
       local name = 'torch.' .. node.entry.name:match('[^.]*$') -- operators are functions of torch too
       lines[i] = string.format('locals[%d] = %s(%s%s)', i, name, result, table.concat(words, ', '))
       names[node.output] = 'locals[' .. i .. ']'
    end
    local source = 'return function(locals)\\nreturn function(p)\\n' .. table.concat(lines, '\\n')
       .. '\\nreturn locals[' .. #noted .. ']\\nend\\nend'
    local locals = {torch.Tensor(), torch.Tensor(), torch.Tensor()}
    local generated = loadstring(source)()(locals)
    return math.abs(generated{a = b} - expected), generated{a = b:clone():mul(0)}, #noted
    """
    assert lua.execute(code) == (0, 6, 4)


def test_a_class_of_a_program_may_lie_in_a_table_of_its_own(lua: bridge.Lua) -> None:
    code = """
    local auto = {factory = torch.factory}
    local Module, parent = torch.class('auto.nn.module.Square', 'nn.Module', auto)
    function auto.Square:__init(scale)
       parent.__init(self)
       self.scale = scale
    end
    function auto.Square:updateOutput(input)
       local metatable = getmetatable(self)
       metatable.calls = (metatable.calls or 0) + 1
       self.output = torch.cmul(input, input):mul(self.scale)
       return self.output
    end
    local one, other = auto.Square(2), auto.Square(3)
    other:forward(one:forward(torch.Tensor{2}))
    return auto.factory('auto.nn.module.Square') ~= nil, torch.typename(one), one.calls, other.output[1]
    """
    assert lua.execute(code) == (True, "auto.nn.module.Square", 2, 192)
