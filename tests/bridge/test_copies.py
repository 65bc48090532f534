"""Results of calls in memory of their own: when a call or a state asks for it, and never otherwise."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
import torch

import bridge
from bridge import legacy
from bridge.nn import LuaModule

INPUTS = [np.full((1, 4), float(i)) for i in range(3)]
NETWORK = "require 'nn' torch.manualSeed(1) return nn.Sequential():add(nn.Linear(4, 3))"


@pytest.fixture
def net(lua: bridge.Lua) -> Any:
    return lua.execute(NETWORK)


@pytest.fixture
def copying() -> Iterator[bridge.Lua]:
    with bridge.Lua(copy=True) as state:
        yield state


def apart(results: list[Any]) -> bool:
    return not any(np.shares_memory(a, b) for a in results for b in results if a is not b)


@pytest.mark.parametrize("option", [True, False, None])
def test_a_call_says_whether_its_results_are_copies(net: Any, option: bool | None) -> None:
    assert apart([net.forward(x, copy=option) for x in INPUTS]) is (option is True)


@pytest.mark.parametrize("option", [True, False, None])
def test_a_state_says_it_for_all_calls(copying: bridge.Lua, option: bool | None) -> None:
    net = copying.execute(NETWORK)
    assert apart([net.forward(x, copy=option) for x in INPUTS]) is (option is not False)


def results_of(lua: bridge.Lua, how: str, **option: Any) -> list[Any]:
    lua.execute("t = torch.ones(3) function give(...) return t end")
    calls: dict[str, Callable[[], Any]] = {
        "a function": lambda: lua.give(**option),
        "every result": lambda: lua.give.results(**option)[0],
        "eval": lambda: lua.eval("t", **option),
        "execute": lambda: lua.execute("return t", **option),
        "several results": lambda: lua.execute("return 1, t", **option)[1],
        "a table": lambda: lua.execute("return {x = {t}}", **option)["x"][0],
        "a class": lambda: lua.torch.Tensor(lua.t, copy=option.get("copy", False)),
        "a storage": lambda: lua.eval("t:storage()", **option),
    }
    return [calls[how]() for _ in range(2)]


HOW = ["a function", "every result", "eval", "execute", "several results", "a table", "a class", "a storage"]


@pytest.mark.parametrize("how", HOW)
def test_every_way_to_call_takes_it(lua: bridge.Lua, how: str) -> None:
    assert apart(results_of(lua, how, copy=True))
    assert not apart(results_of(lua, how))


def test_torch_tensors_are_copied_too() -> None:
    with bridge.Lua(tensors="torch") as lua:
        net = lua.execute(NETWORK)
        first, second = (net.forward(torch.from_numpy(x), copy=True) for x in INPUTS[:2])
        assert first.data_ptr() != second.data_ptr()
        assert not torch.equal(first, second)


def test_fields_are_the_memory_itself(copying: bridge.Lua) -> None:
    net = copying.execute(NETWORK)
    net.get(1).weight[:] = 0
    net.get(1).bias[:] = 2
    assert (net.forward(INPUTS[0]) == 2).all()


def test_what_a_callback_is_given_is_the_memory_itself(copying: bridge.Lua) -> None:
    def fill(x: Any) -> None:
        x[:] = 7

    program = "require 'torch' local fill, t = ..., torch.zeros(2) fill(t) return t"
    assert copying.execute(program, fill).tolist() == [7, 7]


def test_a_copy_is_writable_and_nobody_elses(net: Any) -> None:
    output = net.forward(INPUTS[1], copy=True)
    output[:] = 0
    assert net.output.any()


def test_what_is_no_tensor_is_as_ever(copying: bridge.Lua) -> None:
    assert copying.eval("{1, {a = 'b'}}") == [1, {"a": "b"}]
    thing = object()
    assert copying.eval("...", thing) is thing


# ---- bridge.legacy and bridge.nn


def test_a_legacy_module_takes_it(lua: bridge.Lua) -> None:
    with legacy.use(lua):
        net = legacy.nn.Sequential().add(legacy.nn.Linear(4, 3))
        assert apart([net.forward(x, copy=True) for x in INPUTS])
        assert not apart([net.forward(x) for x in INPUTS])


def test_outputs_of_a_module_inside_pytorch_are_apart(lua: bridge.Lua) -> None:
    with legacy.use(lua):
        module = LuaModule(legacy.nn.Sequential().add(legacy.nn.Linear(4, 3))).double()
        outputs = [module(torch.from_numpy(x)).detach().numpy() for x in INPUTS]
        with torch.no_grad():
            outputs += [module(torch.from_numpy(x)).numpy() for x in INPUTS]
        assert apart(outputs)


def test_a_copying_state_trains_as_any_other(copying: bridge.Lua) -> None:
    with legacy.use(copying):
        net = legacy.nn.Sequential().add(legacy.nn.Linear(4, 3))
        module = LuaModule(net).float()
        before = net.get(0).weight.copy()
        optimiser = torch.optim.SGD(module.parameters(), lr=0.1)
        module(torch.ones(2, 4)).sum().backward()
        optimiser.step()
        assert (net.get(0).weight != before).all()
        assert torch.equal(module.get_parameter("0.weight"), torch.from_numpy(net.get(0).weight))
