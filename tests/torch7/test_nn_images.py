"""nn's modules for images, volumes and sequences: what programs see of them, and what they say of bad input."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import bridge

FACTS = Path(__file__).with_name("nn_image_facts.lua")


@pytest.fixture(scope="module")
def nn() -> Iterator[bridge.Lua]:
    with bridge.Lua() as lua:
        lua.execute("require 'nn'; torch.setdefaulttensortype('torch.DoubleTensor')")
        lua.execute("facts = dofile(...)", str(FACTS))
        yield lua


@pytest.mark.parametrize("fact", re.findall(r"^facts\['(.*)'\]", FACTS.read_text(), re.MULTILINE))
def test_fact(nn: bridge.Lua, fact: str) -> None:
    assert nn.execute("torch.manualSeed(3) return facts[...]()", fact) is True


ERRORS: list[tuple[str, str]] = [
    (
        "nn.SpatialConvolution(1,2,3,3):forward(torch.Tensor(2,5,5))",
        "Need input of dimension 3 and input.size[0] == 1 but got input to be of shape: [2 x 5 x 5]",
    ),
    (
        "nn.SpatialConvolution(1,2,3,3):forward(torch.Tensor(4,1,2,2))",
        "Given input size: (1 x 2 x 2). Calculated output size: (2 x 0 x 0). Output size is too small",
    ),
    ("nn.SpatialConvolution(1,2,3,3):forward(torch.Tensor(5,5))", "but got: [5 x 5]"),
    (
        "nn.SpatialConvolution(1,2,3,3):forward(torch.Tensor())",
        "3D or 4D (batch mode) tensor expected for input",
    ),
    ("nn.SpatialConvolution(1,2,3,3):forward({})", "attempt to call method 'dim'"),
    ("nn.SpatialConvolution(1,2,3,3,0,1):forward(torch.Tensor(1,5,5))", "stride should be greater than zero"),
    ("nn.SpatialConvolution(1,2,3,3):float():forward(torch.Tensor(1,5,5))", "type"),
    (
        "nn.SpatialConvolution(1,2,3,3):backward(torch.Tensor(1,5,5), torch.Tensor(2,3,4))",
        "Need gradOutput of dimension 3 and gradOutput.size[2] == 3 but got gradOutput to be of shape: [2 x 3 x 4]",
    ),
    ("nn.SpatialConvolution(1,2,3,3):backward(torch.Tensor(1,5,5), 1)", "attempt to index"),
    ("nn.SpatialFullConvolution(1,1,3,3,2,2,0,0,2,0)", "adjW and adjH must be smaller"),
    ("nn.SpatialConvolutionLocal(1,1,2,2,3,3)", "does not fit"),
    (
        "nn.SpatialConvolutionMap(nn.tables.full(3,1),2,2):forward(torch.Tensor(2,5,5))",
        "invalid number of input",
    ),
    ("nn.SpatialMaxPooling(2,2,2,2,2,2):forward(torch.Tensor(1,5,5))", "smaller than half of kernel size"),
    (
        "nn.SpatialMaxPooling(3,3):forward(torch.Tensor(1,2,2))",
        "Given input size: (1x2x2). Calculated output size: (1x0x0). Output size is too small",
    ),
    (
        "nn.SpatialMaxPooling(2,2):backward(torch.Tensor(1,4,4),torch.Tensor(1,4,4))",
        "Need gradOutput of dimension 3",
    ),
    ("nn.SpatialMaxUnpooling(nn.Linear(1,1))", "Argument must be a nn.SpatialMaxPooling module"),
    ("nn.SpatialMaxUnpooling(nn.SpatialMaxPooling(2,2,1,1))", "must be equal to its stride"),
    (
        "nn.SpatialMaxUnpooling(nn.SpatialMaxPooling(2,2)):forward(torch.Tensor(1,2,2))",
        "must have seen an input",
    ),
    ("nn.SpatialFractionalMaxPooling(2,2,0.5,3)", "assertion failed!"),
    ("nn.SpatialFractionalMaxPooling(2,2,3,3):forward(torch.Tensor(5,5))", "input must be dim 3 or 4"),
    (
        "nn.VolumetricFractionalMaxPooling(2,2,2,.1,.5,.5):forward(torch.Tensor(1,9,9,9))",
        "reduction ratio or input time too small",
    ),
    (
        "nn.VolumetricFractionalMaxPooling(2,2,2,2,9,2):forward(torch.Tensor(1,9,9,9))",
        "bad argument #8 to 'v' (poolSizeW (2) too large relative to input width (9))",
    ),
    ("nn.SpatialFractionalMaxPooling(2,2,5,5):forward(torch.Tensor(1,5,5))", "too large relative to input"),
    ("nn.SpatialAdaptiveAveragePooling(0,2):forward(torch.Tensor(1,5,5))", "Output size is too small"),
    (
        "nn.BatchNormalization(3):forward(torch.Tensor(3))",
        "only mini-batch supported (2D tensor), got 1D tensor instead",
    ),
    ("nn.SpatialBatchNormalization(3):forward(torch.Tensor(2,4,2,2))", "got 4-feature tensor, expected 3"),
    (
        "nn.BatchNormalization(2):updateGradInput(torch.Tensor(3,2),torch.Tensor(3,2))",
        "must call :updateOutput() first",
    ),
    (
        (
            "(function() local m = nn.BatchNormalization(2) m:forward(torch.randn(3,2)) "
            "m:backward(torch.randn(3,2), torch.randn(4,2)) end)()"
        ),
        "input and gradOutput shapes do not match: input [3 x 2], gradOutput [4 x 2]",
    ),
    (
        "nn.SpatialDropout():forward(torch.Tensor(2,2))",
        "Input must be 4D (nbatch, nfeat, h, w) or 3D (nfeat, h, w)",
    ),
    (
        "nn.SpatialReflectionPadding(5,-9,0,0):forward(torch.Tensor(1,4,4))",
        "is too small: nothing is left of 4",
    ),
    ("nn.SpatialReplicationPadding(-2):forward(torch.Tensor(1,4,4))", "is too small"),
    ("nn.SpatialZeroPadding(-2):forward(torch.Tensor(1,4,4))", "input is too small"),
    ("nn.SpatialUpSamplingNearest(1.5)", "scale_factor must be integer"),
    ("nn.SpatialUpSamplingBilinear(0)", "scale_factor must be greater than 1"),
    ("nn.UpSampling(2,'cubic')", "mode must be 'nearest' or 'linear', got \"cubic\""),
    ("nn.SpatialSubtractiveNormalization(1,torch.ones(4,4))", "averaging kernel must have ODD dimensions"),
    ("nn.SpatialDivisiveNormalization(1,torch.ones(3,3,3))", "averaging kernel must be 2D or 1D"),
    (
        "nn.TemporalConvolution(3,2,4):forward(torch.Tensor(3,3))",
        "smaller than kernel size. Got: 3, Expected: 4",
    ),
    ("nn.TemporalConvolution(3,2,2):forward(torch.Tensor(5,4))", "input.size[1] == 3"),
    ("nn.TemporalDynamicKMaxPooling(4):forward(torch.Tensor(3,2))", "too small for desired k value (4)"),
    ("nn.TemporalSubSampling(3,2):forward(torch.Tensor(2,5,3))", "tensor expected"),
    ("nn.PixelShuffle(2):forward(torch.Tensor(6,2,2))", "6 planes cannot be divided into groups of 4"),
    (
        (
            "(function() local m, x = nn.SpatialMaxPooling(2,2), torch.randn(1,4,4) m:forward(x) m.indices:fill(17) "
            "m:backward(x, m.output) end)()"
        ),
        "invalid max index: they must be from 1 to 16",
    ),
    (
        (
            "(function() local m = nn.SpatialMaxUnpooling(nn.SpatialMaxPooling(2,2)) "
            "m.pooling:forward(torch.randn(1,4,4)) m.pooling.indices:fill(0) m:forward(m.pooling.output) end)()"
        ),
        "invalid max index: they must be from 1 to 16",
    ),
    (
        (
            "(function() local m, x = nn.TemporalMaxPooling(2), torch.randn(4,3) m:forward(x) m.indices:fill(2) "
            "m:backward(x, m.output) end)()"
        ),
        "invalid max index: they must be from 0 to 1",
    ),
    (
        "(function() local m = nn.BatchNormalization(3) m.weight = torch.ones(1) m:forward(torch.randn(4,3)) end)()",
        "must have 3 elements",
    ),
    (
        "(function() local m = nn.SpatialConvolution(1,2,3,3) m.kW = 5 m:forward(torch.randn(1,8,8)) end)()",
        "Need weight of dimension 4 and weight.size[3] == 5",
    ),
    ("nn.Padding(3,1):forward(torch.Tensor(2,2))", "dimension 3 out of range"),
    ("nn.Padding(1,1,1,0,9):forward(torch.Tensor(2))", "index 9 out of range"),
    ("nn.Normalize(0)", "p-norm"),
    ("nn.Normalize(2):forward(torch.Tensor(2,2,2))", "only 1d layer supported"),
]


@pytest.mark.parametrize(("expression", "message"), ERRORS)
def test_bad_input_is_told(nn: bridge.Lua, expression: str, message: str) -> None:
    with pytest.raises(bridge.LuaError) as raised:
        nn.eval(expression)
    assert message in raised.value.message


PRINTED: list[tuple[str, str]] = [
    ("nn.SpatialConvolution(1,2,3,3)", "nn.SpatialConvolution(1 -> 2, 3x3)"),
    ("nn.SpatialConvolution(1,2,3,4,2,1,0,1)", "nn.SpatialConvolution(1 -> 2, 3x4, 2,1, 0,1)"),
    ("nn.SpatialConvolution(1,2,3,3,2,2):noBias()", "nn.SpatialConvolution(1 -> 2, 3x3, 2,2) without bias"),
    ("nn.SpatialConvolutionLocal(1,2,8,6,3,3)", "nn.SpatialConvolutionLocal(1 -> 2, 8x6, 3x3)"),
    (
        "nn.SpatialFullConvolution(1,2,3,3,2,2,1,1,1,1)",
        "nn.SpatialFullConvolution(1 -> 2, 3x3, 2,2, 1,1, 1,1)",
    ),
    (
        "nn.VolumetricFullConvolution(1,2,2,3,4,2,2,2)",
        "nn.VolumetricFullConvolution(1 -> 2, 2x3x4, 2,2,2)",
    ),
    ("nn.SpatialMaxPooling(2,3,1,1):ceil()", "nn.SpatialMaxPooling(2x3, 1,1)"),
    ("nn.SpatialDilatedMaxPooling(2,2)", "nn.SpatialDilatedMaxPooling(2x2, 2,2, 1,1)"),
    ("nn.VolumetricMaxPooling(2,3,4,1,1,1,1,1,1)", "nn.VolumetricMaxPooling(2x3x4, 1,1,1, 1,1,1)"),
    ("nn.SpatialFractionalMaxPooling(2,3,0.5,0.7)", "nn.SpatialFractionalMaxPooling(0x0, 2,3)"),
    (
        "nn.SpatialMaxUnpooling(nn.SpatialMaxPooling(2,2))",
        "nn.SpatialMaxUnpooling associated to nn.SpatialMaxPooling(2x2, 2,2)",
    ),
    ("nn.VolumetricBatchNormalization(3)", "nn.VolumetricBatchNormalization (5D) (3)"),
    ("nn.SpatialUpSamplingBilinear{oheight=3,owidth=4}", "nn.SpatialUpSamplingBilinear(3, 4)"),
    ("nn.SpatialZeroPadding(1,2)", "nn.SpatialZeroPadding(l=1, r=2, t=1, b=1)"),
    (
        "nn.VolumetricReplicationPadding(1,2,3,4,5,6)",
        "nn.VolumetricReplicationPadding(left=1, right=2, top=3, bottom=4, front=5, back=6)",
    ),
    ("nn.SpatialDropout(0.25)", "nn.SpatialDropout(0.250000)"),
    ("nn.TemporalRowConvolution(4,3,2):noBias()", "nn.TemporalRowConvolution(4, 3, 2) without bias"),
    ("nn.Normalize(1.5)", "nn.Normalize(1.500000)"),
    ("nn.Normalize(math.huge)", "nn.Normalize(inf)"),
]


@pytest.mark.parametrize(("expression", "text"), PRINTED)
def test_printed_text(nn: bridge.Lua, expression: str, text: str) -> None:
    assert nn.eval(f"tostring({expression})") == text


@pytest.mark.parametrize("pads", [(5, 4, 0, 0), (3, 3, 3, 3), (0, 4, 7, 2)])
@pytest.mark.parametrize("size", [(3, 4), (1, 2), (3, 1)])
def test_a_mirrored_border_wider_than_the_image_goes_back_and_forth(
    nn: bridge.Lua, pads: tuple[int, int, int, int], size: tuple[int, int]
) -> None:
    left, right, top, bottom = pads
    image = np.random.default_rng(1).random((2, 3, *size))
    output = nn.execute(
        "local x, l, r, t, b = ... mirror = nn.SpatialReflectionPadding(l, r, t, b) return mirror:forward(x)",
        image,
        *pads,
    )
    assert np.array_equal(
        output, np.pad(image, ((0, 0), (0, 0), (top, bottom), (left, right)), mode="reflect")
    )
    gradient = nn.execute("return mirror:backward(..., mirror.output:clone():fill(1))", image)
    assert gradient.shape == image.shape
    assert gradient.sum() == output.size
