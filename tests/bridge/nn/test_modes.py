"""bridge.nn: indices, modes, types and copies of Lua modules."""

from __future__ import annotations

import copy
import io
import pickle
from typing import Any

import pytest
import torch

import bridge
from bridge.legacy import nn
from bridge.nn import LuaCriterion, LuaModule
from tests.bridge.nn.networks import F64, mlp, randn

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
