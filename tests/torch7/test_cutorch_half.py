"""torch.CudaHalfTensor has the arithmetic that torch.HalfTensor lacks, and networks train in it."""

from __future__ import annotations

import numpy as np
import pytest

import bridge

RESIDUAL = """
require 'optim'
torch.manualSeed(5)
local typename = ...
local function block()
   local branch = nn.Sequential()
      :add(nn.SpatialConvolution(4, 4, 3, 3, 1, 1, 1, 1)):add(nn.SpatialBatchNormalization(4))
   return nn.Sequential()
      :add(nn.ConcatTable():add(branch):add(nn.Identity())):add(nn.CAddTable(true)):add(nn.ReLU(true))
end
local net = nn.Sequential():add(nn.SpatialConvolution(1, 4, 3, 3, 1, 1, 1, 1)):add(nn.SpatialMaxPooling(2, 2, 2, 2))
   :add(block()):add(nn.SpatialAveragePooling(4, 4)):add(nn.View(4):setNumInputDims(3)):add(nn.Linear(4, 2))
   :type(typename)
local criterion = nn.CrossEntropyCriterion():type(typename)
local x, y = torch.randn(8, 1, 8, 8), torch.LongTensor(8)
for i = 1, 8 do
   y[i] = i % 2 + 1
   x[i]:add(2 * y[i] - 3)
end
x, y = x:type(typename), y:type((typename:gsub('Half', 'Long'):gsub('CudaTensor', 'CudaLongTensor')))
local w, g = net:getParameters()
local state, losses = {learningRate = 0.1, momentum = 0.9, nesterov = true, dampening = 0, weightDecay = 1e-4}, {}
for i = 1, 10 do
   local _, loss = optim.sgd(function()
      net:zeroGradParameters()
      local output = net:forward(x)
      local loss = criterion:forward(output, y)
      net:backward(x, criterion:backward(output, y))
      return loss, g
   end, w, state)
   losses[i] = loss[1]
end
local _, order = net:forward(x):float():topk(2, 2, true, true)
return losses, torch.type(w), torch.type(net.output), order:select(2, 1):totable()
"""


@pytest.mark.slow
def test_a_residual_network_trains(cuda: bridge.Lua) -> None:
    expected, *_ = cuda.execute(RESIDUAL, "torch.CudaTensor")
    losses, *kinds, classes = cuda.execute(RESIDUAL, "torch.CudaHalfTensor")
    assert kinds == ["torch.CudaHalfTensor"] * 2
    assert losses[:5] == pytest.approx(expected[:5], rel=0.05, abs=0.02)
    assert losses[-1] < losses[0] / 2
    assert classes == [i % 2 + 1 for i in range(1, 9)]


@pytest.mark.parametrize(
    ("make", "low", "high"),
    [
        ("uniform(2, 3)", 2, 3),
        ("normal(0, 0.1)", -1, 1),
        ("bernoulli(0.5)", 0, 1),
        ("bernoulli(torch.FloatTensor(20, 50):fill(1))", 1, 1),
        ("random(4)", 1, 4),
        ("exponential(50)", 0, 1),
        ("rand(20, 50)", 0, 1),
        ("ones(20, 50)", 1, 1),
        ("zeros(20, 50)", 0, 0),
    ],
)
def test_it_is_filled(shared: bridge.Lua, make: str, low: float, high: float) -> None:
    kind, values = shared.execute(
        f"local r = torch.CudaHalfTensor(20, 50):{make} return torch.type(r), r:float()"
    )
    assert kind == "torch.CudaHalfTensor"
    assert values.shape == (20, 50)
    assert low <= values.min() <= values.max() <= high
    assert low == high or values.std() > 0.001


@pytest.mark.parametrize("kind", ["Half", "Double"])
@pytest.mark.parametrize("what", ["nn.Linear(2, 2)", "nn.MSECriterion()"])
def test_modules_and_criterions_convert(shared: bridge.Lua, what: str, kind: str) -> None:
    code = f"local m = {what}:cuda{kind}() return torch.type(m.gradInput)"
    assert shared.execute(code) == f"torch.Cuda{kind}Tensor"


def test_its_numbers_are_rounded_once(shared: bridge.Lua) -> None:
    x = np.linspace(-3, 3, 41).astype(np.float16)
    got = shared.execute("return torch.exp((...):cudaHalf()):float()", x.astype(np.float32))
    np.testing.assert_array_equal(got, np.exp(x.astype(np.float32)).astype(np.float16))


def test_seeds_repeat_its_numbers(shared: bridge.Lua) -> None:
    code = """
    local drawn = {}
    for i = 1, 2 do
       cutorch.manualSeed(4)
       drawn[i] = torch.CudaHalfTensor(5):normal()
    end
    return drawn[1]:equal(drawn[2]), drawn[1]:equal(torch.CudaHalfTensor(5):normal())
    """
    assert shared.execute(code) == (True, False)


@pytest.mark.parametrize(
    "code", ["torch.HalfTensor(2):cmul(torch.HalfTensor(2))", "torch.exp(torch.HalfTensor(2))"]
)
def test_halves_on_the_cpu_stay_what_they_are_in_torch7(shared: bridge.Lua, code: str) -> None:
    with pytest.raises(bridge.LuaError, match=r"'cmul' \(a nil value\)|HalfTensor does not implement"):
        shared.execute(code)
