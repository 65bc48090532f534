"""histc and bhistc against numpy's histogram."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

import bridge

VALUES = np.random.default_rng(6).normal(size=(7, 50))


@pytest.fixture(scope="module")
def lua() -> Iterator[bridge.Lua]:
    with bridge.Lua() as state:
        state.require("torch")
        yield state


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(("arguments", "bins"), [("", 100), (", 10", 10), (", 7, -1, 1", 7), (", 1", 1)])
def test_histogram_of_everything_and_of_rows(lua: bridge.Lua, dtype: type, arguments: str, bins: int) -> None:
    values = VALUES.astype(dtype)
    limits = (-1.0, 1.0) if "1, 1" in arguments else (float(values.min()), float(values.max()))
    lua.x = np.asfortranarray(values)
    counts = np.histogram(values.astype(np.float64), bins, limits)[0]
    for call in (f"torch.histc(x{arguments})", f"x:histc({arguments[2:]})"):
        found = lua.eval(call)
        assert found.dtype == dtype
        np.testing.assert_array_equal(found, counts)
    rows = [np.histogram(row.astype(np.float64), bins, limits)[0] for row in values]
    np.testing.assert_array_equal(lua.eval(f"torch.bhistc(x{arguments})"), rows)


def test_elements_that_are_all_the_same(lua: bridge.Lua) -> None:
    assert lua.eval("torch.histc(torch.Tensor(4):fill(3), 4):totable()") == [0, 0, 4, 0]


def test_nan_and_infinity_are_not_counted_between_limits(lua: bridge.Lua) -> None:
    assert lua.eval("torch.histc(torch.Tensor{0/0, 1, 1/0}, 2, 0, 2):totable()") == [0, 1]
    assert lua.eval("torch.histc(torch.Tensor{1, 1/0, -1/0}, 3):sum()") <= 3


def test_a_given_result(lua: bridge.Lua) -> None:
    lua.execute("r = torch.Tensor(3, 2):zero(); c = r:select(2, 1); torch.histc(c, torch.range(1, 10), 3)")
    assert lua.eval("r:totable()") == [[3, 0], [3, 0], [4, 0]]


def test_compiled_calls_count_as_the_first_one(lua: bridge.Lua) -> None:
    for _ in range(200):
        assert lua.eval("torch.histc(torch.range(1, 10), 3):totable()") == [3, 3, 4]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        ("histc(torch.Tensor())", "must have one dimension"),
        ("histc(torch.ones(2), 0)", "number of bins"),
        ("bhistc(torch.ones(2), 2)", "invalid dimension 2"),
        ("histc(torch.IntTensor(2))", r"does not implement the torch\.histc\(\) function"),
    ],
)
def test_what_is_refused(lua: bridge.Lua, call: str, message: str) -> None:
    with pytest.raises(bridge.LuaError, match=message):
        lua.execute(f"return torch.{call}")
