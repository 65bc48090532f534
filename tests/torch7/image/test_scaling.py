"""Scaling, cropping, translating and flipping pictures."""

from __future__ import annotations

from typing import Any

import numpy
import pytest
import torch

import bridge
from tests.torch7.image.pictures import KINDS, call, near, picture

# ---- scale


def enlarge_weights(n: int, m: int) -> numpy.ndarray:
    """Row i: how much each of n pixels is of pixel i of m, corners on corners."""
    weights = numpy.zeros((m, n))
    for i in range(m):
        place = i * (n - 1) / (m - 1)
        left = min(int(place), n - 2)
        weights[i, left], weights[i, left + 1] = 1 - (place - left), place - left
    return weights


def area_weights(n: int, m: int) -> numpy.ndarray:
    """Row i: how much of each of n pixels lies under pixel i of m."""
    edges = numpy.arange(m + 1) * n / m
    pixels = numpy.arange(n)
    cover = numpy.minimum(edges[1:, None], pixels + 1) - numpy.maximum(edges[:-1, None], pixels)
    return numpy.clip(cover, 0, None) * m / n


def weights(n: int, m: int) -> numpy.ndarray:
    return numpy.eye(n) if n == m else enlarge_weights(n, m) if m > n else area_weights(n, m)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("width", "height"), [(14, 11), (30, 25), (5, 4), (28, 6), (7, 33), (1, 1)])
def test_bilinear_scaling_interpolates_corner_to_corner_and_shrinks_by_area(
    lua: bridge.Lua, kind: str, width: int, height: int
) -> None:
    x = picture(kind)
    expected = weights(11, height) @ x.astype(float) @ weights(14, width).T
    made = call(lua, "scale", x, width, height)
    assert made.dtype == x.dtype
    near(made, expected)


def test_bilinear_enlarging_is_torch_with_corners_aligned(lua: bridge.Lua) -> None:
    x = picture()
    expected = torch.nn.functional.interpolate(
        torch.from_numpy(x)[None], size=(29, 40), mode="bilinear", align_corners=True
    )
    near(call(lua, "scale", x, 40, 29), expected[0].numpy())


@pytest.mark.parametrize("kind", KINDS)
def test_simple_scaling_takes_the_pixel_above_and_to_the_left(lua: bridge.Lua, kind: str) -> None:
    x = picture(kind)
    rows, columns = numpy.arange(24) * 11 // 24, numpy.arange(5) * 14 // 5
    numpy.testing.assert_array_equal(call(lua, "scale", x, 5, 24, "simple"), x[:, rows][:, :, columns])


def test_bicubic_scaling_keeps_corners_and_reproduces_a_parabola(lua: bridge.Lua) -> None:
    line = numpy.linspace(0, 1, 9) ** 2
    made = call(lua, "scale", numpy.tile(line, (4, 1)), 33, 4, "bicubic")
    expected = numpy.linspace(0, 1, 33) ** 2
    numpy.testing.assert_allclose(made[2, 4:-4], expected[4:-4], atol=1e-6)
    assert made[0, 0] == 0
    assert made[0, -1] == 1


@pytest.mark.parametrize(
    ("size", "width", "height"),
    [
        (28, 28, 22),
        ("28", 28, 22),
        ("9x6", 9, 6),
        ("^22", 28, 22),
        ("*2", 28, 22),
        ("*1/2", 7, 5),
        ("*0.5", 7, 5),
    ],
)
def test_a_size_is_a_number_or_a_text(lua: bridge.Lua, size: Any, width: int, height: int) -> None:
    assert call(lua, "scale", picture(), size).shape == (3, height, width)
    assert call(lua, "scale", picture()[0], size, "simple").shape == (height, width)


def test_scaling_fills_a_destination_even_a_strided_one(lua: bridge.Lua) -> None:
    x = picture()
    made = lua.execute(
        """local out = torch.zeros(3, 9, 6):transpose(2, 3)
           assert(image.scale(out, ...) == out)
           return out:contiguous()""",
        x,
    )
    near(made, call(lua, "scale", x, 9, 6))


# ---- crop, translate, flip


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("place", "x", "y"), [("c", 4, 3), ("tl", 0, 0), ("tr", 8, 0), ("bl", 0, 6), ("br", 8, 6)]
)
def test_crops_at_named_places(lua: bridge.Lua, kind: str, place: str, x: int, y: int) -> None:
    source = picture(kind)
    expected = source[:, y : y + 5, x : x + 6]
    numpy.testing.assert_array_equal(call(lua, "crop", source, place, 6, 5), expected)
    numpy.testing.assert_array_equal(call(lua, "crop", source, x, y, x + 6, y + 5), expected)
    numpy.testing.assert_array_equal(call(lua, "crop", source[0], place, 6, 5), expected[0])


def test_a_crop_is_scaled_into_a_destination_with_an_end(lua: bridge.Lua) -> None:
    x = picture()
    made = lua.execute(
        "local out = torch.Tensor(3, 4, 4); image.crop(out, (...), 1, 2, 9, 10); return out",
        x,
    )
    near(made, call(lua, "scale", numpy.ascontiguousarray(x[:, 2:10, 1:9]), 4, 4))


@pytest.mark.parametrize(("x", "y"), [(0, 0), (3, 2), (-3, 2), (4, -5), (20, 0)])
def test_translating_moves_zeros_in(lua: bridge.Lua, x: int, y: int) -> None:
    source = picture()
    padded = numpy.pad(source, ((0, 0), (20, 20), (20, 20)))
    expected = padded[:, 20 - y : 31 - y, 20 - x : 34 - x]
    numpy.testing.assert_array_equal(call(lua, "translate", source, x, y), expected)


@pytest.mark.parametrize("kind", KINDS)
def test_flips(lua: bridge.Lua, kind: str) -> None:
    x = picture(kind)
    numpy.testing.assert_array_equal(call(lua, "hflip", x), x[:, :, ::-1])
    numpy.testing.assert_array_equal(call(lua, "vflip", x), x[:, ::-1])
    numpy.testing.assert_array_equal(call(lua, "hflip", x[0]), x[0, :, ::-1])
    for dimension in (1, 2, 3):
        numpy.testing.assert_array_equal(call(lua, "flip", x, dimension), numpy.flip(x, dimension - 1))


def test_flipping_in_place(lua: bridge.Lua) -> None:
    x = picture()
    numpy.testing.assert_array_equal(
        lua.execute("local x = (...):clone(); return image.hflip(x, x)", x), x[:, :, ::-1]
    )
