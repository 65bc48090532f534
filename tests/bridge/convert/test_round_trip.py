"""What came from Torch7 goes back: `to_lua(to_torch(net))` has the outputs and gradients of the network."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import torch
from torch import nn

import bridge
from bridge.convert import to_lua, to_torch
from bridge.convert.lua_functions import FUNCTIONS
from bridge.convert.torch_modules import Function
from tests.bridge.convert.layers import CONVERTED, RANDOM, WRAPPED
from tests.bridge.convert.models import NAMES, data
from tests.bridge.convert.test_rows import PASS, TOLERANCES, assert_equal

CRITERIONS = [
    ("AbsCriterion()", "torch.randn(3,4)", "torch.randn(3,4)"),
    ("BCECriterion(torch.Tensor{1,2,1,3})", "torch.rand(3,4)", "torch.rand(3,4)"),
    ("ClassNLLCriterion(torch.Tensor{1,2,1,3})", "torch.randn(3,4)", "torch.LongTensor{1,4,2}"),
    ("ClassNLLCriterion(nil,true,2)", "torch.randn(3,4)", "torch.LongTensor{1,4,2}"),
    ("CrossEntropyCriterion()", "torch.randn(3,4)", "torch.LongTensor{1,4,2}"),
    ("MSECriterion(false)", "torch.randn(3,4)", "torch.randn(3,4)"),
    ("MultiMarginCriterion(2,torch.Tensor{1,2,1,3},0.5)", "torch.randn(3,4)", "torch.LongTensor{1,4,2}"),
    ("SmoothL1Criterion()", "torch.randn(3,4)", "torch.randn(3,4)"),
    ("SoftMarginCriterion()", "torch.randn(3,4)", "torch.randn(3,4):sign()"),
    ("SpatialClassNLLCriterion()", "torch.randn(2,4,3,3)", "torch.LongTensor(2,3,3):fill(2)"),
]


@pytest.fixture(scope="module")
def lua() -> Iterator[bridge.Lua]:
    with bridge.Lua(tensors="torch") as state:
        state.require("nn")
        yield state


@pytest.fixture(scope="module")
def passed(lua: bridge.Lua) -> Any:
    return lua.execute(PASS)


@pytest.fixture(scope="module")
def modes(lua: bridge.Lua) -> Any:
    return lua.eval(
        """function(net)
              local found = {}
              net:apply(function(m) if m.train ~= nil then table.insert(found, m.train) end end)
              return found
           end"""
    )


def compare(passed: Any, modes: Any, lua: bridge.Lua, ctor: str, source: str, evaluate: bool) -> None:
    typename, dtype = (
        ("torch.FloatTensor", torch.float32) if evaluate else ("torch.DoubleTensor", torch.float64)
    )
    before, x, output, gradient, expected, after, _ = passed(ctor, source, typename, evaluate)
    tolerance = max(
        1e-5 if evaluate else 1e-12,
        TOLERANCES.get(ctor.split("(", maxsplit=1)[0].split("{", maxsplit=1)[0], 0),
    )
    back = to_lua(to_torch(before, base=1), lua, dtype=dtype)
    assert set(modes(back)) <= {not evaluate}
    assert_equal(back.forward(x), output, tolerance)
    if expected is False:
        return
    back.zeroGradParameters()
    assert_equal(back.backward(x, gradient), expected, tolerance)
    found = back.parameters()
    # clones of one module have its parameters
    gradients = [] if found is None else list({tensor.data_ptr(): tensor for tensor in found[1]}.values())
    wanted = after.parameters()
    expected_gradients = [] if wanted is None else [tensor.flatten() for tensor in wanted[0]]
    assert_equal([tensor.flatten() for tensor in gradients], expected_gradients, tolerance)


@pytest.mark.parametrize(("ctor", "source"), CONVERTED)
def test_in_training(passed: Any, modes: Any, lua: bridge.Lua, ctor: str, source: str) -> None:
    compare(passed, modes, lua, ctor, source, False)


@pytest.mark.parametrize(("ctor", "source"), CONVERTED + RANDOM)
def test_in_evaluation(passed: Any, modes: Any, lua: bridge.Lua, ctor: str, source: str) -> None:
    compare(passed, modes, lua, ctor, source, True)


@pytest.mark.parametrize(("ctor", "source"), WRAPPED)
def test_a_layer_that_stayed_luas(passed: Any, modes: Any, lua: bridge.Lua, ctor: str, source: str) -> None:
    before, x, output, *_ = passed(ctor, source, "torch.DoubleTensor", True)
    assert_equal(to_lua(to_torch(before), lua, dtype=torch.float64).forward(x), output, 0)


def test_a_layer_that_stayed_luas_goes_to_another_state(passed: Any) -> None:
    before, x, output, *_ = passed(*WRAPPED[1], "torch.DoubleTensor", True)
    module = to_torch(before)
    with bridge.Lua(tensors="torch") as other:
        other.require("nn")
        assert_equal(to_lua(module, other, dtype=torch.float64).forward(x), output, 0)


@pytest.mark.parametrize(("ctor", "x", "target"), CRITERIONS)
def test_a_criterion(lua: bridge.Lua, ctor: str, x: str, target: str) -> None:
    criterion = lua.eval(f"nn.{ctor}")
    given, wanted = lua.eval(x), lua.eval(target)
    back = to_lua(to_torch(criterion), lua, dtype=torch.float64)
    assert back.typename == criterion.typename
    losses = [one.forward(given, wanted) for one in (back, criterion)]
    first = [loss[0] if isinstance(loss, tuple) else loss for loss in losses]
    assert first[0] == pytest.approx(first[1], rel=1e-12)
    assert_equal(back.backward(given, wanted), criterion.backward(given, wanted), 1e-12)


def test_a_criterion_that_counts_from_1_is_the_one_inside(lua: bridge.Lua) -> None:
    criterion = lua.eval("nn.ClassNLLCriterion()")
    assert to_lua(to_torch(criterion, base=1), lua).typename == "nn.ClassNLLCriterion"


@pytest.mark.parametrize("name", NAMES)
def test_networks_of_a_real_torch7(lua: bridge.Lua, name: str) -> None:
    lua.require("nngraph")
    loaded = lua.eval("torch.deserialize(...)", data(name))
    net, x = loaded["model"], loaded["input"]
    back = to_lua(to_torch(net), lua)
    for one in (net, back):
        one.evaluate()
    assert_equal(back.forward(x), net.forward(x), 1e-5 if name.endswith("float") else 1e-12)


def test_a_layer_that_is_used_twice_shares_its_parameters(lua: bridge.Lua) -> None:
    twice = "(function() local l = nn.CMul(4) return nn.Sequential():add(l):add(nn.Tanh()):add(l) end)()"
    back = to_lua(to_torch(lua.eval(twice)), lua)
    pointers = {tensor.data_ptr() for tensor in back.parameters()[0]}
    assert len(pointers) == 1


@pytest.mark.parametrize(
    "ctor", ["TemporalConvolution(6,4,3)", "CMul(4)", "PReLU(4)", "WeightNorm(nn.Linear(4,3))"]
)
def test_shared_parameters_stay_luas_memory(lua: bridge.Lua, ctor: str) -> None:
    net = lua.eval(f"nn.{ctor}:float()")
    back = to_lua(to_torch(net, share=True), lua, share=True)
    learned = [{t.data_ptr() for t in one.parameters()[0]} for one in (net, back)]
    assert learned[0] == learned[1]


def test_the_function_of_a_program_is_refused_by_name(lua: bridge.Lua) -> None:
    with pytest.raises(bridge.convert.ConversionError, match=r"erf.*no layer for this function"):
        to_lua(nn.Sequential(Function(torch.erf)), lua)


def test_every_function_is_tried_here(lua: bridge.Lua) -> None:
    tried = set()
    for ctor, _ in CONVERTED + RANDOM:
        for part in to_torch(lua.eval(f"nn.{ctor}"), base=1).modules():
            if isinstance(part, Function):
                tried.add(part.function)
    assert {f.__name__ for f in set(FUNCTIONS) - tried} == {"alone"}  # of nngraph
