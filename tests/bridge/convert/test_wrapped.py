"""Layers without a counterpart in PyTorch stay Lua's, inside converted models, with outputs and gradients."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

import bridge
from bridge.convert import convert, to_torch
from tests.bridge.convert.layers import CONVERTED, RANDOM, WRAPPED
from tests.bridge.convert.test_rows import PASS, assert_equal, leaves, prepared


@pytest.fixture(scope="module")
def lua() -> Iterator[bridge.Lua]:
    with bridge.Lua(tensors="torch") as state:
        yield state


@pytest.fixture(scope="module")
def passed(lua: bridge.Lua) -> Any:
    return lua.execute(PASS)


@pytest.mark.parametrize(("ctor", "source"), WRAPPED)
def test_a_wrapped_layer_computes_what_torch7_computes(passed: Any, ctor: str, source: str) -> None:
    before, input_, output, gradient, expected, *_ = passed(ctor, source, "torch.DoubleTensor", True)
    conversion = convert(before, base=1)
    assert [layer.wrapped for layer in conversion.layers] == [True]
    x = prepared(input_)
    y = conversion.module(x)
    assert_equal(y, output, 1e-12)
    if expected is False:
        return
    torch.autograd.backward(leaves(y), leaves(gradient))
    assert_equal([leaf.grad for leaf in leaves(x)], expected, 1e-12)


NET = """
require 'nn'
torch.manualSeed(5)
local Odd = torch.class('nn.OddOne', 'nn.Module')
function Odd:__init() nn.Module.__init(self) self.weight = torch.rand(3) self.gradWeight = torch.zeros(3) end
function Odd:updateOutput(x) return self.output:resizeAs(x):copy(x):cmul(self.weight:view(1, 3):expandAs(x)) end
function Odd:updateGradInput(x, g)
   return self.gradInput:resizeAs(x):copy(g):cmul(self.weight:view(1, 3):expandAs(x))
end
function Odd:accGradParameters(x, g, scale) self.gradWeight:add(scale or 1, torch.cmul(x, g):sum(1):view(3)) end
return nn.Sequential():add(nn.Linear(4, 3)):add(nn.OddOne()):add(nn.Tanh())
"""


def test_a_class_of_a_program_trains_between_layers_of_pytorch() -> None:
    with bridge.Lua(tensors="torch") as lua:
        net = lua.execute(NET)
        module = to_torch(net)
        assert isinstance(module.get_submodule("0"), nn.Linear)
        x = torch.randn(5, 4, dtype=torch.float64, requires_grad=True)
        gradient = torch.randn(5, 3, dtype=torch.float64)
        y = module(x)
        torch.testing.assert_close(y.detach(), net.forward(x.detach()), rtol=1e-13, atol=1e-13)
        y.backward(gradient)
        net.zeroGradParameters()
        assert x.grad is not None
        torch.testing.assert_close(x.grad, net.backward(x.detach(), gradient), rtol=1e-13, atol=1e-13)
        found = [parameter.grad for parameter in module.parameters()]
        for one, other in zip(found, net.parameters()[1], strict=True):
            assert one is not None
            torch.testing.assert_close(one, other, rtol=1e-13, atol=1e-13)
        with torch.no_grad():
            module.get_parameter("1.weight").zero_()
        assert not net.get(2).weight.eq(0).any()  # a copy, as of other layers


def test_a_layer_of_a_file_runs_in_a_state_of_its_own(lua: bridge.Lua, tmp_path: Path) -> None:
    net = lua.execute("""
        require 'nn'
        return nn.Sequential():add(nn.Linear(4, 4)):add(nn.PartialLinear(4, 3))
    """)
    lua.eval("torch.save")(str(tmp_path / "net.t7"), net)
    module = to_torch(tmp_path / "net.t7")
    x = torch.randn(5, 4, dtype=torch.float64)
    torch.testing.assert_close(module(x).detach(), net.forward(x), rtol=1e-13, atol=1e-13)


def test_every_module_of_nn_is_converted_or_wrapped(lua: bridge.Lua) -> None:
    """How many of each is printed with `pytest -s`."""
    lua.require("nn")
    names = set(
        lua.execute("""
        local names = {}
        for name, class in pairs(nn) do
           local meta = type(class) == 'table' and torch.getmetatable('nn.' .. name)
           while meta and meta.__typename ~= 'nn.Module' do meta = getmetatable(meta) end
           if meta then table.insert(names, name) end
        end
        return names
        """)
    )
    converted = {ctor.split("(")[0].split("{")[0] for ctor, _ in CONVERTED + RANDOM}
    left = names - converted
    print(
        f"{len(names & converted)} of {len(names)} modules become PyTorch's, {len(left)} stay Lua's: {sorted(left)}"
    )
    # what they derive from, criterions in disguise, and what has no match
    assert left == {
        *("Module", "Container", "CriterionTable", "ModuleFromCriterion"),
        *("Convert", "IndexLinear", "Kmeans", "PartialLinear", "SparseLinear"),
        *("SpatialFractionalMaxPooling", "SpatialMaxUnpooling"),
        *("VolumetricFractionalMaxPooling", "VolumetricMaxUnpooling"),
    }
