"""Index marks: the one place where 0-based becomes 1-based."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

import bridge


@pytest.mark.parametrize("value", [3, np.int32(3), [0, 1], (0, [2]), range(2), {"a": 1}, None])
def test_a_marked_index_gains_one_and_comes_back(echo: Any, value: Any) -> None:
    result = echo(bridge.index(value), returns=bridge.index)
    assert result == (
        list(value) if isinstance(value, range) else [0, [2]] if isinstance(value, tuple) else value
    )


def test_lua_sees_one_more(lua: bridge.Lua) -> None:
    assert lua.eval("...", bridge.index(3)) == 4


@pytest.mark.parametrize("array", [np.array([0, 2, 1]), torch.tensor([0, 2, 1]), np.array([0.0, 2.0, 1.0])])
def test_an_index_array_is_shifted_in_a_copy(lua: bridge.Lua, array: Any) -> None:
    assert lua.eval("(...)[1], (...)[2]", bridge.index(array)) == (1, 3)
    assert array[0] == 0


def test_small_integer_types_do_not_wrap(lua: bridge.Lua) -> None:
    assert lua.eval("(...)[1]", bridge.index(np.array([255], dtype=np.uint8))) == 256


def test_results_are_shifted_back(lua: bridge.Lua) -> None:
    argmax = lua.eval("function(x) local _, i = x:max(1) return i end")
    assert argmax(np.array([1.0, 5.0, 2.0]), returns=bridge.index).tolist() == [1]


@pytest.mark.parametrize(
    "value", [True, "1", 1.5, np.array([True]), np.array(["a"]), torch.tensor([True]), object()]
)
def test_what_is_no_index_is_refused(echo: Any, value: Any) -> None:
    with pytest.raises(TypeError, match=r"index|indices"):
        echo(bridge.index(value))


def test_returns_takes_the_mark_alone(echo: Any) -> None:
    with pytest.raises(TypeError, match=r"returns= takes bridge\.index"):
        echo(1, returns=int)
