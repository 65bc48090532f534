"""Reductions against numpy: every operation, type and layout, short lines and long ones."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import bridge
from tests.elements import NUMERIC

TYPES = {name: NUMERIC[name] for name in ("Byte", "Short", "Long", "Float", "Double")}
SHAPES = [(3, 4), (700, 5), (5, 700), (300, 300), (20000, 4), (4, 20000), (6, 70, 8)]
LAYOUTS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "plain": lambda x: x,
    "transposed": lambda x: x.T,
    "every second": lambda x: x[..., ::2],
    "rows left out": lambda x: x[::2],
}
Along = Callable[..., np.ndarray]  # of an array and an axis
ALL_TYPES: dict[str, Along] = {
    "sum": lambda x, d: np.sum(x, d, dtype=np.float64 if x.dtype.kind == "f" else np.int64),
    "max": np.max,
    "min": np.min,
}
FLOATS_ALONE: dict[str, Along] = {
    "mean": lambda x, d: np.mean(x, d, dtype=np.float64),
    "std": lambda x, d: np.std(x, d, ddof=1, dtype=np.float64),
    "var": lambda x, d: np.var(x, d, ddof=1, dtype=np.float64),
}


def tensor(name: str, shape: tuple[int, ...]) -> np.ndarray:
    """Numbers between 1 and 100, exact in every type."""
    return np.random.default_rng(len(shape)).integers(1, 100, shape).astype(TYPES[name])


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("name", TYPES)
def test_along_a_dimension_and_of_all(lua: bridge.Lua, name: str, layout: str) -> None:
    floats = name in ("Float", "Double")
    for shape in SHAPES:
        lua.x = x = LAYOUTS[layout](tensor(name, shape))
        for function, peer in {**ALL_TYPES, **(FLOATS_ALONE if floats else {})}.items():
            np.testing.assert_allclose(lua.eval(f"torch.{function}(x)"), peer(x, None), rtol=1e-12)
            for axis in range(x.ndim):
                found = lua.eval(f"(torch.{function}(x, {axis + 1}))")
                expected = np.expand_dims(peer(x, axis), axis)
                if floats:
                    np.testing.assert_allclose(found, expected, rtol=1e-6 if name == "Float" else 1e-12)
                else:
                    np.testing.assert_array_equal(found, expected.astype(x.dtype))


@pytest.mark.parametrize("power", [0, 1, 2, 3])
@pytest.mark.parametrize("name", ["Float", "Double"])
def test_norms(lua: bridge.Lua, name: str, power: int) -> None:
    for shape in SHAPES:
        lua.x = x = LAYOUTS["transposed"](tensor(name, shape) - 50)
        powers = np.abs(x.astype(np.float64)) ** power if power else (x != 0).astype(np.float64)
        root = 1 / power if power else 1
        np.testing.assert_allclose(lua.eval(f"x:norm({power})"), powers.sum() ** root, rtol=1e-12)
        for axis in range(x.ndim):
            expected = powers.sum(axis, keepdims=True) ** root
            np.testing.assert_allclose(lua.eval(f"x:norm({power}, {axis + 1})"), expected, rtol=1e-6)


@pytest.mark.parametrize("name", TYPES)
def test_products(lua: bridge.Lua, name: str) -> None:
    for shape in ((100, 3), (3, 100), (70000, 2)):
        x = np.ones(shape, TYPES[name])
        x[::17, 1] = 3
        lua.x = x
        for axis in (0, 1):
            with np.errstate(over="ignore"):
                expected = np.prod(
                    x, axis, keepdims=True, dtype=np.float64 if x.dtype.kind == "f" else np.int64
                )
                np.testing.assert_allclose(
                    lua.eval(f"x:prod({axis + 1})"), expected.astype(x.dtype), rtol=1e-6
                )


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("name", TYPES)
def test_two_tensors(lua: bridge.Lua, name: str, layout: str) -> None:
    for shape in SHAPES:
        a, b = LAYOUTS[layout](tensor(name, shape)), LAYOUTS[layout](tensor(name, shape)[::-1])
        lua.a, lua.b = a, b
        if name in ("Float", "Double"):
            # the product's sums are of the type itself
            np.testing.assert_allclose(
                lua.eval("a:dot(b)"), np.vdot(a.astype(float), b.astype(float)), rtol=1e-5
            )
            for p in (1, 2, 3):
                distance = (np.abs(a.astype(float) - b) ** p).sum() ** (1 / p)
                np.testing.assert_allclose(lua.eval(f"a:dist(b, {p})"), distance, rtol=1e-12)
        assert lua.eval("a:equal(a:clone())") is True
        lua.execute("c = a:clone() c:view(c:nElement())[c:nElement()] = 0")
        assert lua.eval("a:equal(c)") is False


@pytest.mark.parametrize("shape", [(70000,), (300, 300), (200000, 2)])
def test_a_sum_has_the_same_bits_with_any_number_of_threads(lua: bridge.Lua, shape: tuple[int, ...]) -> None:
    lua.x = np.random.default_rng(5).random(shape)
    sums = []
    for threads in (1, 2, 3):
        lua.execute(f"torch.setnumthreads({threads})")
        sums.append([lua.eval("x:sum()"), lua.eval("x:sum(1)").tobytes(), lua.eval("x:norm()")])
    assert sums[0] == sums[1] == sums[2]


def test_copies_within_one_memory_are_made_in_order(lua: bridge.Lua) -> None:
    lua.execute("x = torch.range(1, 200000) x:narrow(1, 1, 199999):copy(x:narrow(1, 2, 199999))")
    np.testing.assert_array_equal(lua.eval("x"), np.r_[2:200001, 200000])
    lua.execute("x = torch.range(1, 200000) x:narrow(1, 2, 199999):copy(x:narrow(1, 1, 199999))")
    np.testing.assert_array_equal(lua.eval("x"), np.r_[1, 1:200000])


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("name", TYPES)
def test_running_sums(lua: bridge.Lua, name: str, layout: str) -> None:
    for shape in [*SHAPES, (30, 5000)]:
        lua.x = x = LAYOUTS[layout](tensor(name, shape))
        for axis in range(x.ndim):
            sums = x.cumsum(axis, dtype=x.dtype if x.dtype.kind != "f" else np.float64).astype(x.dtype)
            np.testing.assert_array_equal(lua.eval(f"torch.cumsum(x, {axis + 1})"), sums)
            np.testing.assert_array_equal(
                lua.eval(f"(function(y) return torch.cumsum(y, y, {axis + 1}) end)(x:clone())"), sums
            )


@pytest.mark.parametrize("name", TYPES)
def test_running_products(lua: bridge.Lua, name: str) -> None:
    lua.x = x = np.array([[1, 2, 1], [3, 1, 2], [2, 2, 5]], TYPES[name])
    for axis in (0, 1):
        np.testing.assert_array_equal(lua.eval(f"torch.cumprod(x, {axis + 1})"), x.cumprod(axis))
