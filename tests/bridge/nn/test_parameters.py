"""bridge.nn: parameters and buffers of Lua modules are those of PyTorch."""

from __future__ import annotations

import pytest
import torch

from bridge.legacy import nn
from bridge.nn import LuaModule
from tests.bridge.nn.networks import F64, graph, mlp, randn


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
