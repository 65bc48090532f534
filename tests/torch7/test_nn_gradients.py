"""nn: gradients against finite differences, numbers against torch.nn."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import torch

import bridge

HELPERS = """
require 'nn'
torch.setdefaulttensortype('torch.DoubleTensor')

-- Every number of a tensor or of a table of tensors, as {vector, position}.
function positions(t, list)
   list = list or {}
   if torch.isTensor(t) then
      local flat = t:view(t:nElement())
      for i = 1, flat:nElement() do list[#list + 1] = {flat, i} end
   else
      for _, inner in ipairs(t) do positions(inner, list) end
   end
   return list
end

function product(a, b)
   if torch.isTensor(a) then return a:dot(b) end
   local sum = 0
   for i = 1, #a do sum = sum + product(a[i], b[i]) end
   return sum
end

function like(t)
   if torch.isTensor(t) then return torch.randn(t:size()) end
   local list = {}
   for i = 1, #t do list[i] = like(t[i]) end
   return list
end

-- The largest difference between a gradient and its finite differences, relative to the gradient's size.
local function compare(numbers, gradient, f)
   local worst = 0
   gradient = positions(gradient)
   for k, place in ipairs(numbers) do
      local t, i = place[1], place[2]
      local x, h = t[i], 1e-6
      t[i] = x + h
      local above = f()
      t[i] = x - h
      local slope = (above - f()) / (2 * h)
      t[i] = x
      local analytic = gradient[k][1][gradient[k][2]]
      worst = math.max(worst, math.abs(slope - analytic) / math.max(1, math.abs(analytic)))
   end
   return worst
end

function gradients(ctor, inputsrc)
   torch.manualSeed(11)
   local module = loadstring('return ' .. ctor)()
   local input = loadstring('return ' .. inputsrc)()
   local weights = like(module:forward(input))
   local function loss() return product(module:forward(input), weights) end
   loss()
   module:zeroGradParameters()
   local gradInput = module:backward(input, weights)
   local params, gradParams = module:parameters()
   local worst = compare(positions(input), gradInput, loss)
   return math.max(worst, compare(positions(params or {}), gradParams or {}, loss))
end

function lossgradients(ctor, inputsrc, targetsrc)
   torch.manualSeed(11)
   local criterion = loadstring('return ' .. ctor)()
   local input = loadstring('return ' .. inputsrc)()
   local target = loadstring('return ' .. targetsrc)()
   local function loss() return (criterion:forward(input, target)) end
   loss()
   return compare(positions(input), criterion:backward(input, target), loss)
end
"""

T, V = "torch.randn(3,4)", "torch.randn(4)"
PAIR = "{torch.randn(3,4),torch.randn(3,4)}"
POSITIVE = "torch.rand(3,4):add(0.5)"
GRADIENTS: list[tuple[str, str]] = [
    ("nn.Linear(4,3)", T),
    ("nn.Linear(4,3)", V),
    ("nn.Linear(4,3,false)", T),
    ("nn.Add(4)", T),
    ("nn.Add(4)", V),
    ("nn.Add(4,true)", T),
    ("nn.Mul()", T),
    ("nn.CMul(4)", T),
    ("nn.CMul(1,4)", T),
    ("nn.CMul(3,4)", T),
    *[(f"nn.{name}()", source) for name in ("SoftMax", "LogSoftMax", "SoftMin") for source in (V, T)],
    ("nn.LogSoftMax()", "torch.randn(3,2,2)"),
    ("nn.LogSoftMax()", "torch.randn(2,3,2,2)"),
    ("nn.SoftMax()", "torch.randn(2,3,2,2)"),
    *[
        (f"nn.{name}()", T)
        for name in (
            *("ReLU", "LeakyReLU", "ELU", "HardTanh", "Tanh", "TanhShrink", "Sigmoid", "LogSigmoid"),
            *("SoftPlus", "SoftSign", "Abs", "Exp", "Square", "Identity", "Contiguous"),
        )
    ],
    *[(f"nn.{name}()", POSITIVE) for name in ("Log", "Sqrt")],
    ("nn.Threshold(0.1,-2)", T),
    ("nn.LeakyReLU(0.3)", T),
    ("nn.ELU(0.7)", T),
    ("nn.HardTanh(-0.3,0.4)", T),
    ("nn.Clamp(-0.3,0.4)", T),
    ("nn.SoftPlus(2)", T),
    ("nn.Power(3)", POSITIVE),
    ("nn.AddConstant(2.5)", T),
    ("nn.MulConstant(2.5)", T),
    ("nn.View(2,6)", T),
    ("nn.View(-1)", T),
    ("nn.Reshape(12)", "torch.randn(2,3,4)"),
    ("nn.Reshape(4,3)", T),
    ("nn.Narrow(2,2,2)", T),
    ("nn.Narrow(-1,-2,-1)", T),
    ("nn.Select(1,2)", T),
    ("nn.Select(-1,-1)", T),
    ("nn.Transpose({1,2},{2,3})", "torch.randn(2,3,4)"),
    ("nn.Transpose({1,2}):setNumInputDims(2)", "torch.randn(2,3,4)"),
    ("nn.Squeeze()", "torch.randn(2,1,3,1)"),
    ("nn.Squeeze(2)", "torch.randn(2,1,3,1)"),
    ("nn.Unsqueeze(1)", T),
    ("nn.Unsqueeze(1,1)", T),
    *[(f"nn.{name}({d})", T) for name in ("Sum", "Mean", "Max", "Min") for d in (1, 2, -1)],
    ("nn.Sum(1,1,true)", T),
    ("nn.Sum(2,nil,false,false)", T),
    ("nn.Max(1,1)", T),
    ("nn.Max(1)", V),
    ("nn.CAddTable()", PAIR),
    ("nn.CSubTable()", PAIR),
    ("nn.CMulTable()", "{torch.randn(4),torch.randn(4),torch.randn(4)}"),
    ("nn.CDivTable()", "{torch.randn(3,4),torch.rand(3,4):add(0.5)}"),
    ("nn.JoinTable(2)", "{torch.randn(3,4),torch.randn(3,2)}"),
    ("nn.JoinTable(1,1)", "{torch.randn(3,4),torch.randn(3,2)}"),
    ("nn.SplitTable(1)", T),
    ("nn.SplitTable(-1)", T),
    ("nn.SelectTable(2)", PAIR),
    ("nn.SelectTable(-1)", "{torch.randn(2),{torch.randn(3),torch.randn(2)}}"),
    ("nn.NarrowTable(2,2)", "{torch.randn(3),torch.randn(2),torch.randn(1)}"),
    ("nn.FlattenTable()", "{torch.randn(2),{torch.randn(3),{torch.randn(2)}}}"),
    ("nn.Sequential():add(nn.Linear(4,3)):add(nn.Tanh()):add(nn.Linear(3,2)):add(nn.LogSoftMax())", T),
    ("nn.Concat(2):add(nn.Linear(4,2)):add(nn.Linear(4,3))", T),
    ("nn.ConcatTable():add(nn.Linear(4,2)):add(nn.Identity())", T),
    ("nn.ConcatTable():add(nn.CAddTable()):add(nn.CMulTable())", PAIR),
    ("nn.ParallelTable():add(nn.Linear(4,2)):add(nn.Tanh())", PAIR),
]

LOSSES: list[tuple[str, str, str]] = [
    ("nn.ClassNLLCriterion()", T, "torch.Tensor{1,4,2}"),
    ("nn.ClassNLLCriterion()", V, "3"),
    ("nn.ClassNLLCriterion(nil,false)", T, "torch.LongTensor{1,4,2}"),
    ("nn.ClassNLLCriterion(torch.Tensor{1,2,3,4})", T, "torch.Tensor{1,4,2}"),
    ("nn.ClassNLLCriterion(nil,true,2)", T, "torch.Tensor{1,4,2}"),
    ("nn.CrossEntropyCriterion()", T, "torch.Tensor{1,4,2}"),
    ("nn.CrossEntropyCriterion()", "torch.randn(1,4)", "torch.Tensor{2}"),
    ("nn.MSECriterion()", T, T),
    ("nn.MSECriterion(false)", V, V),
    ("nn.AbsCriterion()", T, T),
    ("nn.BCECriterion()", "torch.rand(3,4):mul(0.8):add(0.1)", "torch.rand(3,4)"),
    ("nn.BCECriterion(torch.Tensor{1,2,3,4},false)", "torch.rand(3,4):mul(0.8):add(0.1)", "torch.rand(3,4)"),
    ("nn.SmoothL1Criterion()", "torch.randn(3,4):mul(2)", T),
    ("nn.ParallelCriterion():add(nn.MSECriterion(),0.5):add(nn.AbsCriterion())", PAIR, PAIR),
    ("nn.MultiCriterion():add(nn.MSECriterion(),0.5):add(nn.AbsCriterion())", T, T),
]


@pytest.fixture(scope="module")
def nn() -> Iterator[bridge.Lua]:
    with bridge.Lua() as lua:
        lua.execute(HELPERS)
        yield lua


@pytest.mark.parametrize(("constructor", "source"), GRADIENTS)
def test_gradients_are_those_of_finite_differences(nn: bridge.Lua, constructor: str, source: str) -> None:
    assert nn.globals["gradients"](constructor, source) < 1e-7


@pytest.mark.parametrize(("constructor", "source", "target"), LOSSES)
def test_gradients_of_losses_are_those_of_finite_differences(
    nn: bridge.Lua, constructor: str, source: str, target: str
) -> None:
    assert nn.globals["lossgradients"](constructor, source, target) < 1e-7


ACTIVATIONS: list[tuple[str, Any]] = [
    ("nn.Tanh()", torch.tanh),
    ("nn.Sigmoid()", torch.sigmoid),
    ("nn.ReLU()", torch.relu),
    ("nn.ELU(0.7)", torch.nn.ELU(0.7)),
    ("nn.LeakyReLU(0.2)", torch.nn.LeakyReLU(0.2)),
    ("nn.SoftPlus(2)", torch.nn.Softplus(2)),
    ("nn.LogSigmoid()", torch.nn.LogSigmoid()),
    ("nn.SoftMax()", torch.nn.Softmax(1)),
    ("nn.LogSoftMax()", torch.nn.LogSoftmax(1)),
    ("nn.HardTanh()", torch.nn.Hardtanh()),
]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(("constructor", "function"), ACTIVATIONS)
def test_functions_equal_those_of_torch(nn: bridge.Lua, constructor: str, function: Any, dtype: str) -> None:
    values = np.random.default_rng(3).normal(size=(7, 5)).astype(dtype) * 10
    x = torch.tensor(values, requires_grad=True)
    y = function(x)
    y.backward(torch.ones_like(y))
    code = f"""
    local x = ...
    local m = {constructor}:type(x:type())
    local y = m:forward(x)
    return y, m:backward(x, y:clone():fill(1))
    """
    output, gradient = nn.execute(code, values)
    tolerance = 1e-5 if dtype == "float32" else 1e-12
    np.testing.assert_allclose(output, y.detach().numpy(), rtol=tolerance, atol=tolerance)
    np.testing.assert_allclose(gradient, x.grad.numpy(), rtol=tolerance, atol=tolerance)  # type: ignore[union-attr]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a_network_and_its_loss_equal_those_of_torch(nn: bridge.Lua, dtype: str) -> None:
    theirs = torch.nn.Sequential(
        torch.nn.Linear(6, 5), torch.nn.Tanh(), torch.nn.Linear(5, 3), torch.nn.LogSoftmax(1)
    ).to(getattr(torch, dtype))
    rng = np.random.default_rng(5)
    x, targets = rng.normal(size=(8, 6)).astype(dtype), rng.integers(0, 3, 8)
    loss = torch.nn.functional.nll_loss(theirs(torch.from_numpy(x)), torch.from_numpy(targets))
    loss.backward()
    flat = torch.cat([p.detach().reshape(-1) for p in theirs.parameters()]).numpy()
    code = """
    local x, targets, flat = ...
    local m = nn.Sequential():add(nn.Linear(6,5)):add(nn.Tanh()):add(nn.Linear(5,3)):add(nn.LogSoftMax())
    m:type(x:type())
    local c = nn.ClassNLLCriterion():type(x:type())
    local params, gradParams = m:getParameters()
    params:copy(flat)
    gradParams:zero()
    local loss = c:forward(m:forward(x), targets)
    m:backward(x, c:backward(m.output, targets))
    return loss, gradParams
    """
    value, gradient = nn.execute(code, x, targets + 1, flat)
    tolerance = 1e-6 if dtype == "float32" else 1e-13
    assert value == pytest.approx(loss.item(), rel=tolerance)
    expected = torch.cat([p.grad.reshape(-1) for p in theirs.parameters()]).numpy()  # type: ignore[union-attr]
    np.testing.assert_allclose(gradient, expected, atol=tolerance)
