"""nn: gradients against finite differences, numbers against torch.nn."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import bridge

HELPERS = (Path(__file__).parent / "gradients.lua").read_text()

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
    # modules around a module
    ("nn.Bottle(nn.Linear(4,3))", "torch.randn(2,3,4)"),
    ("nn.Bottle(nn.Linear(4,3))", T),
    ("nn.Bottle(nn.Sum(2),2,1)", "torch.randn(2,3,4)"),
    ("nn.DontCast(nn.Linear(4,3),true)", T),
    ("nn.GPU(nn.Linear(4,3),1)", T),
    ("nn.NaN(nn.Linear(4,3))", T),
    ("nn.Profile(nn.Linear(4,3),1000000)", T),
    ("nn.WeightNorm(nn.Linear(4,3))", T),
    ("nn.WeightNorm(nn.Linear(4,3),2)", T),
    ("nn.WeightNorm(nn.Linear(4,3,false))", V),
    ("nn.MapTable(nn.Linear(4,3))", PAIR),
    ("nn.MapTable(nn.Linear(4,3),false)", PAIR),
    ("nn.Parallel(1,1):add(nn.Linear(4,2)):add(nn.Linear(4,3))", "torch.randn(2,4)"),
    ("nn.Parallel(2,2):add(nn.Linear(3,2)):add(nn.Tanh())", "torch.randn(4,2,3)"),
    # parameters
    ("nn.Bilinear(4,4,2)", PAIR),
    ("nn.Bilinear(4,3,2,false)", "{torch.randn(4),torch.randn(3)}"),
    *[(f"nn.CAdd({size})", T) for size in ("4", "1,4", "3,1", "3,4")],
    *[
        (f"nn.{name}(4,3)", source)
        for name in ("Cosine", "Euclidean", "WeightedEuclidean")
        for source in (T, V)
    ],
    *[(f"nn.PReLU({planes})", source) for planes, source in (("", T), ("4", T), ("4", V))],
    ("nn.PReLU(3)", "torch.randn(2,3,2,2)"),
    ("nn.PReLU(3)", "torch.randn(3,2,2)"),
    ("nn.LinearWeightNorm(4,3)", T),
    ("nn.LinearWeightNorm(4,3,false)", V),
    ("nn.Maxout(4,3,2)", T),
    ("nn.PartialLinear(4,3)", T),
    # functions of each element
    *[(f"nn.{name}()", T) for name in ("HardShrink", "SoftShrink")],
    ("nn.HardShrink(0.2)", V),
    ("nn.ReLU6()", "torch.randn(3,4):mul(6)"),
    ("nn.CReLU(1)", T),
    ("nn.CReLU(3)", "torch.randn(2,3,2)"),
    ("nn.GatedLinearUnit()", T),
    ("nn.GatedLinearUnit(1)", "torch.randn(4,3)"),
    ("nn.FeatureLPPooling(2,1,2)", "torch.rand(5):add(0.5)"),
    ("nn.FeatureLPPooling(3,2,3,true)", "torch.rand(2,7,2):add(0.5)"),
    # shape
    ("nn.Collapse(2)", "torch.randn(2,3,4)"),
    ("nn.Replicate(3)", V),
    ("nn.Replicate(3,2,1)", T),
    ("nn.Convert('bchw','bf')", "torch.randn(2,3,2,2)"),
    ("nn.Convert('chw','hwc')", "torch.randn(3,2,4)"),
    ("nn.Copy('torch.DoubleTensor','torch.DoubleTensor',true)", T),
    # tables
    ("nn.CAddTensorTable()", "{torch.randn(4),{torch.randn(4),torch.randn(4)}}"),
    *[(f"nn.{name}()", f"{{{T},{T},{T}}}") for name in ("CMaxTable", "CMinTable")],
    *[
        (f"nn.{name}()", source)
        for name in ("CosineDistance", "DotProduct")
        for source in (PAIR, f"{{{V},{V}}}")
    ],
    *[("nn.PairwiseDistance(1)", source) for source in (PAIR, f"{{{V},{V}}}")],
    ("nn.MM()", "{torch.randn(2,3),torch.randn(3,4)}"),
    ("nn.MM(true,true)", "{torch.randn(3,2),torch.randn(4,3)}"),
    ("nn.MM(false,true)", "{torch.randn(2,3,4),torch.randn(2,5,4)}"),
    ("nn.MV()", "{torch.randn(2,3),torch.randn(3)}"),
    ("nn.MV(true)", "{torch.randn(3,2),torch.randn(3)}"),
    ("nn.MV()", "{torch.randn(2,3,4),torch.randn(2,4)}"),
    ("nn.MV(true)", "{torch.randn(2,3,4),torch.randn(2,3)}"),
    ("nn.MixtureTable()", "{torch.rand(3,2),{torch.randn(3,4),torch.randn(3,4)}}"),
    ("nn.MixtureTable()", "{torch.rand(2),{torch.randn(3),torch.randn(3)}}"),
    ("nn.MixtureTable()", "{torch.rand(3,2),torch.randn(3,2,4)}"),
    ("nn.MixtureTable(3)", "{torch.rand(3,2),torch.randn(3,4,2)}"),
    ("nn.ZipTable()", f"{{{PAIR},{PAIR}}}"),
    ("nn.ZipTableOneToMany()", f"{{{T},{PAIR}}}"),
]
IMAGE, IMAGES = "torch.randn(2,5,6)", "torch.randn(2,2,5,6)"
VOLUME, VOLUMES = "torch.randn(2,4,5,4)", "torch.randn(2,2,4,5,4)"
FRAMES, SEQUENCES = "torch.randn(7,3)", "torch.randn(2,7,3)"
IMAGE_MODULES = [
    "SpatialConvolution(2,3,3,2,2,1,1,0)",
    "SpatialConvolution(2,3,2,2):noBias()",
    "SpatialConvolutionMM(2,3,3,3,1,2,1,1)",
    "SpatialConvolutionMM(2,3,3,3):noBias()",
    "SpatialConvolutionLocal(2,2,6,5,3,2,2,1,1,0)",
    "SpatialConvolutionMap(nn.tables.full(2,3),3,2,1,2)",
    "SpatialConvolutionMap(torch.Tensor{{1,1},{2,1},{2,2},{2,2}},2,2)",
    "SpatialDepthWiseConvolution(2,3,3,2,1,1,1,0)",
    "SpatialDepthWiseConvolution(2,2,3,2):noBias()",
    "SpatialDilatedConvolution(2,2,2,2,1,1,1,0,2,3)",
    "SpatialFullConvolution(2,3,3,2,2,3,1,0,1,2)",
    "SpatialFullConvolution(2,3,2,2):noBias()",
    "SpatialFullConvolutionMap(nn.tables.random(2,3,1),3,2,2,1)",
    "SpatialMaxPooling(2,2)",
    "SpatialMaxPooling(3,2,2,3,1,1):ceil()",
    "SpatialDilatedMaxPooling(2,2,1,1,0,1,3,2)",
    "SpatialAveragePooling(2,3,2,2,1,1):ceil()",
    "SpatialAveragePooling(2,3,2,2,1,1):setCountExcludePad()",
    "SpatialAdaptiveMaxPooling(4,3)",
    "SpatialAdaptiveAveragePooling(4,3)",
    "SpatialFractionalMaxPooling(2,2,3,2):fixPoolingRegions()",
    "SpatialFractionalMaxPooling(2,2,0.7,0.6):fixPoolingRegions()",
    "SpatialLPPooling(2,2,2,2,2,2)",
    "SpatialLPPooling(2,4,2,2)",
    "SpatialSubSampling(2,2,3,1,2)",
    "SpatialSoftMax()",
    "SpatialLogSoftMax()",
    "SpatialCrossMapLRN(3,0.1,0.75,1)",
    "SpatialCrossMapLRN(4,0.2)",
    "SpatialSubtractiveNormalization(2,torch.ones(3,5))",
    "SpatialSubtractiveNormalization(2,torch.ones(3))",
    "SpatialDivisiveNormalization(2,torch.ones(3,5))",
    "SpatialDivisiveNormalization(2,torch.ones(3))",
    "SpatialContrastiveNormalization(2,torch.ones(5))",
    "SpatialReflectionPadding(1,2,3,0)",
    "SpatialReplicationPadding(1,2,3,0)",
    "SpatialZeroPadding(1,-2,-1,3)",
    "SpatialUpSamplingNearest(2)",
    "SpatialUpSamplingBilinear(2)",
    "SpatialUpSamplingBilinear({oheight=4,owidth=9})",
]
VOLUME_MODULES = [
    "VolumetricConvolution(2,3,2,3,2,1,2,1,1,0,1)",
    "VolumetricConvolution(2,2,2,2,2):noBias()",
    "VolumetricDilatedConvolution(2,2,2,2,2,1,1,1,0,0,0,2,2,1)",
    "VolumetricFullConvolution(2,3,2,3,2,2,1,2,1,0,0,1,0,1)",
    "VolumetricMaxPooling(2,2,2,1,2,2)",
    "VolumetricMaxPooling(3,3,3,2,2,2,1,1,1):ceil()",
    "VolumetricDilatedMaxPooling(2,2,2,1,1,1,0,0,1,2,2,2)",
    "VolumetricAveragePooling(2,2,2)",
    "VolumetricAveragePooling(2,2,3,2,1,2,1,0,1):ceil():setCountExcludePad()",
    "VolumetricFractionalMaxPooling(2,2,2,2,2,2):fixPoolingRegions()",
    "VolumetricReplicationPadding(1,2,0,1,2,0)",
]
FRAME_MODULES = [
    "TemporalConvolution(3,4,2)",
    "TemporalConvolution(3,2,3,2)",
    "TemporalMaxPooling(2)",
    "TemporalMaxPooling(3,2)",
    "TemporalRowConvolution(3,2)",
    "TemporalRowConvolution(3,3,2):noBias()",
    "TemporalDynamicKMaxPooling(3)",
    "TemporalDynamicKMaxPooling(1,0.5)",
]
BY_DIMENSION = [
    *((module, source) for module in IMAGE_MODULES for source in (IMAGE, IMAGES)),
    *((module, source) for module in VOLUME_MODULES for source in (VOLUME, VOLUMES)),
    *((module, source) for module in FRAME_MODULES for source in (FRAMES, SEQUENCES)),
    ("TemporalRowConvolution(3,2,1,true)", "torch.randn(3,6)"),
    ("TemporalRowConvolution(3,2,2,true)", "torch.randn(2,3,6)"),
    ("TemporalSubSampling(3,2)", FRAMES),
    ("TemporalSubSampling(3,3,2)", FRAMES),
    ("SpatialFullConvolution(2,3,3,3,2,2,1,1)", "{torch.randn(2,3,3),torch.randn(3,6,5)}"),
    ("PixelShuffle(2)", "torch.randn(8,2,3)"),
    ("PixelShuffle(3)", "torch.randn(2,9,2,1)"),
    ("UpSampling(2)", IMAGES),
    ("UpSampling(2,'linear')", IMAGES),
    ("UpSampling(2)", "torch.randn(1,2,2,3,2)"),
    ("UpSampling(3,'linear')", "torch.randn(1,2,2,3,2)"),
    ("BatchNormalization(4)", T),
    ("BatchNormalization(4,1e-3,0.2,false)", T),
    ("SpatialBatchNormalization(2)", IMAGES),
    ("VolumetricBatchNormalization(2)", VOLUMES),
    ("LayerNormalization(4)", T),
    ("LayerNormalization(4,0.5,1e-5,false)", T),
    *((f"Normalize({p})", source) for p in (1, 2, 1.5, 3, "math.huge") for source in (T, V)),
    ("Padding(1,2)", T),
    ("Padding(2,-3,2,1.5,2)", T),
    ("Padding(1,2,1,0,3)", T),
    ("DepthConcat(1):add(nn.SpatialConvolution(2,1,1,1)):add(nn.SpatialConvolution(2,2,3,2))", IMAGE),
]
GRADIENTS += [(f"nn.{module}", source) for module, source in BY_DIMENSION]

SIGNS = "torch.randn(3,4):sign()"
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
    *[
        (f"nn.{name}()", T, SIGNS)
        for name in ("SoftMarginCriterion", "MarginCriterion", "HingeEmbeddingCriterion")
    ],
    ("nn.HingeEmbeddingCriterion(2)", T, "-1"),
    ("nn.MultiMarginCriterion()", T, "torch.Tensor{1,4,2}"),
    ("nn.MultiMarginCriterion(2,torch.Tensor{1,2,3,4},0.5)", T, "torch.LongTensor{1,4,2}"),
    ("nn.MultiMarginCriterion()", V, "3"),
    ("nn.MultiLabelMarginCriterion()", T, "torch.Tensor{{1,3,0,2},{0,1,2,3},{4,1,2,0}}"),
    ("nn.MultiLabelMarginCriterion()", V, "torch.LongTensor{2,4,0,1}"),
    ("nn.MultiLabelSoftMarginCriterion()", T, "torch.rand(3,4):round()"),
    ("nn.MultiLabelSoftMarginCriterion(torch.Tensor{1,2,3,4})", T, "torch.rand(3,4)"),
    ("nn.DistKLDivCriterion()", T, "torch.rand(3,4)"),
    *[
        (f"nn.L1HingeEmbeddingCriterion({margin})", f"{{{V},{V}}}", y)
        for margin in ("", "10")
        for y in ("1", "-1")
    ],
    ("nn.L1Cost()", T, "nil"),
    *[
        (f"nn.MarginRankingCriterion({m})", f"{{{V},{V}}}", y)
        for m in ("", "0.1")
        for y in ("1", "-1", "torch.Tensor{1,-1,1,-1}")
    ],
    *[(f"nn.CosineEmbeddingCriterion({m})", f"{{{V},{V}}}", y) for m in ("", "-0.9") for y in ("1", "-1")],
    ("nn.CosineEmbeddingCriterion()", PAIR, "torch.Tensor{1,-1,-1}"),
    ("nn.DistanceRatioCriterion()", "{torch.rand(3,1),torch.rand(3,1)}", "nil"),
    ("nn.WeightedMSECriterion(torch.rand(3,4))", T, T),
    ("nn.WeightedMSECriterion(torch.rand(4))", T, T),
    ("nn.ClassSimplexCriterion(4)", T, "torch.Tensor{1,4,2}"),
    ("nn.ClassSimplexCriterion(4)", V, "3"),
    ("nn.SpatialAutoCropMSECriterion()", "torch.randn(2,3,3)", "torch.randn(2,5,6)"),
    ("nn.SpatialAutoCropMSECriterion(false)", "torch.randn(2,1,3,3)", "torch.randn(2,1,4,4)"),
    ("nn.SpatialClassNLLCriterion()", "torch.randn(2,3,2,2)", "torch.rand(2,2,2):mul(3):ceil()"),
    (
        "nn.SpatialClassNLLCriterion(torch.Tensor{1,2,3},false)",
        "torch.randn(2,3,2,2)",
        "torch.rand(2,2,2):mul(3):ceil()",
    ),
    ("nn.SpatialClassNLLCriterion(nil,true,2)", "torch.randn(2,3,2,2)", "torch.rand(2,2,2):mul(3):ceil()"),
    ("nn.ModuleCriterion(nn.MSECriterion(),nn.Tanh(),nn.Identity())", T, T),
]


@pytest.fixture(scope="module")
def nn() -> Iterator[bridge.Lua]:
    with bridge.Lua() as lua:
        lua.execute(HELPERS)
        yield lua


@pytest.mark.parametrize(("constructor", "source"), GRADIENTS)
def test_gradients_are_those_of_finite_differences(nn: bridge.Lua, constructor: str, source: str) -> None:
    assert nn.globals["gradients"](constructor, source) < 1e-7


@pytest.mark.parametrize("p", [2, 3])
def test_a_distance_has_a_gradient_that_is_a_millionth_off(nn: bridge.Lua, p: int) -> None:
    # as in Torch7, which adds 1e-6 to distances so that one of 0 has a gradient
    for source in (PAIR, f"{{{V},{V}}}"):
        assert nn.globals["gradients"](f"nn.PairwiseDistance({p})", source) < 1e-5


# Each fractional pooling draws its own windows; nn.View asks for contiguous input, as in Torch7.
OTHER_WAYS = [
    (constructor, source, way)
    for way in ("float", "noncontiguous", "cleared", "cloned", "evaluated", "saved")
    for constructor, source in GRADIENTS
    if "Fractional" not in constructor and not (way == "noncontiguous" and constructor.startswith("nn.View"))
]


@pytest.mark.parametrize(("constructor", "source", "way"), OTHER_WAYS)
def test_results_are_the_same_in_other_ways(nn: bridge.Lua, constructor: str, source: str, way: str) -> None:
    assert nn.globals["otherwise"](constructor, source, way) < (1e-5 if way == "float" else 1e-13)


@pytest.mark.parametrize(("constructor", "source", "target"), LOSSES)
def test_gradients_of_losses_are_those_of_finite_differences(
    nn: bridge.Lua, constructor: str, source: str, target: str
) -> None:
    assert nn.globals["lossgradients"](constructor, source, target) < 1e-7


@pytest.mark.parametrize(("constructor", "source"), GRADIENTS)
def test_updating_at_once_is_updating_in_two_steps(nn: bridge.Lua, constructor: str, source: str) -> None:
    assert nn.globals["updated"](constructor, source) < 1e-13


@pytest.mark.parametrize("way", ["float", "noncontiguous"])
@pytest.mark.parametrize(("constructor", "source", "target"), LOSSES)
def test_losses_are_the_same_in_other_ways(
    nn: bridge.Lua, constructor: str, source: str, target: str, way: str
) -> None:
    tolerance = 1e-5 if way == "float" else 1e-13
    assert nn.globals["lossotherwise"](constructor, source, target, way) < tolerance


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
