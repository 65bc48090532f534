"""Lua values with contents, as Python uses them: the rule of a dict, with Lua's own keys."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

import bridge


@pytest.fixture
def made(lua: bridge.Lua) -> dict[str, Any]:
    lua.execute("require 'nn' tds = require 'tds' sequence, fields = {10, 20}, {a = 1, b = {2}}")
    return {
        "a table": lua.globals["fields"],
        "a sequence": lua.globals["sequence"],
        "a module": lua.eval("nn.Sequential():add(nn.Linear(2, 3)):add(nn.Tanh())"),
        "a hash": lua.eval("tds.Hash({a = 1, b = 2})"),
        "a vector": lua.eval("tds.Vec(5, 6)"),
    }


CONTENTS = {
    "a table": ({"a", "b"}, "a", "x"),
    "a sequence": ({1, 2}, 2, 0),
    "a module": ({"modules", "output", "gradInput", "_type"}, "modules", 0),
    "a hash": ({"a", "b"}, "b", "x"),
    "a vector": ({1, 2}, 1, 3),
}


@pytest.mark.parametrize("kind", CONTENTS)
def test_going_through_it_gives_its_keys_once(made: dict[str, Any], kind: str) -> None:
    keys, _, _ = CONTENTS[kind]
    value = made[kind]
    assert set(value) == set(value.keys()) >= keys
    assert len(list(value)) == len(set(value))
    assert kind == "a module" or set(value) == keys


@pytest.mark.parametrize("kind", CONTENTS)
def test_a_key_that_is_there_is_in_it(made: dict[str, Any], kind: str) -> None:
    _, there, missing = CONTENTS[kind]
    assert there in made[kind]
    assert missing not in made[kind]


@pytest.mark.parametrize("kind", CONTENTS)
def test_a_missing_key_is_a_key_error(made: dict[str, Any], kind: str) -> None:
    _, there, missing = CONTENTS[kind]
    assert made[kind][there] is not None
    with pytest.raises(KeyError, match=str(missing)):
        made[kind][missing]


@pytest.mark.parametrize("kind", CONTENTS)
def test_a_key_is_deleted_as_in_a_dict(made: dict[str, Any], kind: str) -> None:
    _, there, missing = CONTENTS[kind]
    del made[kind][there]
    assert there not in made[kind]
    with pytest.raises(KeyError, match=str(missing)):
        del made[kind][missing]


def test_a_key_that_the_object_refuses_is_its_error(made: dict[str, Any]) -> None:
    with pytest.raises(bridge.LuaError, match="positive number expected as key"):
        made["a vector"][0]


@pytest.mark.parametrize("kind", CONTENTS)
def test_len_is_luas(lua: bridge.Lua, made: dict[str, Any], kind: str) -> None:
    assert len(made[kind]) == lua.eval("#(...)", made[kind])


@pytest.mark.parametrize("convert", [np.array, np.asarray, np.atleast_1d])
@pytest.mark.parametrize("kind", CONTENTS)
def test_numpy_is_told_that_it_is_no_array(made: dict[str, Any], kind: str, convert: Any) -> None:
    with pytest.raises(TypeError, match="stays in Lua and is no array"):
        convert(made[kind])


@pytest.mark.parametrize("kind", CONTENTS)
def test_torch_makes_no_tensor_of_it(made: dict[str, Any], kind: str) -> None:
    with pytest.raises((RuntimeError, TypeError, ValueError)):
        torch.as_tensor(made[kind])


def test_the_way_out_is_named(made: dict[str, Any]) -> None:
    with pytest.raises(TypeError, match=r"stays in Lua and is no array; pass its value\(\)"):
        np.asarray(made["a sequence"])
    with pytest.raises(TypeError, match="pass what a field or a method of it gives"):
        np.asarray(made["a module"])


def test_an_array_is_not_equal_to_it(made: dict[str, Any]) -> None:
    assert (np.ones(3) == made["a module"]) is False
    assert made["a module"] != np.ones(3)


@pytest.mark.parametrize("expression", ["newproxy(true)", "coroutine.create(print)", "torch.Timer()"])
def test_what_has_no_contents_says_so(lua: bridge.Lua, expression: str) -> None:
    value = lua.eval(expression)
    with pytest.raises(bridge.LuaError, match="has no contents to go through"):
        iter(value)


def test_a_member_of_a_list_is_found_by_identity(lua: bridge.Lua, made: dict[str, Any]) -> None:
    values = [made["a module"], made["a table"], 3]
    assert made["a table"] in values
    assert lua.eval("{}") not in values


def test_an_object_that_is_a_global_has_methods_without_self(lua: bridge.Lua) -> None:
    lua.execute("require 'nn' net = nn.Linear(2, 3)")
    assert isinstance(lua.net, bridge.LuaObject)
    assert lua.net.forward(np.ones((1, 2))).shape == (1, 3)
    assert isinstance(lua.globals["net"], bridge.LuaObject)
