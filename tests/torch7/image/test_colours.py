"""Colour spaces, ranges, grids, and drawing on pictures."""

from __future__ import annotations

import colorsys

import numpy
import pytest

import bridge
from tests.torch7.image.pictures import KINDS, RANDOM, call, near, picture

# ---- colours


@pytest.mark.parametrize("space", ["hsl", "hsv"])
@pytest.mark.parametrize("kind", ["Float", "Double"])
def test_hues_are_pythons(lua: bridge.Lua, space: str, kind: str) -> None:
    x = picture(kind)
    x[:, 0] = x[0, 0]  # greys
    made = call(lua, f"rgb2{space}", x)
    for y, column in numpy.ndindex(11, 14):
        pixel = [float(value) for value in x[:, y, column]]
        if space == "hsv":
            expected = colorsys.rgb_to_hsv(*pixel)
        else:
            hue, light, saturation = colorsys.rgb_to_hls(*pixel)
            expected = hue, saturation, light
        numpy.testing.assert_allclose(made[:, y, column], expected, atol=1e-5)


@pytest.mark.parametrize("space", ["hsl", "hsv", "lab", "yuv"])
def test_colour_spaces_go_there_and_back(lua: bridge.Lua, space: str) -> None:
    x = picture()
    back = call(lua, f"{space}2rgb", call(lua, f"rgb2{space}", x))
    numpy.testing.assert_allclose(back, x, atol=1e-3)


def test_lab_of_white_black_and_red(lua: bridge.Lua) -> None:
    x = numpy.array([[[1.0, 0, 1]], [[1.0, 0, 0]], [[1.0, 0, 0]]])
    expected = [[100, 0, 53.24], [0, 0, 80.09], [0, 0, 67.20]]
    numpy.testing.assert_allclose(call(lua, "rgb2lab", x)[:, 0], expected, atol=0.05)


@pytest.mark.parametrize("kind", KINDS)
def test_brightness(lua: bridge.Lua, kind: str) -> None:
    x = picture(kind)
    made = call(lua, "rgb2y", x)
    assert made.shape == (1, 11, 14)
    near(made, numpy.tensordot([0.299, 0.587, 0.114], x.astype(float), 1)[None])


def test_yuv_and_normalised_rgb(lua: bridge.Lua) -> None:
    x = picture()
    matrix = [[0.299, 0.587, 0.114], [-0.14713, -0.28886, 0.436], [0.615, -0.51499, -0.10001]]
    near(call(lua, "rgb2yuv", x), numpy.tensordot(matrix, x, 1))
    near(call(lua, "rgb2nrgb", x), x / (x.sum(0) + 1e-6))


def test_jet_goes_from_blue_to_red(lua: bridge.Lua) -> None:
    numpy.testing.assert_allclose(
        call(lua, "jetColormap", 4), [[0, 0.5, 1], [0.5, 1, 0.5], [1, 0.5, 0], [0.5, 0, 0]]
    )
    levels = numpy.array([[1, 2], [4, 3]], dtype=numpy.uint8)
    assert call(lua, "y2jet", levels)[0].tolist() == [[0, 128], [128, 255]]
    assert len({tuple(row) for row in call(lua, "colormap", 12).round(6).tolist()}) == 12


# ---- range and grid


def test_minmax_stretches_and_saturates(lua: bridge.Lua) -> None:
    x = numpy.array([-1.0, 0, 3])
    assert call(lua, "minmax", {"tensor": x}).tolist() == [0, 0.25, 1]
    assert call(lua, "minmax", {"tensor": x, "min": 0, "max": 2, "saturate": True}).tolist() == [0, 0, 1]
    assert call(lua, "minmax", {"tensor": x, "symm": True}).tolist() == [2 / 6, 0.5, 1]
    assert x.tolist() == [-1, 0, 3]


def test_a_grid_of_pictures(lua: bridge.Lua) -> None:
    x = RANDOM.uniform(size=(5, 3, 4, 6))
    made = call(lua, "toDisplayTensor", {"input": x, "padding": 2, "nrow": 3})
    assert made.shape == (3, 12, 24)
    scaled = (x - x.min()) / (x.max() - x.min())
    numpy.testing.assert_allclose(made[:, 1:5, 9:15], scaled[1])
    numpy.testing.assert_allclose(made[:, 7:11, 1:7], scaled[3])
    assert call(lua, "toDisplayTensor", {"input": list(x)}).shape == (3, 4, 30)
    assert call(lua, "toDisplayTensor", {"input": x[:, 0]}).shape == (4, 30)
    assert call(lua, "toDisplayTensor", {"input": x[0, 0]}).max() == 1


# ---- drawing


@pytest.mark.parametrize("kind", KINDS)
def test_a_rectangle_is_drawn_on_a_copy(lua: bridge.Lua, kind: str) -> None:
    x = numpy.zeros((3, 11, 14), KINDS[kind])
    made = call(lua, "drawRect", x, 3, 2, 8, 9, {"color": [0, 255, 0]})
    expected = numpy.zeros((11, 14))
    expected[1:9, 2:8] = 1
    expected[2:8, 3:7] = 0
    numpy.testing.assert_array_equal(made[1] > 0, expected > 0)
    assert made.max() == (255 if kind == "Byte" else 1)
    assert made[0].max() == made[2].max() == x.max() == 0


def test_text_is_drawn_in_cells_of_6_by_8(lua: bridge.Lua) -> None:
    x = numpy.zeros((3, 20, 20))
    made = call(lua, "drawText", x, "I\n-", 2, 1)
    assert made[0, 1:9, 2:8].sum() == 7 + 4
    assert made[0, 12, 2:8].tolist() == [1, 1, 1, 1, 1, 0]
    assert made[0].sum() == 16
    assert call(lua, "drawText", x, "xxxx" * 50, -3, -3, {"size": 2}).max() == 1
    assert call(lua, "drawText", x, " ", 1, 1, {"bg": [0, 0, 255]}).max() == 0
