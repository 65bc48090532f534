"""bridge.nn: forwards, their backwards, and what may happen between them."""

from __future__ import annotations

import gc
from typing import Any

import pytest
import torch
import torch.utils.checkpoint

import bridge
from bridge.legacy import nn
from bridge.nn import LuaModule
from tests.bridge.nn.networks import F64, mlp, randn


def test_several_forwards_wait_for_their_backwards() -> None:
    module = LuaModule(mlp())
    inputs = [randn(2, 4) for _ in range(4)]
    sum(module(x)[:, i % 3].sum() * (i + 1) for i, x in enumerate(inputs)).backward()
    together = [p.grad.clone() for p in module.parameters()]
    module.zero_grad()
    alone = []
    for i, x in enumerate(inputs):
        y = x.detach().clone().requires_grad_()
        (module(y)[:, i % 3].sum() * (i + 1)).backward()
        alone.append(y.grad)
    for p, was in zip(module.parameters(), together, strict=True):
        torch.testing.assert_close(p.grad, was)
    for x, gradient in zip(inputs, alone, strict=True):
        torch.testing.assert_close(x.grad, gradient)


def test_a_recurrent_network_is_unrolled() -> None:
    cell = LuaModule(nn.Sequential().add(nn.JoinTable(1)).add(nn.Linear(5, 3)).add(nn.Tanh()))

    def unroll(x: torch.Tensor) -> torch.Tensor:
        h = torch.zeros(2, 3, dtype=F64)
        for step in x:
            h = cell([step, h])
        return h

    assert torch.autograd.gradcheck(unroll, (randn(4, 2, 2),))


@pytest.mark.slow
def test_copies_are_used_again() -> None:
    module = LuaModule(mlp())
    x = randn(2, 4)
    for _ in range(20):
        loss = module(x).sum() + module(x).sum()
        loss.backward()
    assert len(module._copies) <= 4
    for _ in range(20):
        module(x)
    gc.collect()
    assert len(module._copies) <= 4


def test_dropout_s_gradient_is_of_its_own_forward() -> None:
    module = LuaModule(nn.Dropout(0.5))
    x = torch.ones(100, dtype=F64, requires_grad=True)
    first, second = module(x), module(x)
    assert not torch.equal(first, second)
    torch.testing.assert_close(torch.autograd.grad(first.sum(), x)[0], first.detach())
    torch.testing.assert_close(torch.autograd.grad(second.sum(), x)[0], second.detach())


def test_a_graph_may_be_kept_until_the_next_forward() -> None:
    module = LuaModule(mlp())
    x = randn(2, 4)
    output = module(x).sum()
    first = torch.autograd.grad(output, x, retain_graph=True)[0]
    torch.testing.assert_close(torch.autograd.grad(output, x, retain_graph=True)[0], first)
    module(x + 1)
    with pytest.raises(RuntimeError, match="after another forward ran in it"):
        torch.autograd.grad(output, x)


def test_a_module_inside_two_models_serves_both() -> None:
    net = mlp()
    first, second = LuaModule(net), LuaModule(net).eval()
    x, y = randn(2, 4), randn(3, 4)
    a, b = first(x)[:, 0].sum(), second(y)[:, 1].sum()
    (a + b).backward()
    plain = x.detach().requires_grad_()
    alone = LuaModule(net.clone())(plain)[:, 0].sum()
    torch.testing.assert_close(x.grad, torch.autograd.grad(alone, plain)[0])


def test_a_forward_from_elsewhere_is_told() -> None:
    module = LuaModule(mlp())
    loss = module(randn(2, 4)).sum()
    module.net.forward(torch.ones(1, 4, dtype=F64))
    with pytest.raises(RuntimeError, match="after another forward ran in it"):
        loss.backward()


def test_a_checkpoint_computes_again() -> None:
    module = LuaModule(mlp())
    x = randn(2, 4)
    torch.utils.checkpoint.checkpoint(module, x, use_reentrant=False)[:, 0].sum().backward()
    y = x.detach().clone().requires_grad_()
    module(y)[:, 0].sum().backward()
    torch.testing.assert_close(x.grad, y.grad)


class Scale(nn.Module):
    def __init__(self, factor: float) -> None:
        super().__init__()
        self.factor = factor

    def updateOutput(self, x: Any) -> Any:
        self.output = x * self.factor
        return self.output

    def updateGradInput(self, x: Any, gradOutput: Any) -> Any:
        self.gradInput = gradOutput * self.factor
        return self.gradInput


def test_a_legacy_module_written_in_python_takes_part() -> None:
    module = LuaModule(nn.Sequential().add(Scale(3)).add(nn.Linear(4, 2)).add(Scale(2)))
    assert torch.autograd.gradcheck(module, (randn(3, 4),))


def test_outputs_are_not_overwritten_by_the_next_forward() -> None:
    module = LuaModule(nn.Linear(2, 2))
    a = module(torch.ones(1, 2, dtype=F64))
    before = a.detach().clone()
    module(torch.zeros(1, 2, dtype=F64))
    assert torch.equal(a, before)


@pytest.mark.parametrize("first", [True, False])
def test_modules_in_place_leave_their_input_alone(first: bool) -> None:
    net = (
        nn.Sequential().add(nn.ReLU(True)) if first else nn.Sequential().add(nn.Identity()).add(nn.ReLU(True))
    )
    x = torch.tensor([-1.0, 2.0], dtype=F64, requires_grad=True)
    given = torch.ones(2, dtype=F64)
    LuaModule(net)(x).backward(given)
    assert x.tolist() == [-1, 2]
    assert given.tolist() == [1, 1]
    assert x.grad.tolist() == [0, 1]


def test_a_step_between_forward_and_backward_is_told() -> None:
    module = LuaModule(mlp())
    loss = module(randn(2, 4)).sum()
    with torch.no_grad():
        module.get_parameter("0.weight").add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        loss.backward()


def test_there_is_no_second_derivative() -> None:
    x = randn(2, 4)
    gradient = torch.autograd.grad(LuaModule(mlp())(x).exp().sum(), x, create_graph=True)[0]
    with pytest.raises(RuntimeError, match="once_differentiable"):
        gradient.sum().backward()


@pytest.mark.parametrize("mode", [torch.no_grad, torch.inference_mode])
def test_without_grad_nothing_is_kept(mode: Any) -> None:
    module = LuaModule(mlp())
    x = torch.randn(2, 4, dtype=F64)
    with mode():
        outputs = [module(x) for _ in range(5)]
    assert not any(output.requires_grad for output in outputs)
    assert len(module._copies) == 1


def test_expanded_and_sliced_gradients_arrive() -> None:
    module = LuaModule(nn.Linear(3, 2))
    x = randn(4, 3)
    module(x).sum().backward()
    torch.testing.assert_close(x.grad, module.weight.detach().sum(0).expand(4, 3))
    y = randn(3, 4)
    module(y.T).T.sum().backward()
    torch.testing.assert_close(y.grad, x.grad.T)


def test_nested_tables_pass_in_and_out() -> None:
    swap = (
        nn.ConcatTable()
        .add(nn.SelectTable(1))
        .add(nn.Sequential().add(nn.SelectTable(0)).add(nn.SelectTable(0)))
    )
    a, b, c = randn(2), randn(2), randn(2)
    first, second = LuaModule(swap)(([a, b], c))
    assert torch.equal(first, c)
    (second * 3).sum().backward()
    assert a.grad.tolist() == [3, 3]
    assert b.grad.tolist() == c.grad.tolist() == [0, 0]


def test_a_dict_goes_in_and_out(state: bridge.Lua) -> None:
    state.execute(
        """local Named = torch.class('nn.Named', 'nn.Module')
        function Named:updateOutput(x) return {sum = x.a + x.b, count = torch.LongTensor{2}} end
        function Named:updateGradInput(x, g) return {a = g.sum:clone(), b = g.sum * 2} end"""
    )
    a, b = randn(2), randn(2)
    output = LuaModule(nn.Named())({"a": a, "b": b})
    torch.testing.assert_close(output["sum"], a + b)
    assert output["count"].tolist() == [2]
    assert not output["count"].requires_grad
    output["sum"].sum().backward()
    assert (a.grad.tolist(), b.grad.tolist()) == ([1, 1], [2, 2])


def test_a_lua_module_without_gradient_is_told(state: bridge.Lua) -> None:
    state.execute(
        """local Silent = torch.class('nn.Silent', 'nn.Module')
        function Silent:updateOutput(x) return x * 2 end"""
    )
    with pytest.raises(RuntimeError, match=r"gave one of size .* as the gradient of input 0"):
        LuaModule(nn.Silent())(randn(2)).sum().backward()


def test_a_lua_parameter_without_gradient_is_told(state: bridge.Lua) -> None:
    state.execute(
        """local Odd = torch.class('nn.Odd', 'nn.Module')
        function Odd:parameters() return {torch.ones(2)}, {{}} end"""
    )
    with pytest.raises(bridge.LuaError, match="without a tensor for its gradient"):
        LuaModule(nn.Odd())


def test_values_that_stand_in_for_parameters_leave_these_alone() -> None:
    module = LuaModule(nn.Linear(2, 1))
    before = module.net.weight.clone()
    values = {"weight": torch.ones(1, 2, dtype=F64, requires_grad=True), "bias": torch.zeros(1, dtype=F64)}
    output = torch.func.functional_call(module, values, (torch.tensor([3.0, 4.0], dtype=F64),))
    assert output.tolist() == [7]
    assert torch.equal(module.net.weight, before)
    output.sum().backward()
    assert values["weight"].grad.tolist() == [[3, 4]]
    assert module.weight.grad is None
    assert torch.equal(module.net.weight, before)
