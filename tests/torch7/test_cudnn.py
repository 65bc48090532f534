"""cudnn: layers equal to nn's and to torch's, and networks that change between the two packages."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch.nn import functional

import bridge

CHECKS = Path(__file__).with_name("gradients.lua")
IMAGES, VOLUMES, FRAMES = "torch.randn(2,4,6,6)", "torch.randn(2,2,4,4,4)", "torch.randn(2,7,3)"

MODULES: list[tuple[str, str, str]] = [
    ("SpatialConvolution(4,6,3,2,2,1,1)", IMAGES, "(4 -> 6, 3x2, 2,1, 1,0)"),
    ("SpatialConvolution(4,6,3,3,1,1,1,1,2)", IMAGES, "(4 -> 6, 3x3, 1,1, 1,1)"),
    ("SpatialConvolution(4,4,3,3):noBias()", "torch.randn(4,6,6)", "(4 -> 4, 3x3) without bias"),
    ("SpatialConvolution(4,6,3,3):fastest()", IMAGES, "(4 -> 6, 3x3)"),
    ("SpatialConvolution(4,6,3,3):setMode(1,1,1)", IMAGES, "(4 -> 6, 3x3)"),
    ("SpatialDilatedConvolution(4,2,2,2,1,1,1,1,2,2)", IMAGES, "(4 -> 2, 2x2, 1,1, 1,1, 2,2)"),
    ("SpatialFullConvolution(4,2,3,3,2,2,1,1,1,1)", IMAGES, "(4 -> 2, 3x3, 2,2, 1,1, 1,1)"),
    ("SpatialFullConvolution(4,2,3,3,2,2,1,1,1,1,2)", IMAGES, "(4 -> 2, 3x3, 2,2, 1,1, 1,1)"),
    ("VolumetricConvolution(2,3,2,2,2)", VOLUMES, "(2 -> 3, 2x2x2)"),
    ("VolumetricFullConvolution(2,3,2,2,2,2,2,2)", VOLUMES, "(2 -> 3, 2x2x2, 2,2,2)"),
    ("VolumetricDilatedConvolution(2,3,2,2,2,1,1,1,0,0,0,2,1,1)", VOLUMES, ""),
    ("TemporalConvolution(3,4,2)", FRAMES, ""),
    ("TemporalConvolution(3,4,3,2,1)", FRAMES, ""),
    ("TemporalConvolution(3,4,3,2,1)", "torch.randn(7,3)", ""),
    ("SpatialMaxPooling(2,2)", IMAGES, "(2x2, 2,2)"),
    ("SpatialMaxPooling(3,3,2,2):ceil()", IMAGES, "(3x3, 2,2)"),
    ("SpatialAveragePooling(2,3)", IMAGES, "(2x3, 2,3)"),
    ("SpatialAveragePooling(3,3,1,1,1,1)", IMAGES, "(3x3, 1,1, 1,1)"),
    ("VolumetricMaxPooling(2,2,2)", VOLUMES, "(2x2x2, 2,2,2)"),
    ("VolumetricAveragePooling(2,2,2)", VOLUMES, "(2x2x2, 2,2,2)"),
    ("ReLU()", IMAGES, ""),
    ("ClippedReLU(0.5)", IMAGES, ""),
    ("Tanh()", IMAGES, ""),
    ("Sigmoid()", IMAGES, ""),
    ("SoftMax()", IMAGES, ""),
    ("LogSoftMax()", "torch.randn(3,4)", ""),
    ("SpatialSoftMax(true)", IMAGES, ""),
    ("SpatialLogSoftMax()", IMAGES, ""),
    ("VolumetricSoftMax()", VOLUMES, ""),
    ("VolumetricLogSoftMax()", VOLUMES, ""),
    ("SpatialCrossMapLRN(3,0.1)", IMAGES, ""),
    ("BatchNormalization(4)", "torch.randn(3,4)", " (2D) (4)"),
    ("SpatialBatchNormalization(4)", IMAGES, " (4D) (4)"),
    ("VolumetricBatchNormalization(2)", VOLUMES, " (5D) (2)"),
]


@pytest.fixture(scope="module")
def cudnn() -> Iterator[bridge.Lua]:
    """A state without a GPU."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MOONTIDE_CUDA", "none")
        with bridge.Lua() as lua:
            lua.execute("require 'cudnn' require 'nngraph' checks = dofile(...)", str(CHECKS))
            yield lua


@pytest.mark.parametrize(("module", "source"), [row[:2] for row in MODULES])
def test_gradients_are_those_of_finite_differences(cudnn: bridge.Lua, module: str, source: str) -> None:
    assert cudnn.execute("return checks.gradients(...)", "cudnn." + module, source, "all") < 1e-7


@pytest.mark.parametrize("way", ["float", "cleared", "cloned", "saved", "noncontiguous"])
@pytest.mark.parametrize(("module", "source"), [row[:2] for row in MODULES])
def test_results_are_the_same_in_other_ways(cudnn: bridge.Lua, module: str, source: str, way: str) -> None:
    assert cudnn.execute("return checks.otherwise(...)", "cudnn." + module, source, way) < (
        1e-5 if way == "float" else 1e-13
    )


@pytest.mark.parametrize(("module", "arguments"), [(row[0], row[2]) for row in MODULES if row[2]])
def test_the_text_is_that_of_nn(cudnn: bridge.Lua, module: str, arguments: str) -> None:
    assert cudnn.eval(f"tostring(cudnn.{module})") == "cudnn." + module.split("(", maxsplit=1)[0] + arguments


@pytest.mark.parametrize("name", ["ReLU", "Tanh", "Sigmoid"])
def test_in_place_the_memory_is_the_inputs(cudnn: bridge.Lua, name: str) -> None:
    code = f"""
    local x, g = torch.randn(3, 4), torch.randn(3, 4)
    local plain = cudnn.{name}()
    local y, gradient = plain:forward(x), plain:backward(x, g)
    local m, input, gradOutput = cudnn.{name}(true), x:clone(), g:clone()
    local output, gradInput = m:forward(input), m:backward(input, gradOutput)
    assert(output:storage() == input:storage() and gradInput:storage() == gradOutput:storage())
    m:clearState()
    return (input - y):abs():max() + (gradOutput - gradient):abs():max(), input:nElement()
    """
    assert cudnn.execute(code) == (0, 12)


NUMBERS: list[tuple[str, tuple[int, ...], Callable[..., Any]]] = [
    (
        "SpatialConvolution(4,6,3,3,2,1,1,0,2)",
        (2, 4, 6, 6),
        lambda x, w, b: functional.conv2d(x, w, b, stride=(1, 2), padding=(0, 1), groups=2),
    ),
    (
        "SpatialFullConvolution(4,6,3,3,2,2,1,1,1,1,2)",
        (2, 4, 5, 5),
        lambda x, w, b: functional.conv_transpose2d(x, w, b, stride=2, padding=1, output_padding=1, groups=2),
    ),
    (
        "TemporalConvolution(3,4,3,2,1)",
        (2, 7, 3),
        lambda x, w, b: functional.conv1d(
            x.transpose(1, 2), w.view(4, 3, 3).transpose(1, 2), b, stride=2, padding=1
        ).transpose(1, 2),
    ),
    ("SoftMax()", (2, 3, 4, 5), lambda x: x.flatten(1).softmax(1).view_as(x)),
    ("SpatialSoftMax()", (2, 3, 4, 5), lambda x: x.softmax(1)),
    ("VolumetricLogSoftMax()", (2, 3, 4, 5, 2), lambda x: x.log_softmax(1)),
    ("ClippedReLU(0.5)", (2, 3), lambda x: x.clamp(0, 0.5)),
]


@pytest.mark.parametrize(("module", "shape", "function"), NUMBERS)
def test_numbers_equal_those_of_torch(
    cudnn: bridge.Lua, module: str, shape: tuple[int, ...], function: Callable[..., Any]
) -> None:
    x = np.random.default_rng(1).normal(size=shape)
    code = f"local m = cudnn.{module} local y = m:forward(...):clone() return {{y, m.weight, m.bias}}"
    output, *parameters = [torch.from_numpy(part) for part in cudnn.execute(code, x)]
    torch.testing.assert_close(output, function(torch.from_numpy(x), *parameters))


@pytest.mark.parametrize("dimensions", [4, 5])
def test_cross_entropy_is_that_of_torch(cudnn: bridge.Lua, dimensions: int) -> None:
    name = {4: "Spatial", 5: "Volumetric"}[dimensions]
    rng = np.random.default_rng(2)
    shape = (2, 3, *(4,) * (dimensions - 2))
    x, target = rng.normal(size=shape), rng.integers(0, 3, (2, *shape[2:]))
    weights = np.array([1.0, 2.0, 3.0])
    code = f"""
    local x, target, weights = ...
    local c = cudnn.{name}CrossEntropyCriterion(weights)
    return c:forward(x, target), c:backward(x, target)
    """
    loss, gradient = cudnn.execute(code, x, bridge.index(target), weights)
    theirs = torch.tensor(x, requires_grad=True)
    expected = functional.cross_entropy(theirs, torch.from_numpy(target), torch.from_numpy(weights))
    expected.backward()
    assert loss == pytest.approx(expected.item())
    np.testing.assert_allclose(gradient, theirs.grad, atol=1e-12)


NET = """
net = nn.Sequential()
   :add(nn.SpatialConvolution(3,4,3,3,1,1,1,1)):add(nn.SpatialBatchNormalization(4)):add(nn.ReLU(true))
   :add(nn.SpatialMaxPooling(2,2)):add(nn.SpatialAveragePooling(2,2)):add(nn.SpatialFullConvolution(4,2,2,2,2,2))
   :add(nn.ConcatTable():add(nn.Tanh()):add(nn.Sequential():add(nn.Sigmoid()))):add(nn.JoinTable(2))
   :add(nn.SpatialCrossMapLRN(3)):add(nn.View(-1):setNumInputDims(3)):add(nn.Linear(144,5)):add(nn.LogSoftMax())
x = torch.randn(2,3,8,8)
"""


def test_a_network_converts_there_and_back(cudnn: bridge.Lua) -> None:
    code = """
    torch.manualSeed(1)
    local y, text, weight = net:forward(x):clone(), tostring(net), net:get(1).weight
    local there = cudnn.convert(net, cudnn)
    local kinds = tostring(there)
    assert((there:forward(x) - y):abs():max() == 0 and rawequal(there:get(1).weight, weight))
    local back = cudnn.convert(there, nn)
    assert((back:forward(x) - y):abs():max() == 0 and tostring(back) == text and back:get(1).iSize == nil)
    return select(2, kinds:gsub('cudnn%.', '')), kinds:find('nn.View') ~= nil
    """
    assert cudnn.execute(NET + code) == (10, True)


def test_layers_that_are_excluded_stay(cudnn: bridge.Lua) -> None:
    code = """
    cudnn.convert(net, cudnn, function(layer) return torch.type(layer):find('BatchNormalization') end)
    return torch.type(net:get(1)), torch.type(net:get(2))
    """
    assert cudnn.execute(NET + code) == ("cudnn.SpatialConvolution", "nn.SpatialBatchNormalization")


def test_a_graph_converts_with_its_nodes(cudnn: bridge.Lua) -> None:
    code = """
    local shared = nn.Tanh()
    local a = nn.Identity()()
    local b = nn.SpatialConvolution(3,4,3,3)(a)
    local c = shared(b)
    local inner = nn.Sequential():add(nn.ReLU()):add(shared)
    local g = nn.gModule({a}, {nn.CAddTable()({c, inner(b)})})
    local x = torch.randn(2,3,5,5)
    local y = g:forward(x):clone()
    local gradient = g:backward(x, y):clone()
    g = nn.Sequential():add(g)
    cudnn.convert(g, cudnn)
    local kinds = {}
    g:apply(function(m) kinds[torch.type(m)] = true end)
    for _, node in ipairs(g:get(1).forwardnodes) do
       if node.data.module then kinds[torch.type(node.data.module)] = true end
    end
    assert((g:forward(x) - y):abs():max() == 0 and (g:backward(x, y) - gradient):abs():max() == 0)
    return kinds['nn.Tanh'], kinds['nn.SpatialConvolution'], kinds['nn.ReLU'], kinds['cudnn.SpatialConvolution'],
       #g:findModules('cudnn.Tanh')
    """
    assert cudnn.execute(code) == (None, None, None, True, 2)


OLD = [
    ("ReLU", "{inplace = false}", "torch.Tensor{-1, 2}", [0, 2]),
    (
        "SpatialAveragePooling",
        "{kW = 3, kH = 3, dW = 3, dH = 3, padW = 1, padH = 1, mode = 'CUDNN_POOLING_AVERAGE_COUNT_EXCLUDE_PADDING'}",
        "torch.ones(1, 2, 2)",
        [1],
    ),
    (
        "SpatialAveragePooling",
        "{kW = 3, kH = 3, dW = 3, dH = 3, padW = 1, padH = 1, mode = 'CUDNN_POOLING_AVERAGE_COUNT_INCLUDE_PADDING'}",
        "torch.ones(1, 2, 2):mul(9)",
        [4],
    ),
    ("SpatialCrossMapLRN", "{size = 1, alpha = 1, beta = 1, K = 2}", "torch.ones(1, 1, 1)", [1 / 3]),
]


@pytest.mark.parametrize("convert", [False, True])
@pytest.mark.parametrize(("name", "fields", "source", "expected"), OLD)
def test_objects_with_cudnns_own_fields_compute(
    cudnn: bridge.Lua, name: str, fields: str, source: str, expected: list[float], convert: bool
) -> None:
    code = f"""
    local m = torch.setmetatable({fields}, 'cudnn.{name}')
    m.output, m.gradInput, m._type = torch.Tensor(), torch.Tensor(), 'torch.DoubleTensor'
    m = torch.deserialize(torch.serialize(m))
    if ... then
       m = cudnn.convert(m, nn)
       assert(torch.type(m) == 'nn.{name}')
    end
    return m:forward({source}):view(-1):totable()
    """
    assert cudnn.execute(code, convert) == pytest.approx(expected)


def test_a_network_of_the_gpu_loads_without_one(
    cudnn: bridge.Lua, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MOONTIDE_CUDA", "cpu")
    file = str(tmp_path / "net.t7")
    with bridge.Lua() as gpu:
        code = """
        cudnn.convert(net:cuda(), cudnn)
        local y = net:forward(x:cuda()):float()
        torch.save(..., {net = net, x = x:float()})
        return y:totable(), torch.type(net.output)
        """
        expected, kind = gpu.execute("require 'cudnn'" + NET + code, file)
    assert kind == "torch.CudaTensor"
    code = """
    local saved = torch.load(...)
    return cudnn.convert(saved.net:float(), nn):forward(saved.x):totable()
    """
    np.testing.assert_allclose(cudnn.execute(code, file), expected, rtol=1e-5)


def test_flags_and_resets_are_there(cudnn: bridge.Lua) -> None:
    code = """
    cudnn.benchmark, cudnn.fastest = true, true
    cudnn.reset() cudnn.find.reset() cudnn.configureMath()
    local conv = cudnn.SpatialConvolution(1, 1, 1, 1):setMode(1, 2, 3)
    local modes = {conv.fmode, conv.bdmode, conv.bwmode}
    conv:resetMode():fastest()
    return cudnn.version >= 5000, modes, conv.fmode == nil and conv.fastest_mode, cudnn.configmap('torch.CudaTensor')
    """
    assert cudnn.execute(code) == (True, [1, 2, 3], True, "CUDNN_DATA_FLOAT")


@pytest.mark.parametrize(
    ("code", "message"),
    [
        (
            "cudnn.SpatialConvolution(4, 6, 3, 3, 1, 1, 0, 0, 4)",
            "4 input and 6 output planes cannot be divided into 4 groups",
        ),
        ("cudnn.ClippedReLU()", "expected a ceiling, got nil"),
        ("cudnn.SpatialCrossMapLRN(17)", "size must be from 1 to 16"),
        ("cudnn.convert(nn.ReLU(), torch)", "expected nn or cudnn to convert to"),
        ("cudnn.TemporalConvolution(3, 2, 2):forward(torch.Tensor(5, 4))", "frames x 3, got 5 x 4"),
        (
            "cudnn.SpatialCrossEntropyCriterion():forward(torch.Tensor(2, 3, 4, 4), torch.Tensor(2, 4, 5))",
            "got 2 x 3 x 4 x 4 and 2 x 4 x 5",
        ),
        (
            "cudnn.SpatialConvolution(4, 4, 1, 1, 1, 1, 0, 0, 2):forward(torch.Tensor(3, 2, 2))",
            "Need input of dimension 3 and input.size[0] == 4",
        ),
    ],
)
def test_what_cannot_be_is_told(cudnn: bridge.Lua, code: str, message: str) -> None:
    with pytest.raises(bridge.LuaError, match=r".") as raised:
        cudnn.execute(code)
    assert message in raised.value.message


def test_a_batch_of_one_has_statistics_of_its_own(cudnn: bridge.Lua) -> None:
    code = """
    local m = cudnn.SpatialBatchNormalization(1)
    local y = m:forward(torch.Tensor{1, 3}:view(1, 1, 1, 2):type(m.output:type()))
    return m.save_mean[1], math.abs(y:sum()) < 1e-6
    """
    assert cudnn.execute(code) == (2, True)
