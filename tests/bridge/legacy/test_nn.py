"""bridge.legacy.nn: Torch7's nn from Python: classes, tensors, graphs, training."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

import bridge
from bridge import legacy
from bridge.legacy import nn
from bridge.legacy.positions import rows
from tests.bridge.legacy.networks import SCORES, mlp

# ---- the classes


def test_the_table_agrees_with_lua(state: bridge.Lua) -> None:
    state.require("nngraph")
    parameters = state.eval(
        """function(name)
           local class = torch.getmetatable('nn.' .. name)
           local parent = getmetatable(class)
           local names, init = {}, class.__init
           if init and rawget(class, '__init') then
              for i = 2, 99 do names[i - 1] = debug.getlocal(init, i) end
           end
           return parent and parent.__typename or '', names
        end"""
    )
    renamed = {"lambda": "lambda_", "_": "nInputPlane"}
    for name, row in rows().items():
        parent, found = parameters(name)
        assert parent == (f"nn.{row.parent}" if row.parent else ""), name
        if found:
            assert [renamed.get(word, word) for word in found] == list(row.form.signature.parameters), name


def test_children_are_instances_of_their_parents() -> None:
    assert isinstance(nn.DepthConcat(0), nn.Concat)
    assert issubclass(nn.gModule, nn.Container)
    assert isinstance(nn.MSECriterion(), nn.Criterion)


def test_arguments_may_be_named() -> None:
    layer = nn.SpatialConvolution(3, 16, kW=5, kH=3, padW=2)
    assert (layer.kW, layer.kH, layer.padW, layer.dW) == (5, 3, 2, 1)


def test_a_name_that_nobody_has_is_told() -> None:
    with pytest.raises(AttributeError, match="nn has no 'Linaer'"):
        _ = nn.Linaer


# ---- tensors


@pytest.mark.parametrize("make", [np.ones, lambda size: torch.ones(size, dtype=torch.float64)])
def test_results_are_of_the_kind_of_the_input(make: Any) -> None:
    x = make((2, 4))
    net = mlp()
    y = net.forward(x)
    assert type(y) is type(x)
    assert type(net.backward(x, y)) is type(x)


def test_fields_share_lua_s_memory() -> None:
    layer = nn.Linear(2, 1)
    layer.weight[:] = 1
    layer.bias[:] = 0.5
    assert layer.forward(np.array([1.0, 2.0])).tolist() == [3.5]
    assert layer.output.tolist() == [3.5]
    layer.gradWeight.fill(7)
    layer.zeroGradParameters()
    assert layer.gradWeight.tolist() == [[0, 0]]


def test_setting_a_field_sets_lua_s() -> None:
    layer = nn.Linear(2, 1)
    layer.weight = np.zeros((1, 2))
    layer.bias = None
    assert layer.forward(np.ones(2)).tolist() == [0]
    del layer.gradWeight
    with pytest.raises(AttributeError, match="gradWeight"):
        _ = layer.gradWeight


def test_the_process_s_own_state_gives_torch_tensors() -> None:
    with legacy.use(None):
        layer = nn.Linear(2, 1)
        assert isinstance(layer.weight, torch.Tensor)
        assert isinstance(layer.forward(np.ones(2)), np.ndarray)


def test_the_chain_of_modules_equals_torch() -> None:
    net = mlp()
    x = torch.randn(5, 4, dtype=torch.float64, requires_grad=True)
    linear, last = net.get(0), net.get(2)
    parameters = [
        torch.from_numpy(p).requires_grad_() for p in (linear.weight, linear.bias, last.weight, last.bias)
    ]
    hidden = torch.tanh(x @ parameters[0].T + parameters[1])
    wanted = torch.log_softmax(hidden @ parameters[2].T + parameters[3], 1)
    target = torch.tensor([0, 1, 2, 1, 0])
    loss = torch.nn.functional.nll_loss(wanted, target)
    loss.backward()
    criterion = nn.ClassNLLCriterion()
    given = x.detach()
    net.zeroGradParameters()
    assert criterion.forward(net.forward(given), target) == pytest.approx(loss.item())
    gradient = net.backward(given, criterion.backward(net.forward(given), target))
    torch.testing.assert_close(gradient, x.grad)
    for p, mine in zip(parameters, net.parameters()[1], strict=True):
        torch.testing.assert_close(torch.from_numpy(mine), p.grad)


# ---- nngraph


def test_a_graph_is_drawn_in_python() -> None:
    x, y = nn.Identity()(), nn.Identity()()
    h = nn.CAddTable()([nn.Linear(3, 2)(x), y])
    net = nn.gModule([x, y], [nn.Tanh()(h)])
    a, b = np.ones((1, 3)), np.zeros((1, 2))
    linear = next(module for module in net.listModules() if isinstance(module, nn.Linear))
    np.testing.assert_allclose(net.forward([a, b]), np.tanh(a @ linear.weight.T + linear.bias))
    gradients = net.backward([a, b], np.ones((1, 2)))
    assert [gradient.shape for gradient in gradients] == [(1, 3), (1, 2)]


def test_a_graph_looks_up_from_0() -> None:
    x = nn.Identity()()
    table = nn.LookupTable(4, 2)
    net = nn.gModule([x], [nn.Sum(0)(table(nn.Select(1, 0)(x)))])
    np.testing.assert_allclose(net.forward(np.array([[3.0, 9.0], [0.0, 9.0]])), table.weight[[3, 0]].sum(0))


def test_nodes_are_chained_by_minus() -> None:
    x = -nn.Identity()
    net = nn.gModule([x], [x - nn.MulConstant(3) - nn.AddConstant(1)])
    assert net.forward(np.ones(2)).tolist() == [4, 4]


def test_a_node_splits() -> None:
    x = nn.Identity()()
    a, b = x.annotate(name="pair").split(2)
    net = nn.gModule([x], [nn.CSubTable()([b, a])])
    assert net.forward([np.ones(2), np.full(2, 3.0)]).tolist() == [2, 2]


def test_a_criterion_is_a_node_too() -> None:
    x, t = nn.Identity()(), nn.Identity()()
    net = nn.gModule([x, t], [nn.ClassNLLCriterion()([x, t])])
    assert net.forward([SCORES, np.array([0, 2])]) == pytest.approx(-(SCORES[0, 0] + SCORES[1, 2]) / 2)


def test_nodes_are_not_made_by_hand() -> None:
    with pytest.raises(TypeError, match="calling a module"):
        nn.Node()


# ---- training


def test_stochastic_gradient_trains_on_pairs(capsys: pytest.CaptureFixture[str]) -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=(60, 4))
    t = (x[:, 0] > 0).astype(int) + (x[:, 1] > 0)
    net = mlp()
    trainer = nn.StochasticGradient(net, nn.ClassNLLCriterion())
    trainer.learningRate = 0.1
    trainer.maxIteration = 20
    trainer.train(zip(x, t.tolist(), strict=True))
    assert "maximum number of iterations" in capsys.readouterr().out
    assert (net.forward(x).argmax(1) == t).mean() > 0.9
