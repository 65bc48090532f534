"""bridge.legacy.optim: Torch7's optimisers with functions, arrays and dicts of Python."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import torch
from sklearn.datasets import load_digits

import bridge
from bridge import legacy
from bridge.legacy import nn, optim

BOWL = np.array([1.0, -2.0])
CONFIGS: dict[str, dict[str, Any]] = {
    "adadelta": {},
    "adagrad": {"learningRate": 0.5},
    "adam": {"learningRate": 0.1},
    "adamax": {"learningRate": 0.1},
    "asgd": {"eta0": 0.1},
    "cg": {"maxIter": 5},
    "lbfgs": {"maxIter": 5},
    "nag": {"learningRate": 0.05, "momentum": 0.5},
    "rmsprop": {"learningRate": 0.05},
    "rprop": {},
    "sgd": {"learningRate": 0.1, "momentum": 0.5},
}


SEARCHES: dict[str, dict[str, Any]] = {
    "cmaes": {"sigma": 0.5, "maxEval": 300, "verb_disp": 0},
    "de": {"maxFEs": 600, "scaleFactor": 0.5, "crossoverRate": 0.9},
}


@pytest.fixture(autouse=True, scope="module")
def state() -> Iterator[bridge.Lua]:
    with bridge.Lua() as lua, legacy.use(lua):
        yield lua


def bowl(x: Any) -> tuple[float, Any]:
    """(x - BOWL)^2 and its gradient, in the kind of x."""
    away = x - (BOWL if isinstance(x, np.ndarray) else torch.from_numpy(BOWL))
    return float((away**2).sum()), 2 * away


@pytest.mark.parametrize("name", sorted(CONFIGS))
@pytest.mark.parametrize(
    "make", [np.zeros, lambda n: torch.zeros(n, dtype=torch.float64)], ids=["numpy", "torch"]
)
def test_every_algorithm_goes_down_in_place(name: str, make: Any) -> None:
    legacy.state().torch.manualSeed(1)
    x = make(2)
    config: dict[str, Any] = dict(CONFIGS[name])
    memory: dict[str, Any] = {}
    for _ in range(20):
        result = getattr(optim, name)(bowl, x, config, memory)
        assert result[0] is x
    assert isinstance(result[1], list)
    assert bowl(x)[0] < 5 * 0.999
    assert CONFIGS[name].items() <= config.items()


@pytest.mark.parametrize("name", SEARCHES)
@pytest.mark.parametrize("library", [np, torch], ids=["numpy", "torch"])
def test_a_search_gives_a_point_back_and_leaves_x_alone(name: str, library: Any) -> None:
    legacy.state().torch.manualSeed(1)
    x = library.zeros(2, dtype=library.float64)
    found, losses = getattr(optim, name)(bowl, x, dict(SEARCHES[name]))[:2]
    assert float(abs(x).sum()) == 0
    assert type(found) is type(x)
    assert bowl(found)[0] < 0.05
    assert len(losses) > 1


def test_sgd_equals_torch_s() -> None:
    x = np.zeros(2)
    y = torch.zeros(2, dtype=torch.float64, requires_grad=True)
    optimiser = torch.optim.SGD([y], lr=0.1, momentum=0.9, dampening=0.9, weight_decay=0.01)
    config = {"learningRate": 0.1, "momentum": 0.9, "weightDecay": 0.01}
    for _ in range(5):
        optim.sgd(bowl, x, config)
        optimiser.zero_grad()
        ((y - torch.from_numpy(BOWL)) ** 2).sum().backward()
        optimiser.step()
    np.testing.assert_allclose(x, y.detach())


def test_the_state_is_remembered_in_the_dict_that_is_given() -> None:
    x, config, memory = np.zeros(2), {"learningRate": 0.1}, {}
    optim.adam(bowl, x, config, memory)
    assert config == {"learningRate": 0.1}
    assert memory["t"] == 1
    first = memory["m"]
    optim.adam(bowl, x, config, memory)
    assert memory["t"] == 2
    assert memory["m"] is first


def test_without_a_state_the_config_remembers() -> None:
    config: dict[str, Any] = {"learningRate": 0.1}
    optim.adagrad(bowl, np.zeros(2), config)
    assert config["evalCounter"] == 1
    assert config["paramVariance"].shape == (2,)


def test_steps_in_one_call_or_in_many_are_the_same() -> None:
    x, y, memory = np.zeros(2), np.zeros(2), {}
    for _ in range(6):
        optim.lbfgs(bowl, x, {"maxIter": 1, "learningRate": 0.1}, memory)
    optim.lbfgs(bowl, y, {"maxIter": 6, "learningRate": 0.1})
    assert memory["funcEval"] >= 6
    assert bowl(x)[0] == pytest.approx(bowl(y)[0], abs=0.05)


def test_a_line_search_may_be_passed_as_lua_s() -> None:
    x = np.zeros(2)
    lua = legacy.state()
    optim.lbfgs(bowl, x, {"maxIter": 10, "lineSearch": lua.require("optim").lswolfe})
    np.testing.assert_allclose(x, BOWL, atol=1e-6)


def test_the_function_may_give_a_list_and_a_tensor_s_loss() -> None:
    x = torch.zeros(2, dtype=torch.float64)
    _, losses = optim.sgd(
        lambda x: [torch.tensor(3.0), torch.ones(2, dtype=torch.float64)], x, {"learningRate": 1}
    )
    assert losses == [3]
    assert x.tolist() == [-1, -1]


def test_an_exception_of_the_function_comes_out() -> None:
    def broken(x: Any) -> Any:
        raise ZeroDivisionError("no batches")

    with pytest.raises(bridge.LuaError) as caught:
        optim.sgd(broken, np.zeros(2), {})
    assert isinstance(caught.value.original, ZeroDivisionError)


@pytest.mark.parametrize(
    ("x", "config", "message"),
    [
        ([0.0], {}, "takes a numpy array or a torch tensor as x, got list"),
        (np.zeros(4)[::-1], {}, "negative strides"),
        (np.zeros(2), [1], "takes a dict as config, got list"),
    ],
)
def test_what_does_not_fit_is_refused(x: Any, config: Any, message: str) -> None:
    with pytest.raises((TypeError, ValueError), match=message):
        optim.sgd(bowl, x, config)


def test_gradients_are_checked() -> None:
    difference, *_ = optim.checkgrad(bowl, np.array([0.3, 0.7]), 1e-6)
    assert difference < 1e-6


def test_confusion_counts_from_0() -> None:
    matrix = optim.ConfusionMatrix(3)
    matrix.add(0, 2)
    matrix.add(np.array([0.1, 0.7, 0.2]), 1)
    matrix.batchAdd(np.array([2, 0]), np.array([2, 0]))
    matrix.batchAdd(np.eye(3), [0, 1, 1])
    assert matrix.mat.tolist() == [[2, 0, 0], [0, 2, 1], [1, 0, 1]]
    matrix.updateValids()
    assert matrix.totalValid == pytest.approx(5 / 7)
    assert "ConfusionMatrix" in str(matrix)


def test_a_logger_writes_columns(tmp_path: Any) -> None:
    logger = optim.Logger(str(tmp_path / "log"))
    logger.setNames(["loss"])
    logger.add([0.5])
    assert (tmp_path / "log").read_text().split() == ["loss", "5.0000e-01"]


def test_digits_are_learnt() -> None:
    digits = load_digits()
    x, t = digits.data / 16.0, digits.target
    legacy.state().torch.manualSeed(3)
    net = nn.Sequential().add(nn.View(1, 8, 8)).add(nn.SpatialConvolution(1, 8, 3, 3)).add(nn.ReLU())
    net.add(nn.SpatialMaxPooling(2, 2)).add(nn.View(72)).add(nn.Linear(72, 10)).add(nn.LogSoftMax())
    criterion = nn.ClassNLLCriterion()
    w, dw = net.getParameters()
    config = {"learningRate": 0.02}
    for _ in range(3):
        for at in range(0, 1500, 50):
            batch, target = x[at : at + 50], t[at : at + 50]

            def evaluate(_: Any, batch: Any = batch, target: Any = target) -> tuple[float, Any]:
                net.zeroGradParameters()
                output = net.forward(batch)
                loss = criterion.forward(output, target)
                net.backward(batch, criterion.backward(output, target))
                return loss, dw

            optim.adam(evaluate, w, config)
    net.evaluate()
    matrix = optim.ConfusionMatrix(10)
    matrix.batchAdd(net.forward(x[1500:]), t[1500:])
    matrix.updateValids()
    assert matrix.totalValid > 0.85  # guessing: 0.1
