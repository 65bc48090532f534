"""bridge.legacy.nn: modules as objects of Python, and classes written in Python and in Lua."""

from __future__ import annotations

import copy
import gc
import pickle
import threading
import weakref
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import bridge
from bridge import legacy
from bridge.legacy import nn
from bridge.legacy.session import session_of
from tests.bridge.legacy.networks import mlp

# ---- modules as objects


def test_the_same_module_is_the_same_object() -> None:
    net = mlp()
    layer = net.get(0)
    assert net.listModules()[1] is layer
    assert net.training() is None or net.training() is net
    assert layer.clone() is not layer


def test_functions_get_modules() -> None:
    seen: list[Any] = []
    net = mlp()
    net.apply(seen.append)
    assert seen[0] is net
    assert [type(module).__name__ for module in seen[1:]] == ["Linear", "Tanh", "Linear", "LogSoftMax"]
    net.replace(lambda module: nn.Sigmoid() if isinstance(module, nn.Tanh) else module)
    assert isinstance(net.get(1), nn.Sigmoid)


@pytest.mark.parametrize("duplicate", [copy.deepcopy, copy.copy, lambda m: pickle.loads(pickle.dumps(m))])
def test_a_copy_computes_the_same_and_shares_nothing(duplicate: Any) -> None:
    net = mlp()
    twin = duplicate(net)
    x = np.ones((1, 4))
    before = net.forward(x).copy()
    np.testing.assert_array_equal(twin.forward(x), before)
    twin.get(0).weight.fill(0)
    np.testing.assert_array_equal(net.forward(x), before)


def test_a_file_keeps_a_module(tmp_path: Path, state: bridge.Lua) -> None:
    net = mlp()
    legacy.save({"net": net, "epochs": 3}, tmp_path / "net.t7")
    again = legacy.load(tmp_path / "net.t7")
    assert again["epochs"] == 3
    np.testing.assert_array_equal(again["net"].forward(np.ones((1, 4))), net.forward(np.ones((1, 4))))
    assert state.eval("torch.load(...).net:size()", str(tmp_path / "net.t7")) == 4


def test_a_module_is_written_by_its_own_state(tmp_path: Path) -> None:
    layer = nn.Linear(2, 1)
    with legacy.use(None):
        legacy.save(layer, tmp_path / "layer.t7")
        again = legacy.load(tmp_path / "layer.t7")
    assert again.weight.tolist() == layer.weight.tolist()


def test_the_states_of_modules_do_not_mix() -> None:
    with bridge.Lua() as other, legacy.use(other):
        foreign = nn.Tanh()
        with legacy.use(None):
            net = nn.Sequential()
        with pytest.raises(ValueError, match="another Lua state"):
            net.add(foreign)


@pytest.mark.slow
def test_what_is_forgotten_is_collected(state: bridge.Lua) -> None:
    net = nn.Linear(1000, 1000)
    held = state.held_bytes
    assert held > 8_000_000
    del net
    gc.collect()
    state.collect()
    assert state.held_bytes < held - 8_000_000


@pytest.mark.slow
def test_a_state_that_nobody_closes_goes_with_its_objects() -> None:
    lua = bridge.Lua()
    with legacy.use(lua):
        nn.Sequential().add(Scale(2)).apply(lambda module: None)
    gone = weakref.ref(session_of(lua.exclusive()))
    del lua
    gc.collect()
    assert gone() is None


def test_a_closed_state_is_told() -> None:
    lua = bridge.Lua()
    with legacy.use(lua):
        layer = nn.Tanh()
    lua.close()
    with pytest.raises(bridge.StateClosed):
        layer.forward(np.ones(2))
    with pytest.raises(bridge.StateClosed):
        legacy.use(lua)
    assert "closed" in repr(layer)


def test_threads_share_a_module() -> None:
    layer = nn.Linear(3, 3)
    x = np.random.default_rng(0).normal(size=(4, 3))
    wanted = x @ layer.weight.T + layer.bias
    worst: list[float] = []

    def work() -> None:
        mine = layer.clone()
        worst.append(max(float(abs(mine.forward(x) - wanted).max()) for _ in range(50)))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert len(worst) == 4
    assert max(worst) < 1e-12


# ---- classes written in Python and in Lua


class Scale(nn.Module):
    """Multiplies by a number."""

    def __init__(self, factor: float) -> None:
        super().__init__()
        self.factor = factor

    def updateOutput(self, x: Any) -> Any:
        self.output = x * self.factor
        return self.output

    def updateGradInput(self, x: Any, gradOutput: Any) -> Any:
        self.gradInput = gradOutput * self.factor
        return self.gradInput


class Doubled(nn.Linear):
    def updateOutput(self, x: Any) -> Any:
        return super().updateOutput(x) * 2


def test_a_module_written_in_python_works_inside_lua_s() -> None:
    net = nn.Sequential().add(Scale(3)).add(nn.Linear(2, 1))
    x = np.ones((1, 2))
    np.testing.assert_allclose(net.forward(x), 3 * net.get(1).weight.sum() + net.get(1).bias[0])
    np.testing.assert_allclose(net.backward(x, np.ones((1, 1))), 3 * net.get(1).weight)


@pytest.mark.slow
def test_a_module_written_in_python_keeps_its_fields_in_lua() -> None:
    net = nn.Sequential().add(Scale(3))
    gc.collect()
    module = net.get(0)
    assert type(module) is Scale
    assert module.factor == 3


@pytest.mark.parametrize("duplicate", [copy.deepcopy, lambda m: pickle.loads(pickle.dumps(m))])
def test_a_module_written_in_python_is_copied(duplicate: Any) -> None:
    twin = duplicate(nn.Sequential().add(Scale(3)))
    assert type(twin.get(0)) is Scale
    assert twin.forward(np.ones(2)).tolist() == [3, 3]


def test_super_is_the_class_of_lua() -> None:
    layer = Doubled(2, 1)
    np.testing.assert_allclose(layer.forward(np.ones(2)), 2 * (layer.weight.sum(1) + layer.bias))
    assert isinstance(layer, nn.Linear)


def test_a_pickle_opens_in_another_state() -> None:
    data = pickle.dumps(nn.Sequential().add(Scale(3)))
    with bridge.Lua() as other, legacy.use(other):
        assert pickle.loads(data).forward(np.ones(2)).tolist() == [3, 3]


def test_an_exception_of_a_module_written_in_python_comes_out() -> None:
    class Broken(nn.Module):
        def updateOutput(self, x: Any) -> Any:
            raise KeyError("no such layer")

    with pytest.raises(bridge.LuaError) as caught:
        nn.Sequential().add(Broken()).forward(np.ones(1))
    assert isinstance(caught.value.original, KeyError)


def test_a_constructor_that_forgets_super_is_told() -> None:
    class Forgetful(nn.Module):
        def __init__(self) -> None:
            self.k = 1

    with pytest.raises(AttributeError, match=r"super\(\).__init__\(\)"):
        Forgetful()


def test_a_class_that_a_lua_program_defines_is_found(state: bridge.Lua) -> None:
    state.execute(
        """require 'nn'
        local Twice, parent = torch.class('nn.Twice', 'nn.Module')
        function Twice:__init(k) parent.__init(self) self.k = k end
        function Twice:updateOutput(x) return x * self.k end"""
    )
    module = nn.Twice(2)
    assert module.forward(np.ones(2)).tolist() == [2, 2]
    assert isinstance(module, nn.Module)
    assert type(nn.Sequential().add(module).get(0)) is type(module)
