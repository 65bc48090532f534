"""bridge.nn: Lua modules and criterions inside PyTorch models."""

from __future__ import annotations

import copy
import gc
import io
import pickle
import threading
from collections.abc import Iterator
from typing import Any

import pytest
import torch
import torch.utils.checkpoint
from sklearn.datasets import load_digits

import bridge
from bridge import legacy
from bridge.legacy import nn
from bridge.nn import LuaCriterion, LuaModule

F64 = torch.float64


@pytest.fixture(autouse=True, scope="module")
def state() -> Iterator[bridge.Lua]:
    with bridge.Lua(tensors="torch") as lua, legacy.use(lua):
        yield lua


@pytest.fixture(autouse=True)
def seeds() -> None:
    torch.manual_seed(0)
    legacy.state().torch.manualSeed(1)


def randn(*size: int) -> torch.Tensor:
    return torch.randn(*size, dtype=F64, requires_grad=True)


def mlp() -> Any:
    return nn.Sequential().add(nn.Linear(4, 8)).add(nn.Tanh()).add(nn.Linear(8, 3)).add(nn.LogSoftMax())


def graph() -> Any:
    x, y = nn.Identity()(), nn.Identity()()
    h = nn.CMulTable()([nn.Sigmoid()(nn.Linear(4, 3)(x)), y])
    return nn.gModule([x, y], [h, nn.Tanh()(h)])


# ---- gradients

SINGLE = {
    "Linear": (lambda: nn.Linear(4, 3), (5, 4)),
    "Linear of a vector": (lambda: nn.Linear(4, 3), (4,)),
    "Bilinear": (lambda: nn.Sequential().add(nn.SplitTable(0)).add(nn.Bilinear(4, 4, 2)), (2, 3, 4)),
    "mlp": (mlp, (5, 4)),
    "SpatialConvolution": (lambda: nn.SpatialConvolution(2, 3, 3, 3, 1, 1, 1, 1), (2, 2, 5, 5)),
    "SpatialFullConvolution": (lambda: nn.SpatialFullConvolution(2, 3, 3, 3, 2, 2), (1, 2, 3, 3)),
    "TemporalConvolution": (lambda: nn.TemporalConvolution(3, 2, 2), (2, 5, 3)),
    "VolumetricConvolution": (lambda: nn.VolumetricConvolution(1, 2, 2, 2, 2), (1, 1, 3, 3, 3)),
    "SpatialMaxPooling": (lambda: nn.SpatialMaxPooling(2, 2), (2, 2, 4, 4)),
    "SpatialAveragePooling": (lambda: nn.SpatialAveragePooling(2, 2), (2, 2, 4, 4)),
    "BatchNormalization": (lambda: nn.BatchNormalization(4), (6, 4)),
    "SpatialBatchNormalization": (lambda: nn.SpatialBatchNormalization(2), (2, 2, 3, 3)),
    "LayerNormalization": (lambda: nn.LayerNormalization(4), (3, 4)),
    "PReLU": (nn.PReLU, (3, 4)),
    "ReLU in place": (lambda: nn.Sequential().add(nn.ReLU(True)).add(nn.Linear(4, 2)), (3, 4)),
    "ReLU in place behind": (lambda: nn.Sequential().add(nn.Linear(4, 2)).add(nn.ReLU(True)), (3, 4)),
    "CMul": (lambda: nn.CMul(4), (3, 4)),
    "Add": (lambda: nn.Add(4), (4,)),
    "Euclidean": (lambda: nn.Euclidean(4, 2), (3, 4)),
    "WeightNorm": (lambda: nn.WeightNorm(nn.Linear(4, 2)), (3, 4)),
    "Maxout": (lambda: nn.Maxout(4, 2, 3), (3, 4)),
    "Concat": (lambda: nn.Concat(1).add(nn.Linear(4, 2)).add(nn.Tanh()), (3, 4)),
    "ConcatTable": (lambda: nn.ConcatTable().add(nn.Linear(4, 2)).add(nn.Sigmoid()), (3, 4)),
    "SplitTable": (lambda: nn.SplitTable(1), (2, 3, 4)),
    "a residue": (
        lambda: (
            nn.Sequential().add(nn.ConcatTable().add(nn.Linear(4, 4)).add(nn.Identity())).add(nn.CAddTable())
        ),
        (3, 4),
    ),
    "Max": (lambda: nn.Max(1), (3, 4)),
    "MapTable": (lambda: nn.Sequential().add(nn.SplitTable(0)).add(nn.MapTable(nn.Linear(4, 2))), (3, 4)),
    "MixtureTable": (
        lambda: (
            nn.Sequential()
            .add(
                nn.ConcatTable()
                .add(nn.Sequential().add(nn.Linear(4, 2)).add(nn.SoftMax()))
                .add(nn.ConcatTable().add(nn.Linear(4, 3)).add(nn.Linear(4, 3)))
            )
            .add(nn.MixtureTable())
        ),
        (3, 4),
    ),
    "PartialLinear": (lambda: nn.PartialLinear(4, 5), (3, 4)),
    "SpatialConvolutionMap": (lambda: nn.SpatialConvolutionMap(nn.tables.full(2, 2), 3, 3), (2, 4, 4)),
    "TemporalRowConvolution": (lambda: nn.TemporalRowConvolution(3, 2), (5, 3)),
    "SpatialCrossMapLRN": (lambda: nn.SpatialCrossMapLRN(3), (1, 4, 3, 3)),
    "SpatialUpSamplingBilinear": (lambda: nn.SpatialUpSamplingBilinear(2), (1, 1, 3, 3)),
    "Threshold in place": (lambda: nn.Threshold(0, 0, True), (3, 4)),
    "View": (lambda: nn.View(-1), (2, 3)),
    "a number": (lambda: nn.Sequential().add(nn.Linear(4, 1)).add(nn.Sum(0)), (4,)),
}


@pytest.mark.parametrize("name", SINGLE)
def test_gradients_are_right(name: str) -> None:
    make, size = SINGLE[name]
    module = LuaModule(make())
    x = randn(*size)
    parameters = [p.detach().clone().requires_grad_() for p in module.parameters()]

    def function(x: torch.Tensor, *values: torch.Tensor) -> Any:
        output = torch.func.functional_call(
            module, dict(zip([name for name, _ in module.named_parameters()], values, strict=True)), (x,)
        )
        return tuple(output) if isinstance(output, list) else output

    assert torch.autograd.gradcheck(function, (x, *parameters))


TABLES = {
    "CAddTable": nn.CAddTable,
    "CMulTable": nn.CMulTable,
    "CSubTable": nn.CSubTable,
    "JoinTable": lambda: nn.JoinTable(1),
    "MM": lambda: nn.MM(False, True),
    "CosineDistance": nn.CosineDistance,
    "PairwiseDistance": lambda: nn.PairwiseDistance(2),
    "DotProduct": nn.DotProduct,
    "ParallelTable": lambda: nn.ParallelTable().add(nn.Linear(4, 2)).add(nn.Tanh()),
}


@pytest.mark.parametrize("name", TABLES)
def test_gradients_of_tables_are_right(name: str) -> None:
    module = LuaModule(TABLES[name]())

    def function(a: torch.Tensor, b: torch.Tensor) -> Any:
        output = module([a, b])
        return tuple(output) if isinstance(output, list) else output

    assert torch.autograd.gradcheck(function, (randn(3, 4), randn(3, 4)))


def test_gradients_of_a_graph_are_right() -> None:
    module = LuaModule(graph())
    assert torch.autograd.gradcheck(lambda a, b: tuple(module(a, b)), (randn(2, 4), randn(2, 3)))


CRITERIONS = {
    "MSECriterion": (nn.MSECriterion, (3, 4), lambda: torch.randn(3, 4, dtype=F64)),
    "AbsCriterion": (nn.AbsCriterion, (3, 4), lambda: torch.randn(3, 4, dtype=F64)),
    "SmoothL1Criterion": (nn.SmoothL1Criterion, (3, 4), lambda: torch.randn(3, 4, dtype=F64)),
    "ClassNLLCriterion": (nn.ClassNLLCriterion, (3, 4), lambda: torch.tensor([0, 3, 1])),
    "CrossEntropyCriterion": (nn.CrossEntropyCriterion, (3, 4), lambda: torch.tensor([0, 3, 1])),
    "a number": (nn.CrossEntropyCriterion, (4,), lambda: 3),
    "MultiMarginCriterion": (nn.MultiMarginCriterion, (3, 4), lambda: torch.tensor([0, 3, 1])),
    "MarginCriterion": (
        nn.MarginCriterion,
        (4,),
        lambda: torch.tensor([1.0, -1, 1, -1], dtype=F64),
    ),
    "DistKLDivCriterion": (nn.DistKLDivCriterion, (3, 4), lambda: torch.rand(3, 4, dtype=F64)),
}


@pytest.mark.parametrize("name", CRITERIONS)
def test_gradients_of_criterions_are_right(name: str) -> None:
    make, size, target = CRITERIONS[name]
    criterion, wanted = LuaCriterion(make()), target()
    assert torch.autograd.gradcheck(lambda x: 3 * criterion(x, wanted), (randn(*size),))


def test_a_criterion_of_two_inputs_has_two_gradients() -> None:
    criterion = LuaCriterion(nn.CosineEmbeddingCriterion(0.1))
    assert torch.autograd.gradcheck(lambda a, b: criterion([a, b], 1), (randn(4), randn(4)))


# ---- parameters


def test_parameters_share_memory_with_lua() -> None:
    net = mlp()
    module = LuaModule(net)
    assert [name for name, _ in module.named_parameters()] == ["0.weight", "0.bias", "2.weight", "2.bias"]
    with torch.no_grad():
        module.get_parameter("0.weight").fill_(7)
    assert net.get(0).weight.eq(7).all()
    net.get(2).bias.fill_(3)
    assert module.get_parameter("2.bias").eq(3).all()


def test_a_single_layer_s_parameters_are_its_own() -> None:
    module = LuaModule(nn.Linear(2, 1))
    assert module.weight.shape == (1, 2)
    assert isinstance(module.bias, torch.nn.Parameter)


def test_every_parameter_of_a_graph_has_a_name() -> None:
    module = LuaModule(graph())
    names = [name for name, _ in module.named_parameters()]
    assert len(names) == len(set(names)) == 2
    assert all(name.endswith((".weight", ".bias")) for name in names)


def test_running_means_are_buffers() -> None:
    module = LuaModule(nn.Sequential().add(nn.BatchNormalization(3)))
    assert [name for name, _ in module.named_buffers()] == ["0.running_mean", "0.running_var"]
    module(randn(5, 3))
    assert module.get_buffer("0.running_mean").abs().sum() > 0


def test_shared_weights_are_one_parameter_and_their_gradients_add_up() -> None:
    first = nn.Linear(3, 3)
    second = nn.Linear(3, 3).share(first, "weight", "bias")
    module = LuaModule(nn.Sequential().add(first).add(nn.Tanh()).add(second))
    assert len(list(module.parameters())) == 2
    weight, bias = (p.detach().clone().requires_grad_() for p in module.parameters())
    x = randn(4, 3)
    wanted = (torch.tanh(x @ weight.T + bias) @ weight.T + bias).square().sum()
    module(x).square().sum().backward()
    mine = [p.grad for p in module.parameters()]
    for given, right in zip(mine, torch.autograd.grad(wanted, [weight, bias]), strict=True):
        torch.testing.assert_close(given, right)


@pytest.mark.parametrize("shared", [("weight", "bias"), ("weight", "bias", "gradWeight", "gradBias")])
def test_shared_gradients_count_once(shared: tuple[str, ...]) -> None:
    first = nn.Linear(3, 3)
    second = nn.Linear(3, 3).share(first, *shared)
    module = LuaModule(nn.Sequential().add(first).add(second))
    x = randn(4, 3)
    weight = module.get_parameter("0.weight").detach().clone().requires_grad_()
    bias = module.get_parameter("0.bias").detach()
    ((x @ weight.T + bias) @ weight.T + bias).sum().backward()
    module(x).sum().backward()
    torch.testing.assert_close(module.get_parameter("0.weight").grad, weight.grad)


def test_gradients_add_up_over_backwards_and_are_zeroed_by_torch() -> None:
    module = LuaModule(nn.Linear(2, 1))
    x = torch.ones(1, 2, dtype=F64)
    for times in (1, 2, 3):
        module(x).sum().backward()
        assert module.weight.grad.tolist() == [[times, times]]
    module.zero_grad()
    module(x).sum().backward()
    assert module.weight.grad.tolist() == [[1, 1]]
    assert module.net.gradWeight.tolist() == [[1, 1]]


def test_frozen_parameters_get_no_gradient() -> None:
    module = LuaModule(mlp())
    module.get_parameter("0.weight").requires_grad_(False)
    module(randn(2, 4)).sum().backward()
    assert module.get_parameter("0.weight").grad is None
    assert module.get_parameter("0.bias").grad is not None


def test_a_frozen_module_passes_gradients_on() -> None:
    module = LuaModule(mlp()).requires_grad_(False)
    x = randn(2, 4)
    module(x)[:, 0].sum().backward()
    assert x.grad.abs().sum() > 0
    module.net.zeroGradParameters()
    module(x)[:, 0].sum().backward()
    assert all(gradient.abs().sum() == 0 for gradient in module.net.parameters()[1])


def test_the_state_dict_is_torch_s() -> None:
    module, other = LuaModule(mlp()), LuaModule(mlp())
    plain = torch.nn.Sequential(
        torch.nn.Linear(4, 8), torch.nn.Tanh(), torch.nn.Linear(8, 3), torch.nn.LogSoftmax(1)
    ).double()
    plain.load_state_dict(module.state_dict())
    x = torch.randn(2, 4, dtype=F64)
    torch.testing.assert_close(plain(x), module(x))
    other.load_state_dict(plain.state_dict())
    assert torch.equal(other.net.forward(x), module(x))


@pytest.mark.parametrize("how", ["data", "assign", "vector"])
def test_parameters_that_are_replaced_reach_lua(how: str) -> None:
    module = LuaModule(nn.Linear(2, 1))
    ones = {"weight": torch.ones(1, 2, dtype=F64), "bias": torch.zeros(1, dtype=F64)}
    if how == "data":
        module.weight.data, module.bias.data = ones.values()
    elif how == "assign":
        module.load_state_dict(ones, assign=True)
    else:
        torch.nn.utils.vector_to_parameters(torch.tensor([1.0, 1, 0], dtype=F64), module.parameters())
    assert module(torch.tensor([3.0, 4.0], dtype=F64)).tolist() == [7]
    assert module.net.weight.tolist() == [[1, 1]]
    assert module.weight.data_ptr() == module.net.weight.data_ptr()


def test_parameters_that_lua_flattens_stay_shared() -> None:
    module = LuaModule(mlp())
    flat, _ = module.net.getParameters()
    module(randn(1, 4))
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.fill_(2)
    assert flat.eq(2).all()


def test_a_module_that_lua_changed_is_refused() -> None:
    module = LuaModule(nn.Sequential().add(nn.Linear(2, 2)))
    module.net.add(nn.Linear(2, 2))
    with pytest.raises(RuntimeError, match="other parameters than when this LuaModule was made"):
        module(randn(1, 2))


# ---- forwards and backwards


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


# ---- indices


def test_indices_count_from_0_and_have_no_gradient() -> None:
    module = LuaModule(nn.LookupTable(5, 2))
    output = module(torch.tensor([0, 4, 4]))
    assert torch.equal(output, module.weight[[0, 4, 4]])
    output.sum().backward()
    assert module.weight.grad[:, 0].tolist() == [1, 0, 0, 0, 2]


def test_a_sparse_layer_s_gradients_come_whole() -> None:
    module = LuaModule(nn.IndexLinear(4, 2))
    for _ in range(2):
        module([torch.tensor([3, 0]), torch.tensor([2.0, 1.0], dtype=F64)]).sum().backward()
    assert module.weight.grad.tolist() == [[2, 2], [0, 0], [0, 0], [4, 4]]


def test_indices_count_from_1_where_that_is_wanted() -> None:
    module = LuaModule(nn.LookupTable(5, 2), base=1)
    assert torch.equal(module(torch.tensor([1, 5])), module.weight[[0, 4]])
    loss = LuaCriterion(nn.ClassNLLCriterion(), base=1)
    assert loss(torch.tensor([[-1.0, -2.0]], dtype=F64), torch.tensor([2])).item() == 2


def test_a_base_is_0_or_1() -> None:
    with pytest.raises(ValueError, match="base= is 0"):
        LuaModule(nn.Tanh(), base=2)


# ---- modes, types, copies


def test_train_and_eval_reach_lua() -> None:
    module = LuaModule(nn.Sequential().add(nn.Dropout(0.5)))
    x = torch.ones(50, dtype=F64)
    module.eval()
    assert module.net.get(0).train is False
    assert torch.equal(module(x), x)
    torch.nn.Sequential(module).train()
    assert module.net.get(0).train is True
    assert not torch.equal(module(x), x)


def test_a_forward_keeps_its_mode_for_its_backward() -> None:
    module = LuaModule(nn.Dropout(0.5))
    x = torch.ones(50, dtype=F64, requires_grad=True)
    output = module(x)
    module.eval()
    torch.testing.assert_close(module(x), x.detach())
    output.sum().backward()
    torch.testing.assert_close(x.grad, output.detach())


def test_a_module_in_evaluation_stays_so() -> None:
    net = nn.Dropout(0.5)
    net.evaluate()
    assert LuaModule(net).training is False


def test_types_follow_torch_s_calls() -> None:
    module = LuaModule(mlp())
    optimiser = torch.optim.SGD(module.parameters(), lr=0.1)
    module(torch.randn(2, 4, dtype=F64)).sum().backward()
    module.float()
    assert module.net.type() == "torch.FloatTensor"
    assert (
        {p.dtype for p in module.parameters()}
        == {p.grad.dtype for p in module.parameters()}
        == {torch.float32}
    )
    optimiser.step()
    torch.testing.assert_close(module.net.get(0).weight, module.get_parameter("0.weight").detach())
    assert module(torch.randn(2, 4)).dtype == torch.float32
    assert module.to(F64).dtype == F64
    for refused in (module.half, module.bfloat16, lambda: module.to("meta"), module.share_memory):
        with pytest.raises((TypeError, NotImplementedError), match="Lua"):
            refused()
    assert module(torch.randn(2, 4, dtype=F64)).dtype == F64


def test_an_input_of_another_type_is_refused() -> None:
    with pytest.raises(TypeError, match=r"computes in torch.float64, got input 1 of torch.float32"):
        LuaModule(nn.CAddTable())(torch.ones(2, dtype=F64), torch.ones(2))
    criterion = LuaCriterion(nn.MSECriterion())
    with pytest.raises(TypeError, match=r"computes in torch.float64"):
        criterion(torch.ones(2), torch.ones(2))
    assert criterion.float()(torch.ones(2), torch.zeros(2)).item() == pytest.approx(1)


@pytest.mark.parametrize("what", [torch.nn.Linear(2, 2), 3, None])
def test_what_is_no_lua_module_is_refused(what: Any) -> None:
    with pytest.raises(TypeError, match=r"LuaModule takes a Lua nn\.Module"):
        LuaModule(what)


def test_modules_and_criterions_are_told_apart() -> None:
    with pytest.raises(TypeError, match=r"takes a Lua nn\.Criterion, got a nn\.Tanh"):
        LuaCriterion(nn.Tanh())
    with pytest.raises(TypeError, match=r"takes a Lua nn\.Module, got a nn\.MSECriterion"):
        LuaModule(nn.MSECriterion())
    with pytest.raises(TypeError, match="no gradient for its target"):
        LuaCriterion(nn.MSECriterion())(randn(2), randn(2))


def test_a_module_of_a_state_that_gives_numpy_works() -> None:
    with bridge.Lua() as lua:
        net = lua.execute("require 'nn' return nn.Sequential():add(nn.Linear(4, 2)):add(nn.Tanh())")
        assert torch.autograd.gradcheck(LuaModule(net), (randn(3, 4),))


def saved(module: Any) -> Any:
    file = io.BytesIO()
    torch.save(module, file)
    file.seek(0)
    return torch.load(file, weights_only=False)


@pytest.mark.parametrize("duplicate", [copy.deepcopy, lambda m: pickle.loads(pickle.dumps(m)), saved])
def test_a_copy_is_independent(duplicate: Any) -> None:
    module = LuaModule(nn.Sequential().add(nn.BatchNormalization(4)).add(mlp()))
    module.get_parameter("1.0.weight").requires_grad_(False)
    x = torch.randn(5, 4, dtype=F64)
    module(x)
    twin = duplicate(module.eval())
    assert not twin.training
    assert torch.equal(twin(x), module(x))
    assert [p.requires_grad for p in twin.parameters()] == [p.requires_grad for p in module.parameters()]
    with torch.no_grad():
        twin.get_parameter("1.0.bias").add_(1)
    assert not torch.equal(twin(x), module(x))
    assert twin.get_parameter("1.0.bias").data_ptr() == twin.net.get(1).get(0).bias.data_ptr()


def test_a_module_without_parameters_is_copied() -> None:
    twin = copy.deepcopy(LuaModule(nn.Tanh()))
    assert twin(torch.zeros(2, dtype=F64)).tolist() == [0, 0]


def test_a_criterion_is_copied() -> None:
    twin = copy.deepcopy(LuaCriterion(nn.MSECriterion()))
    assert twin(torch.ones(2, dtype=F64), torch.zeros(2, dtype=F64)).item() == pytest.approx(1)


# ---- threads


def test_threads_share_a_module() -> None:
    module = LuaModule(mlp())
    plain = torch.nn.Sequential(
        torch.nn.Linear(4, 8), torch.nn.Tanh(), torch.nn.Linear(8, 3), torch.nn.LogSoftmax(1)
    ).double()
    plain.load_state_dict(module.state_dict())
    problems: list[str] = []

    def work(seed: int) -> None:
        generator = torch.Generator().manual_seed(seed)
        for _ in range(30):
            x = torch.randn(3, 4, dtype=F64, generator=generator).requires_grad_()
            mine = torch.autograd.grad(module(x)[:, 0].sum(), x)[0]
            right = torch.autograd.grad(plain(x)[:, 0].sum(), x)[0]
            if not torch.allclose(mine, right):
                problems.append("another thread's gradient")

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert not any(thread.is_alive() for thread in threads)
    assert problems == []


def test_a_state_that_is_in_use_is_told() -> None:
    with bridge.Lua(tensors="torch", busy_timeout=0.2) as lua:
        module = LuaModule(lua.execute("require 'nn' return nn.Tanh()"))
        inside, leave = threading.Event(), threading.Event()

        def hold() -> None:
            with lua.exclusive():
                inside.set()
                leave.wait(30)

        thread = threading.Thread(target=hold)
        thread.start()
        assert inside.wait(30)
        try:
            with pytest.raises(bridge.StateBusy, match=r"in use by another thread after 0.2 s"):
                module(randn(2))
        finally:
            leave.set()
            thread.join(30)
        assert torch.equal(module(torch.zeros(2, dtype=F64)), torch.zeros(2, dtype=F64))


def test_an_error_in_lua_leaves_the_module_usable() -> None:
    module = LuaModule(nn.Linear(3, 2))
    with pytest.raises(bridge.LuaError, match="size"):
        module(randn(2, 4))
    assert module(randn(2, 3)).shape == (2, 2)
    assert len(module._copies) == 1


# ---- training


def test_digits_are_learnt_by_torch_s_optimiser() -> None:
    digits = load_digits()
    x, t = torch.from_numpy(digits.data / 16.0).float(), torch.from_numpy(digits.target)
    convolutions = (
        nn.Sequential().add(nn.View(1, 8, 8)).add(nn.SpatialConvolution(1, 8, 3, 3)).add(nn.ReLU(True))
    )
    convolutions.add(nn.SpatialMaxPooling(2, 2)).add(nn.View(72))
    model = torch.nn.Sequential(
        LuaModule(convolutions), torch.nn.Linear(72, 10), LuaModule(nn.LogSoftMax())
    ).float()
    criterion = LuaCriterion(nn.ClassNLLCriterion()).float()
    optimiser = torch.optim.Adam(model.parameters(), lr=0.02)
    for _ in range(3):
        for at in range(0, 1500, 50):
            optimiser.zero_grad()
            criterion(model(x[at : at + 50]), t[at : at + 50]).backward()
            optimiser.step()
    with torch.no_grad():
        right = (model(x[1500:]).argmax(1) == t[1500:]).double().mean()
    assert right > 0.85  # guessing: 0.1
