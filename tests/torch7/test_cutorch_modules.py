"""Modules of nn compute on every backend of cutorch what they do on the CPU."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import bridge

TRAIN = """
torch.manualSeed(3)
local net = nn.Sequential():add(nn.Linear(4, 8)):add(nn.Tanh()):add(nn.Linear(8, 3)):add(nn.LogSoftMax())
local criterion = nn.ClassNLLCriterion()
local x, y = torch.randn(6, 4):float(), torch.FloatTensor{1, 2, 3, 1, 2, 3}
net:float() criterion:float()
if ... then
   net, criterion, x, y = net:cuda(), criterion:cuda(), x:cuda(), y:cuda()
end
local w, g = net:getParameters()
local loss
for i = 1, 20 do
   g:zero()
   local output = net:forward(x)
   loss = criterion:forward(output, y)
   net:backward(x, criterion:backward(output, y))
   w:add(-0.5, g)
end
return loss, torch.type(w), torch.type(net.output), torch.type(net.gradInput), torch.type(net:clone().output)
"""


def test_a_network_trains_as_on_the_cpu(cuda: bridge.Lua) -> None:
    loss, *kinds = cuda.execute(TRAIN, True)
    expected, *_ = cuda.execute(TRAIN, False)
    assert kinds == ["torch.CudaTensor"] * 4
    assert loss == pytest.approx(expected, rel=1e-5)
    assert loss < 0.5


MODULES = [
    (entry["ctor"], entry["inputsrc"])
    for path in sorted((Path(__file__).parents[1] / "data" / "torch7").glob("nn*.json"))
    for entry in json.loads(path.read_text()).get("modules", [])
    if not re.match(
        r"nn\.(Dropout|SpatialDropout|VolumetricDropout|RReLU|WhiteNoise|\w*FractionalMaxPooling)",
        entry["ctor"],
    )  # they draw
] + [("nn.GPU(nn.Linear(4,3),1)", "torch.randn(2,4)")]

BOTH = """
local ctor, inputsrc, typename = ...
-- What f makes of every tensor, in tables nested as the tensors are.
local function each(value, f)
   if torch.isTensor(value) then
      return f(value)
   end
   local made = {}
   for key, inner in pairs(value) do
      made[key] = each(inner, f)
   end
   return made
end
local function pass(typename)
   torch.manualSeed(7)
   local module, input = loadstring('return ' .. ctor)(), loadstring('return ' .. inputsrc)()
   module:type(typename)
   module:zeroGradParameters()
   input = each(input, function(t) -- indices stay what they are
      return torch.type(t) == 'torch.LongTensor' and t or t:type(typename)
   end)
   local output = module:forward(input)
   local result = {output = each(output, function(t) return t:float():clone() end)}
   local gradInput = module:backward(input, each(output, function(t) return t:clone():fill(1) end))
   local kinds = {}
   each({output, gradInput}, function(t) kinds[torch.type(t)] = true end)
   result.gradInput = gradInput and each(gradInput, function(t) return t:float() end)
   return kinds, result
end
local _, expected = pass('torch.FloatTensor')
local kinds, got = pass(typename or 'torch.CudaTensor')
return kinds, expected, got
"""


def flat(values: Any) -> list[float]:
    if isinstance(values, dict):
        values = [values[key] for key in sorted(values)]
    if isinstance(values, list):
        return [x for value in values for x in flat(value)]
    return np.asarray(values, dtype=float).ravel().tolist() if values is not None else []


@pytest.mark.parametrize(("ctor", "inputsrc"), MODULES)
def test_every_module_computes_on_the_device_what_it_does_on_the_cpu(
    shared: bridge.Lua, ctor: str, inputsrc: str
) -> None:
    kinds, expected, got = shared.execute(BOTH, ctor, inputsrc)
    assert {kind for kind in kinds if "Cuda" not in kind} <= {"torch.LongTensor"}
    assert flat(got) == pytest.approx(flat(expected), rel=1e-4, abs=1e-6, nan_ok=True)


@pytest.mark.parametrize(
    ("ctor", "inputsrc"),
    [
        (ctor, inputsrc)
        for ctor, inputsrc in MODULES
        # quotients beyond the largest half; what torch has on a GPU only
        if not re.match(r"nn\.(CDivTable|VolumetricAveragePooling)", ctor)
    ],
)
def test_every_module_computes_in_halves(shared: bridge.Lua, ctor: str, inputsrc: str) -> None:
    kinds, expected, got = shared.execute(BOTH, ctor, inputsrc, "torch.CudaHalfTensor")
    assert {kind for kind in kinds if "Cuda" not in kind} <= {"torch.LongTensor"}
    assert flat(got) == pytest.approx(flat(expected), rel=2e-2, abs=2e-2, nan_ok=True)


def test_shared_parameters_stay_shared(cuda: bridge.Lua) -> None:
    code = """
    local a = nn.Linear(2, 2)
    local net = nn.Sequential():add(a):add(a:clone('weight', 'bias')):cuda()
    net:get(1).weight:fill(5)
    return net:get(2).weight[1][1], torch.type(net:get(2).weight), net:type()
    """
    assert cuda.execute(code) == (5, "torch.CudaTensor", "torch.CudaTensor")


def test_a_network_comes_back(cuda: bridge.Lua) -> None:
    code = "return torch.type(nn.Linear(2, 2):cuda():float():forward(torch.FloatTensor(2)))"
    assert cuda.execute(code) == "torch.FloatTensor"
