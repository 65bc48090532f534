"""torchx: places of values, tensors of a table in one, groups, functions over tables of tensors."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

import bridge


@pytest.fixture(scope="module")
def lua() -> Iterator[bridge.Lua]:
    with bridge.Lua() as state:
        state.require("torchx")
        yield state


@pytest.mark.parametrize("dtype", [np.uint8, np.int64, np.float32, np.float64])
def test_places_count_from_one_through_the_whole_tensor(lua: bridge.Lua, dtype: type) -> None:
    values = np.array([[4, 2, 4], [0, 4, 1]], dtype=dtype)
    find = lua.eval("torch.find")
    assert find(values, 4) == [1, 3, 5]
    assert find(values.T, 4) == [1, 4, 5]
    assert find(values, 7) == []
    assert find(values, 4, 2) == [[1, 3], [2]]


def test_a_dimension_that_is_not_the_second_of_a_matrix_is_refused(lua: bridge.Lua) -> None:
    with pytest.raises(bridge.LuaError, match="expected a matrix and dim = 2, got 1 dimensions and dim = 1"):
        lua.execute("torch.find(torch.ones(2), 1, 1)")


def test_tensors_stand_behind_each_other_in_the_first_dimension(lua: bridge.Lua) -> None:
    a, b = np.ones((2, 3)), np.zeros((1, 3))
    concat = lua.eval("torch.concat")
    assert np.array_equal(concat([a, b]), np.concatenate([a, b]))
    assert np.array_equal(concat([a, a], 2), np.concatenate([a, a], 1))
    out = lua.execute("local out, a, b = torch.Tensor(), ... out:concat({a, b}) return out", a, b)
    assert np.array_equal(out, np.concatenate([a, b]))


def test_groups_hold_equal_values_and_where_they_stood(lua: bridge.Lua) -> None:
    groups = lua.execute("return (torch.group(torch.Tensor{5, 3, 4, 5, 3, 5}))")
    assert {int(value): sorted(group["idx"].tolist()) for value, group in groups.items()} == {
        3: [2, 5],
        4: [3],
        5: [1, 4, 6],
    }
    assert all((group["val"] == value).all() for value, group in groups.items())


def test_a_group_can_be_a_range_and_the_greatest_can_come_first(lua: bridge.Lua) -> None:
    code = (
        "return torch.group(torch.Tensor{1, 9, 2, 8}, function(a, b) return math.abs(a - b) <= 1 end, true)"
    )
    groups, values, index = lua.execute(code)
    assert {int(value): group["val"].tolist() for value, group in groups.items()} == {9: [9, 8], 2: [2, 1]}
    assert values.tolist() == [9, 8, 2, 1]
    assert index.tolist() == [2, 4, 3, 1]


def test_what_one_side_lacks_is_made_while_remapping(lua: bridge.Lua) -> None:
    code = """
       local a = {torch.ones(2), {torch.ones(1, 3)}}
       local _, b = torch.remap(a, nil, function(x, y) y:resize(x:size()):copy(x):mul(2) end, nil, torch.FloatTensor())
       return b
    """
    first, (second,) = lua.execute(code)
    assert first.dtype == second.dtype == np.float32
    assert first.tolist() == [2, 2]
    assert second.tolist() == [[2, 2, 2]]


def test_a_queue_gives_what_came_first_and_says_when_it_is_empty(lua: bridge.Lua) -> None:
    lua.execute("q = torchx.Queue() q:put(1) q:put('b')")
    assert (lua.eval("q:get()"), lua.eval("q:get()"), lua.eval("q:empty()")) == (1, "b", True)
    with pytest.raises(bridge.LuaError, match="nothing is left"):
        lua.execute("q:get()")
