"""Views: what they show, that they share memory, and what they refuse."""

from __future__ import annotations

import numpy as np
import pytest

import bridge

BASE = np.arange(24, dtype=np.float64).reshape(2, 3, 4)


@pytest.fixture
def cube(lua: bridge.Lua) -> bridge.Lua:
    lua.x = BASE.copy()
    return lua


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("x:narrow(2, 2, 2)", BASE[:, 1:3]),
        ("x:select(3, 2)", BASE[:, :, 1]),
        ("x:select(1, 2)", BASE[-1]),
        ("x:sub(1, 1, 2, -1)", BASE[0:1, 1:]),
        ("x:transpose(1, 3)", BASE.transpose(2, 1, 0)),
        ("x:permute(3, 1, 2)", BASE.transpose(2, 0, 1)),
        ("x[2]", BASE[1]),
        ("x[{{}, 2}]", BASE[:, 1]),
        ("x[{2, {1, 2}, {-1}}]", BASE[1, 0:2, 3:4]),
        ("x:view(6, -1)", BASE.reshape(6, 4)),
        ("x[1]:t()", BASE[0].T),
        ("x:narrow(2, 1, 1):squeeze()", BASE[:, 0]),
        ("x:unsqueeze(2)", BASE[:, None]),
        ("x:narrow(1, 1, 1):expand(5, 3, 4)", np.broadcast_to(BASE[0:1], (5, 3, 4))),
        ("x:unfold(3, 2, 2)", np.lib.stride_tricks.sliding_window_view(BASE, 2, axis=2)[:, :, ::2]),
    ],
)
def test_a_view_shows_the_elements_of_numpys(cube: bridge.Lua, expression: str, expected: np.ndarray) -> None:
    np.testing.assert_array_equal(cube.eval(expression), expected)


@pytest.mark.parametrize(
    "expression", ["x:narrow(2, 2, 1)", "x[1]", "x:transpose(1, 2)", "x:view(24)", "x[{{}, {2}}]"]
)
def test_a_view_shares_memory(cube: bridge.Lua, expression: str) -> None:
    cube.execute(f"{expression}:fill(-1)")
    assert cube.eval("x:min()") == -1


def test_a_view_sees_its_grown_storage(lua: bridge.Lua) -> None:
    lua.execute("x = torch.range(1, 4); y = x:narrow(1, 1, 2); x:resize(100000):fill(5)")
    assert lua.eval("y:totable()") == [5, 5]


def test_resize_keeps_the_storage_that_fits(lua: bridge.Lua) -> None:
    lua.execute("x = torch.range(1, 6); s = x:storage(); x:resize(2); x:resize(3, 2)")
    assert lua.eval("x:storage() == s and x:totable()") == [[1, 2], [3, 4], [5, 6]]
    assert lua.eval("x:resize(0):dim()") == 0
    assert lua.eval("x:storage():size()") == 6


def test_set_shows_a_part_of_a_storage(lua: bridge.Lua) -> None:
    lua.execute("s = torch.DoubleStorage{1, 2, 3, 4, 5, 6}")
    assert lua.eval("torch.Tensor():set(s, 2, 2, 3, 2, 1):totable()") == [[2, 3], [5, 6]]
    assert lua.eval("torch.Tensor(s, 3, torch.LongStorage{2}):totable()") == [3, 4]
    assert lua.eval("torch.Tensor(2, 3):set(torch.ones(2)):totable()") == [1, 1]


@pytest.mark.slow
@pytest.mark.parametrize(
    "call",
    [
        "x:narrow(4, 1, 1)",
        "x:narrow(1, 3, 1)",
        "x:narrow(1, 1, 0)",
        "x:narrow(1, 1, 2^60)",
        "x:select(1, 3)",
        "x:select(0, 1)",
        "x:transpose(1, 4)",
        "x:permute(1, 1, 2)",
        "x:permute(1, 2)",
        "x:unfold(1, 3, 1)",
        "x:unfold(1, 1, 0)",
        "x:expand(2, 3)",
        "x:expand(4, 3, 4)",
        "x:view(5, 5)",
        "x:transpose(1, 2):view(24)",
        "x:t()",
        "x[{1, 1, 1, 1}]",
        "x[{{3}}]",
        "x[{{2, 1}}]",
        "x:sub(1, 3)",
        "torch.Tensor():set(torch.DoubleStorage(2), 0, 2)",
    ],
)
def test_a_view_that_does_not_exist_raises(cube: bridge.Lua, call: str) -> None:
    with pytest.raises(bridge.LuaError):
        cube.execute(f"return {call}")
    np.testing.assert_array_equal(cube.eval("x"), BASE)
