"""Colour spaces, ranges and grids."""

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


@pytest.mark.parametrize("space", ["hsl", "hsv"])
def test_bytes_are_parts_of_255(lua: bridge.Lua, space: str) -> None:
    x = picture("Byte")
    x[:, 0] = x[0, 0]  # greys
    made = call(lua, f"rgb2{space}", x)
    assert made.dtype == numpy.uint8
    numpy.testing.assert_allclose(made, call(lua, f"rgb2{space}", x / 255) * 255, atol=0.5001)
    back = call(lua, f"{space}2rgb", made)
    assert back.dtype == numpy.uint8
    numpy.testing.assert_allclose(back, call(lua, f"{space}2rgb", made / 255) * 255, atol=0.5001)


@pytest.mark.parametrize(
    ("name", "pixel", "expected"),
    [
        ("rgb2hsl", (255, 0, 0), (0, 255, 128)),
        ("rgb2hsl", (7, 7, 7), (0, 0, 7)),
        ("rgb2hsv", (0, 0, 0), (0, 0, 0)),
        ("rgb2hsv", (0, 51, 255), (162, 255, 255)),
        ("hsl2rgb", (0, 255, 128), (255, 1, 1)),
        ("hsv2rgb", (255, 255, 200), (200, 0, 0)),
        ("rgb2y", (255, 255, 255), (255,)),
        ("rgb2y", (0, 0, 4), (0,)),
        ("rgb2y", (0, 0, 5), (1,)),
    ],
)
def test_a_pixel_of_bytes(
    lua: bridge.Lua, name: str, pixel: tuple[int, ...], expected: tuple[int, ...]
) -> None:
    made = call(lua, name, numpy.array(pixel, numpy.uint8).reshape(3, 1, 1))
    assert tuple(made.ravel().tolist()) == expected


def test_floats_are_computed_as_floats(lua: bridge.Lua) -> None:
    x = picture("Float")
    most, least = x.max(0), x.min(0)
    numpy.testing.assert_array_equal(call(lua, "rgb2hsl", x)[2], (most + least) / numpy.float32(2))
    numpy.testing.assert_array_equal(call(lua, "rgb2hsv", x)[1], (most - least) / most)


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
