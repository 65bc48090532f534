"""Sorting, choosing and extremes against numpy: every type, few and many elements, ties, layouts."""

from __future__ import annotations

import numpy as np
import pytest

import bridge
from tests.elements import NUMERIC

SIZES = [1, 2, 15, 17, 127, 128, 255, 256, 20000]  # around where one way of sorting gives way to another


def numbers(name: str, count: int, ties: bool) -> np.ndarray:
    """Numbers over a type's whole range, or of a handful of values."""
    generator, dtype = np.random.default_rng(count), NUMERIC[name]
    if np.issubdtype(dtype, np.integer):
        limits = np.iinfo(dtype)
        if ties:
            return np.asarray(generator.integers(0, 5, count).astype(dtype))
        return generator.integers(limits.min, limits.max, count, dtype=dtype, endpoint=True)
    if ties:
        return generator.choice(np.array([-1, -0.0, 0.0, 2, np.inf, -np.inf], dtype), count)
    return np.asarray(
        (generator.normal(size=count) * 10.0 ** generator.integers(-30, 30, count)).astype(dtype)
    )


def ranks(x: np.ndarray, descending: bool) -> np.ndarray:
    """Positions in stable order; subtracting from -1 turns any type's order around and wraps nowhere."""
    return np.argsort(~x if descending and x.dtype.kind in "iu" else -x if descending else x, kind="stable")


@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize("name", NUMERIC)
def test_sorting_is_stable(lua: bridge.Lua, name: str, ties: bool) -> None:
    for count in SIZES:
        lua.x = x = numbers(name, count, ties)
        for descending in (False, True):
            order = ranks(x, descending)
            values, places = lua.eval(f"torch.sort(x, 1, {str(descending).lower()})")
            np.testing.assert_array_equal(places - 1, order)
            np.testing.assert_array_equal(values, x[order])


@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize("name", NUMERIC)
def test_choosing_agrees_with_sorting(lua: bridge.Lua, name: str, ties: bool) -> None:
    for count in SIZES:
        lua.x = x = numbers(name, count, ties)
        for k in {1, -(-count // 3), count}:
            for descending in (False, True):
                places = lua.eval(f"(select(2, torch.topk(x, {k}, 1, {str(descending).lower()}, true)))")
                np.testing.assert_array_equal(places - 1, ranks(x, descending)[:k])
            assert lua.eval(f"(select(2, torch.kthvalue(x, {k})))[1]") - 1 == ranks(x, False)[k - 1]


@pytest.mark.parametrize("count", [200, 3000])
def test_what_cannot_be_ordered_is_sorted_without_loss(lua: bridge.Lua, count: int) -> None:
    lua.x = x = np.where(np.arange(count) % 7 == 3, np.nan, np.arange(count)[::-1] % 50)
    values, places = lua.eval("torch.sort(x)")
    np.testing.assert_array_equal(x[places - 1], values)
    np.testing.assert_array_equal(np.sort(places), np.arange(1, count + 1))


@pytest.mark.parametrize("name", NUMERIC)
@pytest.mark.parametrize("shape", [(3, 40), (40, 3), (70, 600)])
def test_extremes_along_each_dimension_and_of_each_layout(
    lua: bridge.Lua, name: str, shape: tuple[int, int]
) -> None:
    x = numbers(name, shape[0] * shape[1], ties=True).reshape(shape)
    for y in (x, x.T, x[:, ::2], x[::2]):
        lua.x = y
        for axis in (0, 1):
            for function, peer in (("max", np.argmax), ("min", np.argmin)):
                values, places = lua.eval(f"torch.{function}(x, {axis + 1})")
                expected = np.expand_dims(peer(y, axis), axis)
                np.testing.assert_array_equal(places - 1, expected)
                np.testing.assert_array_equal(values, np.take_along_axis(y, expected, axis))


def test_the_first_nan_of_a_line_is_its_extreme(lua: bridge.Lua) -> None:
    x = np.arange(12.0).reshape(4, 3)
    x[1, 0] = x[2, 0] = x[3, 2] = np.nan
    lua.x = x
    for function in ("max", "min"):
        values, places = lua.eval(f"torch.{function}(x, 1)")
        np.testing.assert_array_equal(np.isnan(values), [[True, False, True]])
        np.testing.assert_array_equal(places[:, ::2], [[2, 4]])


@pytest.mark.parametrize("name", ["Float", "Double"])
def test_extremes_of_long_lines_are_the_first_nan_or_the_first_of_equals(lua: bridge.Lua, name: str) -> None:
    x = np.zeros((4, 1001), NUMERIC[name])
    x[0, 700:] = np.nan
    x[1, 5], x[1, 6], x[1, 1000] = -0.0, 1, 1
    x[2], x[2, 1000] = -np.inf, -np.inf
    x[3, 1000] = np.nan
    lua.x = x
    values, places = lua.eval("torch.max(x, 2)")
    np.testing.assert_array_equal(places, [[701], [7], [1], [1001]])
    np.testing.assert_array_equal(values, np.take_along_axis(x, places - 1, 1))
    lua.x = -x
    np.testing.assert_array_equal(lua.eval("(select(2, torch.min(x, 2)))"), places)
