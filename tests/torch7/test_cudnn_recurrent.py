"""cudnn's recurrent networks against torch's."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import bridge

CHECKS = Path(__file__).with_name("gradients.lua")
KINDS: dict[str, tuple[Any, dict[str, Any]]] = {
    "RNNReLU": (torch.nn.RNN, {"nonlinearity": "relu"}),
    "RNNTanh": (torch.nn.RNN, {"nonlinearity": "tanh"}),
    "LSTM": (torch.nn.LSTM, {}),
    "BLSTM": (torch.nn.LSTM, {"bidirectional": True}),
    "GRU": (torch.nn.GRU, {}),
    "BGRU": (torch.nn.GRU, {"bidirectional": True}),
}
T, N, D, H = 5, 2, 4, 3


@pytest.fixture(scope="module")
def cudnn() -> Iterator[bridge.Lua]:
    """A state without a GPU."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MOONTIDE_CUDA", "none")
        with bridge.Lua() as lua:
            lua.execute("require 'cudnn' checks = dofile(...)", str(CHECKS))
            yield lua


def fill(module: Any, flat: np.ndarray) -> None:
    """Give one of torch's modules the parameters of a vector as cuDNN lays them out: matrices, then biases."""
    values, place = torch.from_numpy(flat), 0
    with torch.no_grad():
        for kind in ("weight", "bias"):
            for name, parameter in module.named_parameters():
                if name.startswith(kind):
                    parameter.copy_(values[place : place + parameter.numel()].view_as(parameter))
                    place += parameter.numel()
    assert place == len(flat)


def flat_gradient(module: Any) -> np.ndarray:
    parts = [
        p.grad.reshape(-1)
        for kind in ("weight", "bias")
        for name, p in module.named_parameters()
        if name.startswith(kind)
    ]
    return torch.cat(parts).numpy()


@pytest.mark.parametrize("given", [False, True], ids=["zeros", "states"])
@pytest.mark.parametrize("layers", [1, 2])
@pytest.mark.parametrize("kind", KINDS)
def test_numbers_and_gradients_are_torchs(cudnn: bridge.Lua, kind: str, layers: int, given: bool) -> None:
    maker, options = KINDS[kind]
    theirs = maker(D, H, layers, **options).double()
    directions = 2 if theirs.bidirectional else 1
    rng = np.random.default_rng(1)
    x, g = rng.normal(size=(T, N, D)), rng.normal(size=(T, N, H * directions))
    h, c, gh, gc = (rng.normal(size=(layers * directions, N, H)) for _ in range(4))
    code = f"""
    local x, g, h, c, gh, gc, given = ...
    local m = cudnn.{kind}(4, 3, {layers})
    if given then
       m.hiddenInput, m.gradHiddenOutput = h, gh
       if m.mode == 'CUDNN_LSTM' then m.cellInput, m.gradCellOutput = c, gc end
    end
    local y = m:forward(x)
    return m.weight, y, m:backward(x, g), m.gradWeight, m.hiddenOutput, m.gradHiddenInput, m.cellOutput, m.gradCellInput
    """
    weight, *ours = cudnn.execute(code, x, g, h, c, gh, gc, given)
    fill(theirs, weight)
    start = [torch.tensor(v if given else v * 0, requires_grad=True) for v in (h, c)]
    tx = torch.tensor(x, requires_grad=True)
    lstm = isinstance(theirs, torch.nn.LSTM)
    output, last = theirs(tx, (start[0], start[1]) if lstm else start[0])
    ends = list(last) if lstm else [last]
    loss = (output * torch.from_numpy(g)).sum()
    if given:
        loss = loss + sum((e * torch.from_numpy(v)).sum() for e, v in zip(ends, (gh, gc), strict=False))
    loss.backward()
    expected = [output, tx.grad, flat_gradient(theirs), ends[0], start[0].grad]
    if lstm:
        expected += [ends[1], start[1].grad]
    for our, their in zip(ours, expected, strict=False):
        np.testing.assert_allclose(our, torch.as_tensor(their).detach().numpy(), atol=1e-12)


@pytest.mark.parametrize("way", ["float", "cleared", "cloned", "saved", "noncontiguous"])
@pytest.mark.parametrize("kind", KINDS)
def test_results_are_the_same_in_other_ways(cudnn: bridge.Lua, kind: str, way: str) -> None:
    tolerance = 1e-5 if way == "float" else 1e-13
    worst = cudnn.execute("return checks.otherwise(...)", f"cudnn.{kind}(4,3,2)", "torch.randn(5,2,4)", way)
    assert worst < tolerance


def test_the_batch_may_come_first(cudnn: bridge.Lua) -> None:
    code = """
    local m = cudnn.LSTM(4, 3, 1)
    local other = m:clone()
    other.batchFirst = true
    local x, g = torch.randn(5, 2, 4), torch.randn(5, 2, 3)
    local y, gradient = m:forward(x), m:backward(x, g)
    local xt, gt = x:transpose(1, 2), g:transpose(1, 2)
    for i = 1, 2 do
       assert((other:forward(xt):transpose(1, 2) - y):abs():max() == 0)
       assert((other:backward(xt, gt):transpose(1, 2) - gradient):abs():max() == 0)
    end
    return other.output:size():totable()
    """
    assert cudnn.execute(code) == [2, 5, 3]


def test_states_are_remembered_until_they_are_reset(cudnn: bridge.Lua) -> None:
    code = """
    local m, x = cudnn.LSTM(4, 3, 2, false, 0, true), torch.randn(6, 2, 4)
    local whole = m:forward(x):clone()
    m:resetStates()
    local first = m:forward(x:narrow(1, 1, 2)):clone()
    local second = m:forward(x:narrow(1, 3, 4)):clone()
    return (torch.cat({first, second}, 1) - whole):abs():max()
    """
    assert cudnn.execute(code) < 1e-14


def test_dropout_is_between_layers_in_training(cudnn: bridge.Lua) -> None:
    code = """
    local m, x = cudnn.GRU(4, 50, 2, false, 0.5), torch.randn(5, 2, 4)
    local a, b = m:forward(x):clone(), m:forward(x):clone()
    m:evaluate()
    local c, d = m:forward(x):clone(), m:forward(x)
    local one = cudnn.GRU(4, 50, 1, false, 0.5)
    return (a - b):abs():max() > 0, (c - d):abs():max(), (one:forward(x):clone() - one:forward(x)):abs():max()
    """
    assert cudnn.execute(code) == (True, 0, 0)


def test_gates_are_views_of_the_parameters(cudnn: bridge.Lua) -> None:
    code = """
    local m = cudnn.BLSTM(4, 3, 2)
    local weights, biases = m:weights(), m:biases()
    local count = 0
    for _, list in ipairs{weights, biases} do
       for _, layer in ipairs(list) do
          for _, gate in ipairs(layer) do count = count + gate:zero():nElement() end
       end
    end
    return #weights, #weights[1], weights[1][1]:nElement(), weights[3][1]:nElement(), #biases[1],
       count == m.weight:nElement(), m.weight:norm(), tostring(m)
    """
    assert cudnn.execute(code) == (4, 8, 12, 18, 8, True, 0, "cudnn.BLSTM(4 -> 3, 2 layers)")


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("cudnn.LSTM(4, 3, 1):forward(torch.randn(5, 4))", "the last of 4 numbers, got 5 x 4"),
        ("m = cudnn.LSTM(4, 3, 1) m.hiddenInput = torch.randn(1, 1, 3) m:forward(x)", "must be 1 x 2 x 3"),
        ("cudnn.LSTM(4, 3, 1):backward(x, x)", "updateOutput has to be called"),
        ("m = cudnn.LSTM(4, 3, 1) m:forward(x) m:backward(x, x)", "as large as the output, got 5 x 2 x 4"),
        ("m = cudnn.LSTM(4, 3, 1) m:evaluate() m:forward(x) m:backward(x, m.output)", "in training only"),
    ],
)
def test_what_cannot_be_is_told(cudnn: bridge.Lua, code: str, message: str) -> None:
    with pytest.raises(bridge.LuaError) as raised:
        cudnn.execute("x = torch.randn(5, 2, 4) " + code)
    assert message in raised.value.message


@pytest.mark.parametrize("kind", KINDS)
def test_a_device_computes_what_the_cpu_does(cuda: bridge.Lua, kind: str) -> None:
    code = """
    require 'cudnn'
    local net = cudnn[...](4, 3, 2)
    local function pass(net, x)
       local y = net:forward(x)
       net:zeroGradParameters()
       return {y:float(), net:backward(x, y):float(), net.gradWeight:float()}, torch.type(net.gradWeight)
    end
    local x = torch.randn(5, 2, 4):float()
    local expected = pass(net:clone():float(), x)
    return expected, pass(net, x:cuda())
    """
    expected, got, type_there = cuda.execute(code, kind)
    assert type_there == "torch.CudaTensor"
    for there, here in zip(got, expected, strict=True):
        np.testing.assert_allclose(there, here, rtol=1e-4, atol=1e-6)


def test_it_is_made_of_the_devices_tensors(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MOONTIDE_CUDA", "cpu")
    with bridge.Lua() as lua:
        code = """
        require 'cudnn'
        local m = cudnn.LSTM(4, 3, 1)
        local y = m:forward(torch.CudaTensor(5, 2, 4):normal())
        return torch.type(m.weight), torch.type(y), torch.type(m:backward(torch.CudaTensor(5, 2, 4), y))
        """
        assert lua.execute(code) == ("torch.CudaTensor",) * 3
