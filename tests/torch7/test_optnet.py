"""optnet: networks that share memory compute what they did."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import bridge

SETUP = """
optnet = require 'optnet'
require 'nngraph'
torch.manualSeed(1)
nets, inputs = {}, {}

nets.chain = nn.Sequential():add(nn.SpatialConvolution(3,4,3,3,1,1,1,1)):add(nn.ReLU()):add(nn.SpatialMaxPooling(2,2))
   :add(nn.SpatialConvolution(4,4,3,3,1,1,1,1)):add(nn.SpatialBatchNormalization(4)):add(nn.ReLU())
   :add(nn.View(-1):setNumInputDims(3)):add(nn.Linear(64,10)):add(nn.Tanh()):add(nn.Linear(10,4)):add(nn.LogSoftMax())
inputs.chain = torch.randn(2,3,8,8)

local function block()
   local branch = nn.Sequential():add(nn.Linear(6,6)):add(nn.Tanh()):add(nn.Linear(6,6))
   return nn.Sequential():add(nn.ConcatTable():add(branch):add(nn.Identity())):add(nn.CAddTable(true))
      :add(nn.ReLU(true))
end
nets.residual = nn.Sequential():add(nn.Linear(5,6)):add(block()):add(block())
   :add(nn.Concat(2):add(nn.Linear(6,3)):add(nn.Sequential():add(nn.Linear(6,6)):add(nn.Sigmoid()):add(nn.Linear(6,2))))
   :add(nn.Linear(5,5)):add(nn.Tanh()):add(nn.Linear(5,2))
inputs.residual = torch.randn(3,5)

local a = nn.Identity()()
local b = nn.Tanh()(nn.Linear(5,6)(a))
local c = nn.Linear(6,6)(nn.Sigmoid()(nn.Linear(6,6)(b)))
local d = nn.Linear(6,2)(nn.Tanh()(nn.Linear(6,6)(nn.CAddTable()({b, c}))))
nets.graph = nn.gModule({a}, {d})
inputs.graph = torch.randn(3,5)

function far(a, b) return (a - b):abs():max() end
"""


@pytest.fixture
def lua() -> Iterator[bridge.Lua]:
    with bridge.Lua() as state:
        state.execute(SETUP)
        yield state


@pytest.mark.parametrize("name", ["chain", "residual", "graph"])
def test_outputs_stay_in_less_memory(lua: bridge.Lua, name: str) -> None:
    code = """
    local net, x = nets[...], inputs[...]
    net:evaluate()
    local before = optnet.countUsedMemory(net, x)
    local other = torch.randn(x:size())
    local y, z = net:forward(x):clone(), net:forward(other):clone()
    optnet.optimizeMemory(net, x)
    local after = optnet.countUsedMemory(net, x)
    local large = torch.cat({x, other, x}, 1)
    return far(net:forward(x), y), far(net:forward(other), z), far(net:forward(large), torch.cat({y, z, y}, 1)) < 1e-12,
       after.outputs / before.outputs, before.params == after.params and before.total_size > after.total_size
    """
    first, second, large, ratio, smaller = lua.execute(code, name)
    assert (first, second, large, smaller) == (0, 0, True, True)
    assert ratio < 0.85


@pytest.mark.parametrize("name", ["chain", "residual", "graph"])
def test_gradients_stay_in_training(lua: bridge.Lua, name: str) -> None:
    code = """
    local net, x = nets[...], inputs[...]
    local reference = net:clone()
    optnet.optimizeMemory(net, x, {mode = 'training'})
    local w, g = net:getParameters()
    local w0, g0 = reference:getParameters()
    assert(g:norm() == 0 and far(w, w0) == 0)
    local worst = 0
    for step = 1, 3 do
       local input = torch.randn(x:size())
       local y = net:forward(input)
       worst = math.max(worst, far(y, reference:forward(input)))
       local gradOutput = torch.randn(y:size())
       local gradient = net:backward(input, gradOutput)
       worst = math.max(worst, far(gradient, reference:backward(input, gradOutput)), far(g, g0))
       w:add(-0.1, g) w0:add(-0.1, g0)
    end
    return worst, optnet.countUsedMemory(net).gradInputs / optnet.countUsedMemory(reference).gradInputs
    """
    worst, ratio = lua.execute(code, name)
    assert worst == 0
    assert ratio == 1 if name == "graph" else ratio < 0.9


def test_the_backward_pass_is_blocked_until_the_optimization_is_removed(lua: bridge.Lua) -> None:
    code = """
    local net, x = nets.chain, inputs.chain
    net:evaluate()
    local y = net:forward(x):clone()
    local gradient = net:backward(x, y):clone()
    optnet.optimizeMemory(net, x)
    local ok, message = pcall(net.backward, net, x, y)
    optnet.removeOptimization(net)
    local again = net:forward(x)
    return ok, tostring(message):match('Backward pass disabled'), far(again, y), far(net:backward(x, y), gradient)
    """
    assert lua.execute(code) == (False, "Backward pass disabled", 0, 0)


def test_memory_that_is_shared_counts_once(lua: bridge.Lua) -> None:
    code = """
    local a = nn.Linear(4, 4)
    local net = nn.Sequential():add(a):add(nn.Identity()):add(a:clone('weight', 'bias')):float()
    local bytes = optnet.countUsedMemory(net, torch.FloatTensor(2, 4):zero())
    return bytes.params, bytes.outputs
    """
    assert lua.execute(code) == (80, 64)


def test_other_modes_are_refused(lua: bridge.Lua) -> None:
    with pytest.raises(bridge.LuaError, match="'inference' or 'training', got fast"):
        lua.execute("optnet.optimizeMemory(nets.chain, inputs.chain, {mode = 'fast'})")
