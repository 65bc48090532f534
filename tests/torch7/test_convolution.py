"""conv2, xcorr2, conv3 and xcorr3 against sums written out with numpy."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import numpy as np
import pytest

import bridge
from tests.elements import NUMERIC

RNG = np.random.default_rng(5)
# planes of the input, of the kernel; how they go together is in the number of dimensions
SHAPES = {
    "one plane": ((), ()),
    "plane by plane": ((3,), (3,)),
    "sums over planes": ((3,), (4, 3)),
}
SIZES = {2: ((5, 6), (3, 2)), 3: ((4, 5, 6), (2, 3, 2))}


@pytest.fixture(scope="module")
def lua() -> Iterator[bridge.Lua]:
    with bridge.Lua() as state:
        state.require("torch")
        yield state


def correlate(a: np.ndarray, k: np.ndarray, *, full: bool) -> np.ndarray:
    """Cross-correlate one plane or volume, in int64 or float64."""
    if full:
        a = np.pad(a, [(n - 1, n - 1) for n in k.shape])
    result = np.zeros([n - m + 1 for n, m in zip(a.shape, k.shape, strict=True)], a.dtype)
    for at in product(*map(range, k.shape)):
        window = tuple(slice(i, i + n) for i, n in zip(at, result.shape, strict=True))
        result += a[window] * k[at]
    return result


def expected(a: np.ndarray, k: np.ndarray, rank: int, *, full: bool, flip: bool) -> np.ndarray:
    if flip:
        k = np.flip(k, tuple(range(-rank, 0)))
    if a.ndim == rank:
        return correlate(a, k, full=full)
    if k.ndim == rank + 1:
        return np.stack([correlate(x, y, full=full) for x, y in zip(a, k, strict=True)])
    return np.stack([sum(correlate(x, y, full=full) for x, y in zip(a, row, strict=True)) for row in k])


def operands(name: str, rank: int, together: str) -> tuple[np.ndarray, np.ndarray]:
    planes, kernels = SHAPES[together]
    size, window = SIZES[rank]
    if name in ("Float", "Double"):
        return RNG.normal(size=planes + size), RNG.normal(size=kernels + window)
    low, high = (0, 200) if name == "Byte" else (-100, 100)
    return RNG.integers(low, high, planes + size), RNG.integers(low, high, kernels + window)


@pytest.mark.parametrize("mode", ["V", "F"])
@pytest.mark.parametrize("together", SHAPES)
@pytest.mark.parametrize("function", ["conv2", "xcorr2", "conv3", "xcorr3"])
@pytest.mark.parametrize("name", NUMERIC)
def test_agrees_with_sums_written_out(
    lua: bridge.Lua, name: str, function: str, together: str, mode: str
) -> None:
    rank = int(function[-1])
    a, k = operands(name, rank, together)
    lua.a, lua.k = np.asfortranarray(a.astype(NUMERIC[name])), k.astype(NUMERIC[name])
    found = lua.eval(f"torch.{function}(a, k, '{mode}')")
    wanted = expected(a, k, rank, full=mode == "F", flip=function.startswith("conv"))
    assert found.dtype == NUMERIC[name]
    if name in ("Float", "Double"):
        np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-5)
    else:
        np.testing.assert_array_equal(found, wanted.astype(NUMERIC[name]))
    np.testing.assert_array_equal(lua.eval(f"a:{function}(k, '{mode}')"), found)


def test_the_mode_is_valid_unless_it_is_named(lua: bridge.Lua) -> None:
    assert lua.eval("torch.conv2(torch.ones(3, 4), torch.ones(2, 2)):totable()") == [[4, 4, 4], [4, 4, 4]]


def test_a_result_is_resized_and_filled_in_the_order_of_its_memory(lua: bridge.Lua) -> None:
    lua.execute("a, k = torch.range(1, 12):resize(3, 4), torch.ones(2, 2); r = torch.Tensor(7)")
    assert lua.eval("torch.conv2(r, a, k) == r and r:totable()") == [[14, 18, 22], [30, 34, 38]]
    lua.execute("r = torch.Tensor(3, 2):t(); torch.conv2(r, a, k)")
    assert lua.eval("r:stride():totable()") == [1, 2]
    assert lua.eval("r:t():totable()") == [[14, 18], [22, 30], [34, 38]]
    lua.execute("torch.conv2(a, a, k)")
    assert lua.eval("a:totable()") == [[14, 18, 22], [30, 34, 38]]


def test_many_planes_on_several_threads(lua: bridge.Lua) -> None:
    a, k = RNG.normal(size=(8, 40, 40)), RNG.normal(size=(16, 8, 5, 5))
    lua.a, lua.k = a, k
    wanted = expected(a, k, 2, full=False, flip=False)
    np.testing.assert_allclose(lua.eval("torch.xcorr2(a, k)"), wanted, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        ("conv2(T(2, 3), T(3, 2))", "conv2Dmul : Input image is smaller than kernel"),
        ("xcorr3(T(1, 2, 3, 4), T(1, 3, 1, 1))", "conv3Dcmul : Input image is smaller than kernel"),
        ("conv2(T(2, 3, 3), T(3, 2, 2))", "invalid number of input/kernel planes"),
        ("conv2(T(2, 3, 3), T(2, 3, 2, 2))", "invalid number of input planes"),
        ("conv2(T(3), T(2))", r"DoubleTensor~2D DoubleTensor~2D \[\(V\|F\)\]"),
        ("conv2(T(3, 3), T(2, 2), 'S')", "invalid arguments: DoubleTensor DoubleTensor string"),
        ("conv2(torch.HalfTensor(3, 3), torch.HalfTensor(2, 2))", "HalfTensor does not implement"),
    ],
)
def test_what_is_refused(lua: bridge.Lua, call: str, message: str) -> None:
    with pytest.raises(bridge.LuaError, match=message):
        lua.execute(f"local T = torch.Tensor; return torch.{call}")
