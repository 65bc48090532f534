"""nn: losses and layers that torch.nn has too, against torch.nn."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
import torch
from torch.nn import functional as F

import bridge

HELPERS = """
require 'nn'
local function build(constructor, kind)
   torch.setdefaulttensortype('torch.DoubleTensor')
   local object = loadstring('return ' .. constructor)()
   return object:type(kind)
end
function loss(constructor, input, target)
   local first = torch.isTensor(input) and input or input[1]
   local criterion = build(constructor, first:type())
   local value = criterion:forward(input, target)
   return value, criterion:backward(input, target)
end
-- output, gradInput, gradients of parameters; `weights` are the parameters in order.
function layer(constructor, input, gradOutput, weights)
   local first = torch.isTensor(input) and input or input[1]
   local module = build(constructor, first:type())
   module:evaluate()
   local params, gradParams = module:parameters()
   for i, weight in ipairs(weights) do
      params[i]:copy(weight)
   end
   module:training()
   if constructor:find('RReLU') then
      module:evaluate()
   end
   module:zeroGradParameters()
   local output = module:forward(input):clone()
   return output, module:backward(input, gradOutput), gradParams or {}
end
"""

RNG = np.random.default_rng(11)
X, Y = RNG.normal(size=(5, 4)), RNG.normal(size=(5, 4))
SIGNS = np.sign(Y)
SIGN = SIGNS[:, 0]
UNIT, OTHER = RNG.uniform(0.05, 0.95, size=(5, 4)), RNG.uniform(0.05, 0.95, size=(5, 4))
CLASSES = np.array([1, 4, 2, 2, 3])
LABELS = np.array([[2, 4, 0, 1], [0, 1, 2, 3], [1, 2, 3, 4], [3, 0, 0, 0], [4, 1, 0, 2]])
WEIGHTS = np.array([0.5, 1.0, 2.0, 1.5])
IMAGE, PLACES = RNG.normal(size=(2, 4, 3, 2)), RNG.integers(1, 5, size=(2, 3, 2))
W = "torch.Tensor{0.5,1,2,1.5}"

Loss = Callable[..., torch.Tensor]
LOSSES: list[tuple[str, Any, Any, Loss]] = [
    ("nn.MSECriterion()", X, Y, F.mse_loss),
    ("nn.MSECriterion(false)", X, Y, lambda x, y: F.mse_loss(x, y, reduction="sum")),
    ("nn.AbsCriterion()", X, Y, F.l1_loss),
    ("nn.SmoothL1Criterion()", 2 * X, Y, F.smooth_l1_loss),
    ("nn.BCECriterion()", UNIT, OTHER, F.binary_cross_entropy),
    (f"nn.BCECriterion({W})", UNIT, OTHER, lambda x, y: F.binary_cross_entropy(x, y, weights(x))),
    ("nn.ClassNLLCriterion()", X, CLASSES, lambda x, y: F.nll_loss(x, y - 1)),
    (f"nn.ClassNLLCriterion({W})", X, CLASSES, lambda x, y: F.nll_loss(x, y - 1, weights(x))),
    ("nn.CrossEntropyCriterion()", X, CLASSES, lambda x, y: F.cross_entropy(x, y - 1)),
    (f"nn.CrossEntropyCriterion({W})", X, CLASSES, lambda x, y: F.cross_entropy(x, y - 1, weights(x))),
    ("nn.SpatialClassNLLCriterion()", IMAGE, PLACES, lambda x, y: F.nll_loss(x, y - 1)),
    (f"nn.SpatialClassNLLCriterion({W})", IMAGE, PLACES, lambda x, y: F.nll_loss(x, y - 1, weights(x))),
    ("nn.SoftMarginCriterion()", X, SIGNS, F.soft_margin_loss),
    ("nn.HingeEmbeddingCriterion(0.7)", X, SIGNS, lambda x, y: F.hinge_embedding_loss(x, y, 0.7)),
    ("nn.MultiMarginCriterion()", X, CLASSES, lambda x, y: F.multi_margin_loss(x, y - 1)),
    (
        f"nn.MultiMarginCriterion(2,{W},0.5)",
        X,
        CLASSES,
        lambda x, y: F.multi_margin_loss(x, y - 1, p=2, weight=weights(x), margin=0.5),
    ),
    ("nn.MultiLabelMarginCriterion()", X, LABELS, lambda x, y: F.multilabel_margin_loss(x, y - 1)),
    (
        "nn.MultiLabelSoftMarginCriterion()",
        X,
        np.round(OTHER),
        lambda x, y: F.multilabel_soft_margin_loss(x, y.to(x.dtype)),
    ),
    (
        f"nn.MultiLabelSoftMarginCriterion({W})",
        30 * X,
        np.round(OTHER),
        lambda x, y: F.multilabel_soft_margin_loss(x, y.to(x.dtype), weights(x)),
    ),
    ("nn.DistKLDivCriterion()", X, UNIT, lambda x, y: F.kl_div(x, y, reduction="sum") / x.numel()),
    (
        "nn.MarginRankingCriterion(0.3)",
        [X[:, 0], Y[:, 0]],
        SIGN,
        lambda x, y: F.margin_ranking_loss(x[0], x[1], y, margin=0.3),
    ),
    (
        "nn.CosineEmbeddingCriterion(0.1)",
        [X, Y],
        SIGN,
        lambda x, y: F.cosine_embedding_loss(x[0], x[1], y, margin=0.1),
    ),
]

BILINEAR = [RNG.normal(size=(3, 4, 2)), RNG.normal(size=3)]
DIRECTION = [RNG.normal(size=(3, 4)), RNG.uniform(0.5, 2, size=(3, 1)), RNG.normal(size=3)]
SLOPES = RNG.uniform(size=4)

Layer = Callable[..., torch.Tensor]
LAYERS: list[tuple[str, Any, list[np.ndarray], Layer]] = [
    ("nn.ReLU6()", 5 * X, [], F.relu6),
    ("nn.RReLU(0.1,0.3)", X, [], lambda x: F.rrelu(x, 0.1, 0.3, training=False)),
    ("nn.HardShrink(0.4)", X, [], lambda x: F.hardshrink(x, 0.4)),
    ("nn.SoftShrink(0.4)", X, [], lambda x: F.softshrink(x, 0.4)),
    ("nn.GatedLinearUnit()", X, [], F.glu),
    ("nn.PReLU(4)", X, [SLOPES], F.prelu),
    ("nn.PReLU(4)", IMAGE, [SLOPES], F.prelu),
    ("nn.Bilinear(4,2,3)", [X, Y[:, :2]], BILINEAR, lambda x, w, b: F.bilinear(x[0], x[1], w, b)),
    ("nn.CosineDistance()", [X, Y], [], lambda x: F.cosine_similarity(x[0], x[1])),
    ("nn.PairwiseDistance(1)", [X, Y], [], lambda x: (x[0] - x[1]).norm(1, dim=1)),
    ("nn.Cosine(4,3)", X, DIRECTION[:1], lambda x, w: F.cosine_similarity(x[:, None], w[None], dim=2)),
    (
        "nn.LinearWeightNorm(4,3)",
        X,
        DIRECTION,
        lambda x, v, g, b: F.linear(x, torch._weight_norm(v, g), b),
    ),
    ("nn.FeatureLPPooling(2,2,3,true)", UNIT, [], lambda x: F.lp_pool1d(x[:, None], 3, 2)[:, 0]),
    ("nn.MM(false,true)", [X, Y], [], lambda x: x[0] @ x[1].T),
    ("nn.Replicate(3,2)", X, [], lambda x: x[:, None].expand(5, 3, 4)),
]


def weights(like: torch.Tensor) -> torch.Tensor:
    return torch.tensor(WEIGHTS, dtype=like.dtype)


def typed(values: Any, dtype: str) -> Any:
    """Floating-point numbers of the type; indices as they are."""
    if isinstance(values, list):
        return [typed(one, dtype) for one in values]
    return values.astype(dtype) if values.dtype.kind == "f" else values


def tensors(values: Any, *, requires_grad: bool) -> Any:
    if isinstance(values, list):
        return [tensors(one, requires_grad=requires_grad) for one in values]
    return torch.tensor(values, requires_grad=requires_grad)


def assert_equal(actual: Any, expected: Any, dtype: str) -> None:
    if isinstance(expected, list):
        assert len(actual) == len(expected)
        for one, other in zip(actual, expected, strict=True):
            assert_equal(one, other, dtype)
    else:
        tolerance = 1e-5 if dtype == "float32" else 1e-11
        np.testing.assert_allclose(actual, expected.detach().numpy(), rtol=tolerance, atol=tolerance)


def gradient(values: Any) -> Any:
    return [one.grad for one in values] if isinstance(values, list) else values.grad


@pytest.fixture(scope="module")
def nn() -> Iterator[bridge.Lua]:
    with bridge.Lua() as lua:
        lua.execute(HELPERS)
        yield lua


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(("constructor", "given", "target", "function"), LOSSES)
def test_losses_equal_those_of_torch(
    nn: bridge.Lua, constructor: str, given: Any, target: Any, function: Loss, dtype: str
) -> None:
    given, target = typed(given, dtype), typed(target, dtype)
    x = tensors(given, requires_grad=True)
    expected = function(x, tensors(target, requires_grad=False))
    expected.backward()
    # several results, of which the criterion's own may be two: the gradient is the last
    *values, gradInput = nn.execute("return loss(...)", constructor, given, target)
    assert_equal(values[0], expected, dtype)
    assert_equal(gradInput, gradient(x), dtype)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(("constructor", "given", "parameters", "function"), LAYERS)
def test_layers_equal_those_of_torch(
    nn: bridge.Lua, constructor: str, given: Any, parameters: list[np.ndarray], function: Layer, dtype: str
) -> None:
    given, parameters = typed(given, dtype), typed(parameters, dtype)
    x, theirs = tensors(given, requires_grad=True), tensors(parameters, requires_grad=True)
    expected = function(x, *theirs)
    slope = np.random.default_rng(2).normal(size=tuple(expected.shape)).astype(dtype)
    expected.backward(torch.from_numpy(slope))
    output, gradInput, gradParams = nn.execute("return layer(...)", constructor, given, slope, parameters)
    assert_equal(output, expected, dtype)
    assert_equal(gradInput, gradient(x), dtype)
    assert_equal(list(gradParams), gradient(theirs), dtype)
