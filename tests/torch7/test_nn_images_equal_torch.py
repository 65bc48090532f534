"""nn's modules for images, volumes and sequences against torch.nn's: output and all gradients. A row is a test."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor
from torch import nn as theirs
from torch.nn import functional

import bridge

PASS = """
require 'nn'
function pass(ctor, input, flat, gradOutput)
   local module = loadstring('return ' .. ctor)():type(input:type())
   local params, gradParams = module:getParameters()
   if params:nElement() > 0 then
      params:copy(flat)
      gradParams:zero()
   end
   local output = module:forward(input):clone()
   return output, module:backward(input, gradOutput), gradParams
end
"""

IMAGES, VOLUMES, FRAMES = (2, 4, 9, 8), (2, 4, 5, 6, 7), (3, 10, 6)


class Frames(theirs.Module):
    """A module for (batch, features, time), as one for (batch, time, features)."""

    def __init__(self, inner: theirs.Module) -> None:
        super().__init__()
        self.inner = inner

    def forward(self, x: Tensor) -> Tensor:
        result: Tensor = self.inner(x.transpose(1, 2)).transpose(1, 2)
        return result


class TemporalConvolution(theirs.Module):
    """Whose weight has the features of one frame side by side, as Torch7's."""

    def __init__(self, inputs: int, outputs: int, window: int, step: int) -> None:
        super().__init__()
        self.weight = theirs.Parameter(torch.empty(outputs, inputs * window))
        self.bias = theirs.Parameter(torch.empty(outputs))
        self.window, self.step = window, step

    def forward(self, x: Tensor) -> Tensor:
        weight = self.weight.view(self.weight.shape[0], self.window, -1).transpose(1, 2)
        return functional.conv1d(x.transpose(1, 2), weight, self.bias, self.step).transpose(1, 2)


ROWS: list[tuple[str, Callable[[], Any], tuple[int, ...]]] = [
    ("SpatialConvolution(4,6,3,2,2,1,1,0)", lambda: theirs.Conv2d(4, 6, (2, 3), (1, 2), (0, 1)), IMAGES),
    ("SpatialConvolution(4,6,3,3):noBias()", lambda: theirs.Conv2d(4, 6, 3, bias=False), IMAGES),
    ("SpatialConvolutionMM(4,6,3,3,1,1,1)", lambda: theirs.Conv2d(4, 6, 3, 1, 1), IMAGES),
    (
        "SpatialDilatedConvolution(4,5,3,3,1,2,2,2,2,2)",
        lambda: theirs.Conv2d(4, 5, 3, (2, 1), 2, 2),
        IMAGES,
    ),
    (
        "SpatialDepthWiseConvolution(4,1,3,3)",
        lambda: theirs.Conv2d(4, 4, 3, groups=4),
        IMAGES,
    ),
    (
        "SpatialFullConvolution(4,3,3,2,2,3,1,0,1,2)",
        lambda: theirs.ConvTranspose2d(4, 3, (2, 3), (3, 2), (0, 1), (2, 1)),
        IMAGES,
    ),
    ("SpatialMaxPooling(3,2,2,1,1,1)", lambda: theirs.MaxPool2d((2, 3), (1, 2), 1), IMAGES),
    ("SpatialMaxPooling(3,3,2,2):ceil()", lambda: theirs.MaxPool2d(3, 2, ceil_mode=True), IMAGES),
    ("SpatialDilatedMaxPooling(2,2,1,1,0,0,2,2)", lambda: theirs.MaxPool2d(2, 1, dilation=2), IMAGES),
    ("SpatialAveragePooling(3,3,2,2,1,1):ceil()", lambda: theirs.AvgPool2d(3, 2, 1, ceil_mode=True), IMAGES),
    (
        "SpatialAveragePooling(3,3,2,2,1,1):setCountExcludePad()",
        lambda: theirs.AvgPool2d(3, 2, 1, count_include_pad=False),
        IMAGES,
    ),
    ("SpatialAdaptiveMaxPooling(3,4)", lambda: theirs.AdaptiveMaxPool2d((4, 3)), IMAGES),
    ("SpatialAdaptiveAveragePooling(3,4)", lambda: theirs.AdaptiveAvgPool2d((4, 3)), IMAGES),
    ("SpatialLPPooling(4,2,2,2,2,2)", lambda: theirs.LPPool2d(2, 2), IMAGES),
    ("SpatialBatchNormalization(4,1e-3,0.2)", lambda: theirs.BatchNorm2d(4, 1e-3, 0.2), IMAGES),
    ("SpatialBatchNormalization(4,1e-5,0.1,false)", lambda: theirs.BatchNorm2d(4, affine=False), IMAGES),
    ("SpatialCrossMapLRN(3,0.1,0.6,2)", lambda: theirs.LocalResponseNorm(3, 0.1, 0.6, 2), IMAGES),
    ("SpatialReflectionPadding(1,2,3,0)", lambda: theirs.ReflectionPad2d((1, 2, 3, 0)), IMAGES),
    ("SpatialReplicationPadding(1,2,3,0)", lambda: theirs.ReplicationPad2d((1, 2, 3, 0)), IMAGES),
    ("SpatialZeroPadding(1,-2,3,0)", lambda: theirs.ZeroPad2d((1, -2, 3, 0)), IMAGES),
    ("SpatialUpSamplingNearest(3)", lambda: theirs.UpsamplingNearest2d(scale_factor=3), IMAGES),
    ("SpatialUpSamplingBilinear(2)", lambda: theirs.UpsamplingBilinear2d(scale_factor=2), IMAGES),
    ("SpatialSoftMax()", lambda: theirs.Softmax(1), IMAGES),
    ("SpatialLogSoftMax()", lambda: theirs.LogSoftmax(1), IMAGES),
    ("PixelShuffle(2)", lambda: theirs.PixelShuffle(2), IMAGES),
    ("UpSampling(2,'linear')", lambda: theirs.UpsamplingBilinear2d(scale_factor=2), IMAGES),
    ("UpSampling(2)", lambda: theirs.Upsample(scale_factor=2), VOLUMES),
    (
        "VolumetricConvolution(4,3,2,3,1,1,2,1,1,0,0)",
        lambda: theirs.Conv3d(4, 3, (2, 1, 3), (1, 1, 2), (1, 0, 0)),
        VOLUMES,
    ),
    (
        "VolumetricDilatedConvolution(4,3,2,2,2,1,1,1,0,0,0,2,1,3)",
        lambda: theirs.Conv3d(4, 3, 2, dilation=(2, 3, 1)),
        VOLUMES,
    ),
    (
        "VolumetricFullConvolution(4,3,2,3,2,2,1,1,1,1,0)",
        lambda: theirs.ConvTranspose3d(4, 3, (2, 2, 3), (2, 1, 1), (1, 0, 1)),
        VOLUMES,
    ),
    (
        "VolumetricMaxPooling(2,3,2,1,2,2,1,1,0)",
        lambda: theirs.MaxPool3d((2, 2, 3), (1, 2, 2), (1, 0, 1)),
        VOLUMES,
    ),
    ("VolumetricDilatedMaxPooling(2,2,2,1,1,1,0,0,0,2,2,2)", lambda: theirs.MaxPool3d(2, 1, 0, 2), VOLUMES),
    ("VolumetricAveragePooling(2,3,2,1,2,2)", lambda: theirs.AvgPool3d((2, 2, 3), (1, 2, 2)), VOLUMES),
    ("VolumetricBatchNormalization(4)", lambda: theirs.BatchNorm3d(4), VOLUMES),
    (
        "VolumetricReplicationPadding(1,2,0,1,2,0)",
        lambda: theirs.ReplicationPad3d((1, 2, 0, 1, 2, 0)),
        VOLUMES,
    ),
    ("BatchNormalization(6)", lambda: theirs.BatchNorm1d(6), (5, 6)),
    ("TemporalConvolution(6,4,3,2)", lambda: TemporalConvolution(6, 4, 3, 2), FRAMES),
    ("TemporalMaxPooling(3,2)", lambda: Frames(theirs.MaxPool1d(3, 2)), FRAMES),
    ("TemporalRowConvolution(6,3,2)", lambda: Frames(theirs.Conv1d(6, 6, 3, 2, groups=6)), FRAMES),
    ("Normalize(2,0)", lambda: lambda x: functional.normalize(x, eps=0), (5, 6)),
    ("Normalize(3,0)", lambda: lambda x: functional.normalize(x, 3, eps=0), (5, 6)),
]


@pytest.fixture(scope="module")
def nn() -> Iterator[bridge.Lua]:
    with bridge.Lua() as lua:
        lua.execute(PASS)
        yield lua


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(("constructor", "make", "shape"), ROWS, ids=[row[0] for row in ROWS])
def test_output_and_gradients_equal_those_of_torch(
    nn: bridge.Lua,
    constructor: str,
    make: Callable[[], Any],
    shape: tuple[int, ...],
    dtype: type[np.floating[Any]],
) -> None:
    random = np.random.default_rng(17)
    values = random.normal(size=shape).astype(dtype)
    module = make()
    parameters: list[Tensor] = []
    if isinstance(module, theirs.Module):
        module = module.to(torch.float32 if dtype is np.float32 else torch.float64)
        parameters = list(module.parameters())
    flat = random.normal(size=sum(p.numel() for p in parameters)).astype(dtype)
    torch.nn.utils.vector_to_parameters(torch.from_numpy(flat.copy()), parameters)
    x = torch.tensor(values, requires_grad=True)
    y = module(x)
    weights = random.normal(size=tuple(y.shape)).astype(dtype)
    y.backward(torch.from_numpy(weights))
    output, gradient, gradients = nn.globals["pass"](f"nn.{constructor}", values, flat, weights)
    assert x.grad is not None
    tolerance = 2e-4 if dtype is np.float32 else 1e-12
    np.testing.assert_allclose(output, y.detach().numpy(), rtol=tolerance, atol=tolerance)
    np.testing.assert_allclose(gradient, x.grad.numpy(), rtol=tolerance, atol=tolerance)
    if parameters:
        expected = torch.cat([p.grad.reshape(-1) for p in parameters if p.grad is not None]).numpy()
        np.testing.assert_allclose(gradients, expected, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_batch_normalisation_averages_as_torch_does(nn: bridge.Lua, dtype: type[np.floating[Any]]) -> None:
    values = np.random.default_rng(19).normal(size=(6, 3, 4, 4)).astype(dtype) + 2
    module = theirs.BatchNorm2d(3, momentum=0.3).to(torch.float32 if dtype is np.float32 else torch.float64)
    module(torch.from_numpy(values))
    code = """
    local x = ...
    local m = nn.SpatialBatchNormalization(3, 1e-5, 0.3):type(x:type())
    m.weight:fill(1)
    m:forward(x)
    local mean, var = m.running_mean:clone(), m.running_var:clone()
    m:evaluate()
    return mean, var, m:forward(x):clone(), m:forward(x[1])
    """
    mean, var, output, single = nn.execute(code, values)
    assert module.running_mean is not None
    assert module.running_var is not None
    np.testing.assert_allclose(mean, module.running_mean.numpy(), rtol=1e-5)
    np.testing.assert_allclose(var, module.running_var.numpy(), rtol=1e-5)
    module.eval()
    np.testing.assert_allclose(
        output, module(torch.from_numpy(values)).detach().numpy(), rtol=1e-4, atol=1e-5
    )
    np.testing.assert_allclose(single, output[:1], rtol=1e-6)


UNPOOLING = [("SpatialMaxUnpooling", (2, 3, 6, 4)), ("VolumetricMaxUnpooling", (2, 3, 4, 6, 4))]


@pytest.mark.parametrize(("name", "shape"), UNPOOLING)
def test_unpooling_puts_numbers_where_the_maxima_were(
    nn: bridge.Lua, name: str, shape: tuple[int, ...]
) -> None:
    dimensions, pooling = len(shape) - 2, name.replace("Unpooling", "Pooling")
    values = np.random.default_rng(23).normal(size=shape)
    weights = np.random.default_rng(24).normal(size=shape)
    code = f"""
    local x, w = ...
    local pool = nn.{pooling}({",".join("2" * dimensions)})
    local unpool = nn.{name}(pool)
    local y = pool:forward(x):clone()
    return y, unpool:forward(y), unpool:backward(y, w)
    """
    pooled, unpooled, gradient = nn.execute(code, values, weights)
    x = torch.from_numpy(values)
    pool = getattr(functional, f"max_pool{dimensions}d")
    y, indices = pool(x, 2, return_indices=True)
    y.requires_grad_()
    expected = getattr(functional, f"max_unpool{dimensions}d")(y, indices, 2)
    expected.backward(torch.from_numpy(weights))
    np.testing.assert_array_equal(pooled, y.detach().numpy())
    np.testing.assert_array_equal(unpooled, expected.detach().numpy())
    np.testing.assert_array_equal(gradient, y.grad.numpy())
