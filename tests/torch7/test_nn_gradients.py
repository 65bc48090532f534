"""nn: gradients against finite differences, and the same results in every way of using a module."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import bridge
from tests.torch7 import nn_gradient_rows, nn_image_gradient_rows
from tests.torch7.nn_gradient_rows import PAIR, PARTLY, V
from tests.torch7.nn_loss_gradient_rows import LOSSES

CHECKS = Path(__file__).with_name("gradients.lua")
GRADIENTS = nn_gradient_rows.MODULES + nn_image_gradient_rows.MODULES


@pytest.fixture(scope="module")
def nn() -> Iterator[bridge.Lua]:
    with bridge.Lua() as lua:
        lua.execute("checks = dofile(...)", str(CHECKS))
        yield lua


@pytest.mark.parametrize(("constructor", "source"), GRADIENTS)
def test_gradients_are_those_of_finite_differences(nn: bridge.Lua, constructor: str, source: str) -> None:
    assert nn.execute("return checks.gradients(...)", constructor, source, "all") < 1e-7


@pytest.mark.parametrize(("constructor", "source", "of"), PARTLY)
def test_what_has_a_gradient_has_that_of_finite_differences(
    nn: bridge.Lua, constructor: str, source: str, of: str
) -> None:
    assert nn.execute("return checks.gradients(...)", constructor, source, of) < 1e-7


@pytest.mark.parametrize("p", [2, 3])
def test_a_distance_has_a_gradient_that_is_a_millionth_off(nn: bridge.Lua, p: int) -> None:
    # as in Torch7, which adds 1e-6 to distances so that one of 0 has a gradient
    for source in (PAIR, f"{{{V},{V}}}"):
        assert nn.execute("return checks.gradients(...)", f"nn.PairwiseDistance({p})", source, "all") < 1e-5


# Each fractional pooling draws its own windows; nn.View asks for contiguous input, as in Torch7.
OTHER_WAYS = [
    (constructor, source, way)
    for way in ("float", "noncontiguous", "cleared", "cloned", "evaluated", "saved")
    for constructor, source in GRADIENTS
    if "Fractional" not in constructor and not (way == "noncontiguous" and constructor.startswith("nn.View"))
]


@pytest.mark.parametrize(("constructor", "source", "way"), OTHER_WAYS)
def test_results_are_the_same_in_other_ways(nn: bridge.Lua, constructor: str, source: str, way: str) -> None:
    assert nn.execute("return checks.otherwise(...)", constructor, source, way) < (
        1e-5 if way == "float" else 1e-13
    )


@pytest.mark.parametrize(("constructor", "source", "target"), LOSSES)
def test_gradients_of_losses_are_those_of_finite_differences(
    nn: bridge.Lua, constructor: str, source: str, target: str
) -> None:
    assert nn.execute("return checks.lossgradients(...)", constructor, source, target) < 1e-7


@pytest.mark.parametrize(("constructor", "source"), GRADIENTS)
def test_updating_at_once_is_updating_in_two_steps(nn: bridge.Lua, constructor: str, source: str) -> None:
    assert nn.execute("return checks.updated(...)", constructor, source) < 1e-13


@pytest.mark.parametrize("way", ["float", "noncontiguous"])
@pytest.mark.parametrize(("constructor", "source", "target"), LOSSES)
def test_losses_are_the_same_in_other_ways(
    nn: bridge.Lua, constructor: str, source: str, target: str, way: str
) -> None:
    tolerance = 1e-5 if way == "float" else 1e-13
    assert nn.execute("return checks.lossotherwise(...)", constructor, source, target, way) < tolerance
