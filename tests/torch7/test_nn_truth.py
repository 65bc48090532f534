"""nn against what a real Torch7 computed: weights drawn from a seed, outputs, gradients, printed text."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import bridge

FILES: list[dict[str, Any]] = [
    json.loads(path.read_text())
    for path in sorted((Path(__file__).parents[1] / "data" / "torch7").glob("nn*.json"))
]
MODULES = {
    f"{i}: {entry['ctor']}": entry
    for i, entry in enumerate(entry for file in FILES for entry in file.get("modules", []))
}
CRITERIONS = {entry["ctor"]: entry for file in FILES for entry in file.get("criterions", [])}
MLP_STEP = next(file["mlp"] for file in FILES if "mlp" in file)

HELPERS = """
require 'nn'
-- What the data file holds for one constructor, computed here. The order of draws is the original's.
function run(ctor, inputsrc, gradOutput)
   torch.setdefaulttensortype('torch.DoubleTensor')
   torch.manualSeed(7)
   local module = loadstring('return ' .. ctor)()
   local input = loadstring('return ' .. inputsrc)()
   local params, gradParams = module:parameters()
   local result = {input = input, params = params or {}, tostring = tostring(module)}
   module:zeroGradParameters()
   result.output = module:forward(input)
   if torch.isTensor(gradOutput) then torch.randn(gradOutput:size()) end -- here it was drawn
   result.gradInput = module:backward(input, gradOutput)
   result.gradParams = gradParams or {}
   return result, module
end
function loss(ctor, input, target)
   local criterion = loadstring('return ' .. ctor)()
   local value = criterion:forward(input, target)
   return {loss = value, gradInput = criterion:backward(input, target)}
end
"""


@pytest.fixture(scope="module")
def nn() -> Iterator[bridge.Lua]:
    with bridge.Lua() as lua:
        lua.execute(HELPERS)
        yield lua


def decode(value: Any) -> Any:
    """Tensors are stored as dtype, shape and values, tables as lists."""
    if isinstance(value, dict):
        return np.array(value["values"], dtype=value["dtype"]).reshape(value["shape"])
    if isinstance(value, list):
        return [decode(entry) for entry in value]
    return value


def assert_close(actual: Any, expected: Any, tolerance: float = 1e-12) -> None:
    if isinstance(expected, list):
        assert len(actual) == len(expected)
        for one, other in zip(actual, expected, strict=True):
            assert_close(one, other, tolerance)
    else:
        np.testing.assert_allclose(actual, expected, rtol=tolerance, atol=tolerance / 10)


# Torch7 rounds positions between pixels to floats.
TOLERANCES = {"nn.SpatialUpSamplingBilinear(2)": 1e-6}


def assert_same(actual: Any, expected: Any) -> None:
    if isinstance(expected, list):
        assert len(actual) == len(expected)
        for one, other in zip(actual, expected, strict=True):
            assert_same(one, other)
    else:
        np.testing.assert_array_equal(actual, expected)


@pytest.fixture(params=MODULES)
def computed(nn: bridge.Lua, request: pytest.FixtureRequest) -> tuple[dict[str, Any], dict[str, Any]]:
    entry = {key: decode(value) for key, value in MODULES[request.param].items()}
    result, _ = nn.execute("return run(...)", entry["ctor"], entry["inputsrc"], entry["gradOutput"])
    return result, entry


def test_modules_compute_what_torch7_computes(computed: tuple[dict[str, Any], dict[str, Any]]) -> None:
    result, entry = computed
    tolerance = TOLERANCES.get(entry["ctor"], 1e-12)
    assert_same(result["input"], entry["input"])  # so the constructor took as many random numbers
    assert_same(result["params"], entry.get("params", []))
    assert_close(result["output"], entry["output"], tolerance)
    assert_close(result["gradInput"], entry["gradInput"], tolerance)
    assert_close(result["gradParams"], entry.get("gradParams", []), tolerance)
    assert result["tostring"] == entry["tostring"]


@pytest.mark.parametrize("name", MODULES)
def test_evaluation_gives_what_torch7_gives(nn: bridge.Lua, name: str) -> None:
    entry = {key: decode(value) for key, value in MODULES[name].items()}
    code = """
    local result, module = run(...)
    module:evaluate()
    return module:forward(result.input)
    """
    output = nn.execute(code, entry["ctor"], entry["inputsrc"], entry["gradOutput"])
    expected = entry.get("outputEvaluate", entry["output"])
    assert_close(output, expected, TOLERANCES.get(entry["ctor"], 1e-12))


@pytest.mark.parametrize("name", CRITERIONS)
def test_criterions_compute_what_torch7_computes(nn: bridge.Lua, name: str) -> None:
    entry = {key: decode(value) for key, value in CRITERIONS[name].items()}
    result = nn.execute("return loss(...)", entry["ctor"], entry["input"], entry.get("target"))
    assert result["loss"] == pytest.approx(entry["loss"], rel=1e-13)
    assert_close(result["gradInput"], entry["gradInput"])


MLP = """
torch.setdefaulttensortype('torch.DoubleTensor')
torch.manualSeed(42)
local model = nn.Sequential():add(nn.Linear(10, 20)):add(nn.Tanh()):add(nn.Linear(20, 5)):add(nn.LogSoftMax())
local criterion = nn.ClassNLLCriterion()
local input, target = ...
local drawn = torch.randn(4, 10)
local params, gradParams = model:getParameters()
local result = {drawn = drawn, params = params:clone(), tostring = tostring(model)}
gradParams:zero()
result.output = model:forward(input):clone()
result.loss = criterion:forward(model.output, target)
result.gradOutput = criterion:backward(model.output, target)
result.gradInput = model:backward(input, result.gradOutput)
result.gradParams = gradParams:clone()
params:add(-0.1, gradParams)
result.paramsAfter = params
model:evaluate()
result.outputAfterSgdEvaluate = model:forward(input)
return result
"""


def test_a_network_takes_the_same_step_as_in_torch7(nn: bridge.Lua) -> None:
    entry = {key: decode(value) for key, value in MLP_STEP.items()}
    result = nn.execute(MLP, entry["input"], entry["target"])
    assert_same(result["params"], entry["params"])
    for key in ("output", "gradOutput", "gradInput", "gradParams", "paramsAfter", "outputAfterSgdEvaluate"):
        assert_close(result[key], entry[key])
    assert result["loss"] == pytest.approx(entry["loss"], rel=1e-13)
    assert result["tostring"] == entry["tostring"]
