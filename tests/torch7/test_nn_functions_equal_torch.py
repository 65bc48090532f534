"""nn: functions of each element, and a network with its loss, against torch."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import torch

import bridge
from tests.torch7.nn_beside_torch import LUA

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
    ("nn.HardTanh(-0.5,2)", torch.nn.Hardtanh(-0.5, 2)),
    ("nn.Clamp(-0.3,0.4)", torch.nn.Hardtanh(-0.3, 0.4)),
    ("nn.Threshold(0.1,-2)", torch.nn.Threshold(0.1, -2)),
    ("nn.HardShrink(0.4)", torch.nn.Hardshrink(0.4)),
    ("nn.SoftShrink(0.4)", torch.nn.Softshrink(0.4)),
    ("nn.SoftSign()", torch.nn.Softsign()),
    ("nn.SoftMin()", torch.nn.Softmin(1)),
    ("nn.TanhShrink()", torch.nn.Tanhshrink()),
]
# what has a bend, or an exponential that overflows
BENT = [row for row in ACTIVATIONS if re.search("ReLU|ELU|HardTanh|Clamp|Threshold|Shrink|SoftPlus", row[0])]


@pytest.fixture(scope="module")
def nn() -> Iterator[bridge.Lua]:
    with bridge.Lua() as lua:
        lua.execute("run = dofile(...)", str(LUA))
        yield lua


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
@pytest.mark.parametrize(("constructor", "function"), BENT)
def test_functions_at_their_limits_equal_those_of_torch(
    nn: bridge.Lua, constructor: str, function: Any, dtype: str
) -> None:
    values = np.array([-np.inf, -1e4, -90, -9, 9, 90, 1e4, np.inf], dtype)
    if "TanhShrink" in constructor:
        values = values[1:-1]  # tanh(x) - x is no number there
    x = torch.tensor(values, requires_grad=True)
    y = function(x)
    y.backward(torch.full_like(y, 2))
    code = f"""
    local x = ...
    local m = {constructor}:type(x:type())
    local y = m:forward(x)
    return y, m:backward(x, y:clone():fill(2))
    """
    output, gradient = nn.execute(code, values)
    tolerance = 1e-5 if dtype == "float32" else 1e-12
    np.testing.assert_allclose(output, y.detach().numpy(), rtol=tolerance, atol=tolerance)
    np.testing.assert_allclose(gradient, x.grad.numpy(), rtol=tolerance, atol=tolerance)  # type: ignore[union-attr]


INPLACE = [
    "ReLU(true)",
    "LeakyReLU(0.2,true)",
    "ELU(0.7,true)",
    "HardTanh(-0.5,2,true)",
    "Threshold(0.1,-2,true)",
]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("constructor", INPLACE)
def test_in_place_gives_the_same(nn: bridge.Lua, constructor: str, dtype: str) -> None:
    values = np.random.default_rng(4).normal(size=(7, 5)).astype(dtype)
    code = f"""
    local x, g = ...
    local there, apart = nn.{constructor}:type(x:type()), nn.{constructor}:type(x:type())
    apart.inplace = false
    local output, gradient = apart:forward(x):clone(), apart:backward(x, g):clone()
    local y = there:forward(x)
    local same = y:storage() == x:storage() and torch.add(y, -1, output):abs():max() == 0
    local d = there:backward(x, g)
    return same, d:storage() == g:storage(), torch.add(d, -1, gradient):abs():max()
    """
    same, written, difference = nn.execute(code, values, np.full_like(values, 0.5))
    assert same
    assert written
    assert difference < (1e-6 if dtype == "float32" else 1e-15)


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
