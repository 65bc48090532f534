"""fmod is C's to the last bit, for any two numbers."""

from __future__ import annotations

import numpy as np
import pytest

import bridge
from tests.elements import FLOATS


def pairs(dtype: type[np.floating]) -> tuple[np.ndarray, np.ndarray]:
    """Dividends and divisors: alike, far apart, multiples and their neighbours, the ends of the range, no numbers."""
    generator = np.random.default_rng(5)
    limits = np.finfo(dtype)

    def numbers(low: float, high: float, count: int = 20_000) -> np.ndarray:
        drawn = generator.uniform(1, 2, count) * 2.0 ** generator.uniform(low, high, count)
        return np.asarray((drawn * generator.choice([-1, 1], count)).astype(dtype))

    divisors = [numbers(-3, 3), numbers(limits.minexp, limits.maxexp - 2), numbers(-1, 1), numbers(-20, 20)]
    dividends = [numbers(-3, 30), numbers(limits.minexp, limits.maxexp - 2)]
    multiples = (divisors[2] * generator.integers(0, 2**26, 20_000)).astype(dtype)
    dividends += [np.nextafter(multiples, generator.choice([-np.inf, 0, np.inf], 20_000).astype(dtype))]
    dividends += [numbers(5, 26)]
    special = np.array(
        [0.0, -0.0, np.inf, -np.inf, np.nan, limits.tiny, limits.max, limits.smallest_subnormal, 1, -3]
    )
    first, second = np.meshgrid(special.astype(dtype), special.astype(dtype))
    return np.concatenate([*dividends, first.ravel()]), np.concatenate([*divisors, second.ravel()])


def assert_same(found: np.ndarray, expected: np.ndarray) -> None:
    """Equal, zeros' signs too."""
    np.testing.assert_array_equal(found, expected)
    numbers = ~np.isnan(expected)
    np.testing.assert_array_equal(np.signbit(found[numbers]), np.signbit(expected[numbers]))


@pytest.mark.parametrize("name", FLOATS)
def test_rests_of_two_tensors(lua: bridge.Lua, name: str) -> None:
    a, b = pairs(FLOATS[name])
    lua.a, lua.b = a, b
    with np.errstate(invalid="ignore"):
        expected = np.fmod(a, b)
    for expression in (
        "torch.cfmod(a, b)",
        "a:clone():cfmod(b)",
        "a:view(-1, 2):t():clone():t():cfmod(b):clone():view(-1)",
    ):
        assert_same(lua.eval(expression), expected)


@pytest.mark.parametrize("divisor", [0.3, -0.3, 1e-30, 1e30, 3.0, 0.0, np.inf, np.nan])
@pytest.mark.parametrize("name", FLOATS)
def test_rests_of_a_number(lua: bridge.Lua, name: str, divisor: float) -> None:
    lua.a, lua.divisor = (a := pairs(FLOATS[name])[0]), divisor
    with np.errstate(invalid="ignore"):
        expected = np.fmod(a, FLOATS[name].type(divisor))
    for found in (lua.eval("torch.fmod(a, divisor)"), lua.eval("a:narrow(1, 1, 90):clone():fmod(divisor)")):
        assert_same(found, expected[: len(found)])
