"""Every row of the table: outputs and gradients of a converted layer are those of Torch7's layer."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import torch
from torch import Tensor

import bridge
from bridge.convert import convert
from bridge.convert.rows import ROWS
from tests.bridge.convert.layers import CONVERTED, RANDOM

PASS = """
require 'nn'
local function map(value, f)
   if torch.isTensor(value) then return f(value) end
   local mapped = {}
   for i, inner in ipairs(value) do mapped[i] = map(inner, f) end
   return mapped
end
-- The layer before the pass, what the pass gave, and the layer with its gradients in the place of its parameters.
return function(ctor, source, typename, evaluate)
   torch.setdefaulttensortype('torch.DoubleTensor')
   torch.manualSeed(11)
   local layer = loadstring('return nn.' .. ctor)():type(typename)
   local params = layer:parameters() or {}
   for _, tensor in ipairs(params) do tensor:uniform(0.2, 1) end
   layer:apply(function(m) if m.updateWeight then m:updateWeight() end end)
   local function typed(t)
      return torch.type(t) == 'torch.DoubleTensor' and t:type(typename) or t:clone()
   end
   local input = map(loadstring('return ' .. source)(), typed)
   if evaluate then
      layer:apply(function(m)
         if m.running_mean then m.running_mean:uniform() m.running_var:uniform(0.5, 1) end
      end)
      layer:evaluate()
   end
   local before = layer:clone()
   local output = layer:forward(input)
   local gradOutput = map(output, function(t) return typed(torch.randn(t:size())) end)
   layer:zeroGradParameters()
   local gradInput
   if not pcall(function() gradInput = layer:backward(input, gradOutput) end) then gradInput = false end
   local _, gradients = layer:parameters()
   local after = before:clone()
   for i, tensor in ipairs(after:parameters() or {}) do tensor:copy(gradients[i]) end
   local statistics = {}
   layer:apply(function(m) if m.running_mean then statistics = {m.running_mean, m.running_var} end end)
   return before, input, output, gradOutput, gradInput, after, statistics
end
"""
# Torch7 adds a small number to a distance before it divides by it.
TOLERANCES = {
    "Euclidean": 1e-6,
    "WeightedEuclidean": 1e-6,
    "PairwiseDistance": 1e-5,
    "Log": 1e-9,
    "SpatialUpSamplingBilinear": 1e-5,
}
# Gradients have to be asked of floats only; indices get zeros from Torch7.
DTYPES = {"torch.DoubleTensor": 1e-12, "torch.FloatTensor": 1e-5}


@pytest.fixture(scope="module")
def passed() -> Iterator[Any]:
    with bridge.Lua(tensors="torch") as lua:
        yield lua.execute(PASS)


def leaves(value: Any) -> list[Tensor]:
    return [value] if isinstance(value, Tensor) else [leaf for inner in value for leaf in leaves(inner)]


def prepared(value: Any) -> Any:
    """The input as a leaf of autograd."""
    if not isinstance(value, Tensor):
        return [prepared(inner) for inner in value]
    return value.clone().requires_grad_() if value.is_floating_point() else value.clone()


def assert_equal(actual: Any, expected: Any, tolerance: float) -> None:
    found, wanted = leaves(actual), leaves(expected)
    assert len(found) == len(wanted)
    for one, other in zip(found, wanted, strict=True):
        assert one.shape == other.shape
        scale = max(1.0, float(other.detach().abs().max()))
        torch.testing.assert_close(one.detach(), other.detach(), rtol=tolerance, atol=tolerance * scale)


def compare(passed: Any, ctor: str, source: str, typename: str, evaluate: bool) -> None:
    before, input_, output, gradient, expected, after, statistics = passed(ctor, source, typename, evaluate)
    tolerance = max(
        DTYPES[typename], TOLERANCES.get(ctor.split("(", maxsplit=1)[0].split("{", maxsplit=1)[0], 0)
    )
    conversion = convert(before, base=1)
    assert not any(layer.wrapped for layer in conversion.layers)
    module, x = conversion.module, prepared(input_)
    assert all(part.training is not evaluate for part in module.modules())
    y = module(x)
    assert_equal(y, output, tolerance)
    pairs = [
        (one, other) for one, other in zip(leaves(y), leaves(gradient), strict=True) if one.requires_grad
    ]
    if expected is False:
        return
    if pairs:
        torch.autograd.backward([one for one, _ in pairs], [other for _, other in pairs])
    for leaf, wanted in zip(leaves(x), leaves(expected), strict=True):
        if leaf.requires_grad:
            assert_equal(torch.zeros_like(leaf) if leaf.grad is None else leaf.grad, wanted, tolerance)
    names = dict(module.named_parameters())
    wanted_gradients = dict(convert(after, base=1).module.named_parameters())
    assert names.keys() == wanted_gradients.keys()
    for name, parameter in names.items():
        assert parameter.grad is not None
        assert_equal(parameter.grad, wanted_gradients[name], tolerance)
    buffers = [t for name, t in module.named_buffers() if name.endswith(("running_mean", "running_var"))]
    assert_equal(buffers, statistics, tolerance)


@pytest.mark.parametrize("typename", DTYPES)
@pytest.mark.parametrize(("ctor", "source"), CONVERTED)
def test_in_training(passed: Any, ctor: str, source: str, typename: str) -> None:
    compare(passed, ctor, source, typename, False)


@pytest.mark.parametrize(("ctor", "source"), CONVERTED + RANDOM)
def test_in_evaluation(passed: Any, ctor: str, source: str) -> None:
    compare(passed, ctor, source, "torch.DoubleTensor", True)


def test_every_row_has_a_layer_here() -> None:
    tested = {"nn." + ctor.split("(")[0].split("{")[0] for ctor, _ in CONVERTED + RANDOM}
    modules = {name for name in ROWS if name.startswith("nn.") and not name.endswith("Criterion")}
    assert modules - tested == {"nn.gModule"}
