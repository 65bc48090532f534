"""Rotating, polar coordinates and warping by fields."""

from __future__ import annotations

import math

import numpy
import pytest
import torch

import bridge
from tests.torch7.image.pictures import KINDS, RANDOM, call, near, picture


@pytest.mark.parametrize("mode", ["simple", "bilinear"])
@pytest.mark.parametrize("turns", [0, 1, 2, 3])
def test_quarter_turns_against_the_clock(lua: bridge.Lua, mode: str, turns: int) -> None:
    x = picture(height=9, width=9)
    near(call(lua, "rotate", x, turns * math.pi / 2, mode), numpy.rot90(x, turns, (1, 2)))


def test_rotating_leaves_corners_blank_and_the_middle_alone(lua: bridge.Lua) -> None:
    x = numpy.ones((21, 21))
    made = call(lua, "rotate", x, math.pi / 4, "bilinear")
    assert made[0, 0] == made[-1, -1] == 0
    numpy.testing.assert_allclose(made[5:-5, 5:-5], 1)


def test_polar_rows_are_angles_and_columns_distances(lua: bridge.Lua) -> None:
    x = picture("Float", channels=1, height=16, width=16)
    made = call(lua, "polar", x)
    assert made.shape == (1, 16, 16)
    for row, column in [(0, 0), (3, 9), (7, 15), (13, 6)]:
        angle = 2 * math.pi * row / 16
        y = math.floor(8 * column / 16 * math.cos(angle) + 8 + 1e-9)
        column_there = math.floor(-8 * column / 16 * math.sin(angle) + 8 + 1e-9)
        assert made[0, row, column] == x[0, y, column_there]


def test_logpolar_columns_grow_exponentially(lua: bridge.Lua) -> None:
    distance = numpy.hypot(*(numpy.mgrid[0:64, 0:64] - 32.0))[None]
    made = call(lua, "logpolar", distance, "bilinear")
    expected = 32 ** (numpy.arange(64) / 64)
    assert numpy.abs(made[0, 5] - expected).max() < 0.5


@pytest.mark.parametrize("mode", ["simple", "bilinear", "bicubic", "lanczos"])
@pytest.mark.parametrize("kind", KINDS)
def test_warping_by_nothing_changes_nothing(lua: bridge.Lua, mode: str, kind: str) -> None:
    x = picture(kind)
    near(call(lua, "warp", x, numpy.zeros((2, 11, 14)), mode), x)


@pytest.mark.parametrize("mode", ["bilinear", "bicubic", "lanczos"])
def test_warping_between_pixels_of_a_slope(lua: bridge.Lua, mode: str) -> None:
    y, x = numpy.mgrid[0:16, 0:16].astype(float)
    field = numpy.stack([numpy.full((16, 16), 0.25), numpy.full((16, 16), -0.5)])
    made = call(lua, "warp", 2 * y + x, field, mode)
    inner = (slice(4, -4), slice(4, -4))
    numpy.testing.assert_allclose(made[inner], (2 * y + x)[inner], atol=0.04 if mode == "lanczos" else 1e-5)


def test_bilinear_warping_is_torchs_grid_sample(lua: bridge.Lua) -> None:
    x = picture()
    field = numpy.stack([RANDOM.uniform(-3, 13, (7, 8)), RANDOM.uniform(-3, 16, (7, 8))])
    grid = torch.from_numpy(numpy.stack([field[1] / 13 * 2 - 1, field[0] / 10 * 2 - 1], -1))
    expected = torch.nn.functional.grid_sample(
        torch.from_numpy(x)[None], grid[None], align_corners=True, padding_mode="border"
    )
    near(call(lua, "warp", x, field, "bilinear", False), expected[0].numpy())


def test_warping_pads_what_is_outside(lua: bridge.Lua) -> None:
    x = picture()
    field = numpy.full((2, 11, 14), 100.0)
    assert (call(lua, "warp", x, field, "simple", True, "pad", 0.5) == 0.5).all()
    assert (call(lua, "warp", x, field, "bicubic", True, "pad") == 0).all()
    near(call(lua, "warp", x, field), numpy.broadcast_to(x[:, -1:, -1:], x.shape))
    assert numpy.isfinite(call(lua, "warp", x, numpy.full((2, 4, 4), numpy.nan))).all()


def test_an_affine_transformation_goes_around_the_middle(lua: bridge.Lua) -> None:
    x = picture(height=9, width=9)
    turn = numpy.array([[0.0, 1.0], [-1.0, 0.0]])
    near(call(lua, "affinetransform", x, turn), numpy.rot90(x, 1, (1, 2)))
    moved = call(lua, "affinetransform", x, numpy.eye(2), "simple", numpy.array([2.0, 0.0]), "pad", 0)
    near(moved, numpy.concatenate([x[:, 2:], numpy.zeros((3, 2, 9))], 1))
