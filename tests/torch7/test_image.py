"""The image package, against Pillow and against the rules of its sampling written down with numpy."""

from __future__ import annotations

import colorsys
import io
import math
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy
import pytest
import torch
from PIL import Image

import bridge

KINDS = {"Float": numpy.float32, "Double": numpy.float64, "Byte": numpy.uint8}
RANDOM = numpy.random.default_rng(3)


@pytest.fixture(scope="module")
def lua() -> Iterator[bridge.Lua]:
    with bridge.Lua() as state:
        state.execute("image = require 'image'")
        yield state


def call(lua: bridge.Lua, name: str, *arguments: Any) -> Any:
    return lua.execute(f"return image.{name}(...)", *arguments)


def picture(kind: str = "Double", *, channels: int = 3, height: int = 11, width: int = 14) -> Any:
    values = RANDOM.integers(0, 256, (channels, height, width))
    return (values if kind == "Byte" else values / 255).astype(KINDS[kind])


def near(made: Any, expected: Any) -> None:
    """Bytes may differ by one grey level, which is what rounding twice gives."""
    assert made.shape == expected.shape
    wide = 1 if made.dtype == numpy.uint8 else 1e-5
    numpy.testing.assert_allclose(made.astype(float), expected.astype(float), atol=wide, rtol=0)


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


# ---- rotate, polar, warp


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


# ---- kernels and filters


def test_gaussians(lua: bridge.Lua) -> None:
    i, j = numpy.mgrid[0:4, 0:6] + 1
    expected = numpy.exp(-(((j - 3.5) / (0.25 * 6)) ** 2 + ((i - 2.5) / (0.25 * 4)) ** 2) / 2)
    numpy.testing.assert_allclose(call(lua, "gaussian", {"width": 6, "height": 4}), expected)
    assert call(lua, "gaussian", {"size": 5, "normalize": True}).sum() == pytest.approx(1)
    numpy.testing.assert_allclose(
        call(lua, "gaussian1D", 5, 0.3), numpy.exp(-(((numpy.arange(5) - 2) / 1.5) ** 2) / 2)
    )
    assert call(lua, "gaussian").shape == (3, 3)
    assert call(lua, "laplacian", 9)[4, 4] == 1


@pytest.mark.parametrize(("mode", "pad"), [("valid", 0), ("full", 2), ("same", 1)])
def test_convolving_every_channel(lua: bridge.Lua, mode: str, pad: int) -> None:
    x, kernel = picture(), RANDOM.uniform(size=(3, 3))
    flipped = torch.from_numpy(kernel[::-1, ::-1].copy())[None, None]
    expected = torch.nn.functional.conv2d(torch.from_numpy(x)[:, None], flipped, padding=pad)[:, 0]
    near(call(lua, "convolve", x, kernel, mode), expected.numpy())
    near(call(lua, "convolve", x[0], kernel, mode), expected[0].numpy())


def test_local_contrast_is_evened_out(lua: bridge.Lua) -> None:
    made = call(lua, "lcn", picture(channels=1, height=30, width=40))
    assert made.shape == (22, 32)
    assert abs(made.mean()) < 0.2
    with pytest.raises(bridge.LuaError, match="grayscale image expected"):
        call(lua, "lcn", picture())


def test_a_pyramid_starts_with_the_picture(lua: bridge.Lua) -> None:
    x = picture(channels=1, height=16, width=16)
    first, second = call(lua, "gaussianpyramid", x[0], [1, 0.5])
    numpy.testing.assert_array_equal(first, x[0])
    assert second.shape == (8, 8)


def test_erosion_and_dilation(lua: bridge.Lua) -> None:
    x = numpy.zeros((7, 7))
    x[2:5, 2:5] = 1
    grown = call(lua, "dilate", x)
    assert grown.sum() == 25
    numpy.testing.assert_array_equal(call(lua, "erode", grown), x)
    left = numpy.array([[1.0, 1.0, 0.0]])
    assert call(lua, "dilate", x, left).sum(0).tolist() == [0, 0, 3, 3, 3, 3, 0]


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


# ---- files


@pytest.mark.parametrize("suffix", ["png", "PNG", "ppm", "jpg", "jpeg"])
@pytest.mark.parametrize("kind", KINDS)
def test_pillow_reads_what_is_saved(lua: bridge.Lua, tmp_path: Path, suffix: str, kind: str) -> None:
    path = tmp_path / f"picture.{suffix}"
    x = numpy.tile(numpy.linspace(0, 255, 32).astype(numpy.uint8), (3, 24, 1))
    given = x if kind == "Byte" else (x / 255).astype(KINDS[kind])
    call(lua, "save", str(path), given)
    with Image.open(path) as opened:
        stored = numpy.array(opened).transpose(2, 0, 1)
    assert numpy.abs(stored.astype(int) - x).max() <= (6 if suffix.startswith("j") else 0)
    numpy.testing.assert_array_equal(call(lua, "load", str(path), 3, "byte"), stored)
    numpy.testing.assert_allclose(call(lua, "load", str(path), 3, "float"), stored / 255, atol=1e-6)
    assert list(call(lua, "getSize", str(path))) == [3, 24, 32]


@pytest.mark.parametrize("mode", ["1", "L", "LA", "RGB", "RGBA", "P", "I;16"])
def test_every_kind_of_png(lua: bridge.Lua, tmp_path: Path, mode: str) -> None:
    path = str(tmp_path / "x.png")
    grey = Image.fromarray(picture("Byte", channels=1)[0])
    source = (
        Image.fromarray(numpy.arange(154, dtype=numpy.uint16).reshape(11, 14) * 400)
        if mode == "I;16"
        else grey.convert(mode)
    )
    source.save(path)
    channels = {"LA": 2, "RGB": 3, "RGBA": 4, "P": 3}.get(mode, 1)
    made = call(lua, "load", path)
    assert made.shape == (channels, 11, 14)
    assert made.dtype == numpy.float64
    if mode == "I;16":
        numpy.testing.assert_allclose(made[0].ravel(), numpy.arange(154) * 400 / 65535, atol=1e-9)
    elif mode == "L":
        numpy.testing.assert_allclose(made[0] * 255, numpy.array(grey), atol=1e-9)
    assert call(lua, "load", path, 3, "byte").shape == (3, 11, 14)
    assert call(lua, "load", path, 1).shape[-2:] == (11, 14)


def test_a_coloured_picture_of_depth_1_has_two_dimensions(lua: bridge.Lua, tmp_path: Path) -> None:
    path = str(tmp_path / "x.png")
    x = picture("Byte")
    call(lua, "save", path, x)
    near(call(lua, "load", path, 1, "byte"), call(lua, "rgb2y", x)[0])


def test_a_loader_of_one_format_refuses_another(lua: bridge.Lua, tmp_path: Path) -> None:
    path = str(tmp_path / "x.png")
    call(lua, "save", path, picture())
    assert list(call(lua, "getPNGsize", path)) == [3, 11, 14]
    for name in ("getJPGsize", "loadJPG", "getPPMsize", "loadPPM"):
        with pytest.raises(bridge.LuaError, match=f"{name}> .*x.png: UnidentifiedImageError"):
            call(lua, name, path)


def test_pillow_is_loaded_with_the_first_file() -> None:
    code = """
import sys, bridge
with bridge.Lua() as lua:
    lua.execute("image = require 'image'; image.scale(torch.rand(3, 3), 2, 2)")
    assert "PIL" not in sys.modules
    lua.execute("image.fabio()")
    assert "PIL" in sys.modules
"""
    subprocess.run([sys.executable, "-W", "error", "-c", code], check=True, timeout=60)


def test_the_content_counts_not_the_name(lua: bridge.Lua, tmp_path: Path) -> None:
    path = tmp_path / "picture.jpg"
    Image.new("RGB", (4, 3), (1, 2, 3)).save(path, format="PNG")
    assert call(lua, "load", str(path), 3, "byte")[:, 0, 0].tolist() == [1, 2, 3]


@pytest.mark.parametrize("name", ["PNG", "JPG"])
def test_memory_holds_what_a_file_would(lua: bridge.Lua, name: str) -> None:
    x = picture("Byte")
    content = call(lua, f"compress{name}", x)
    with Image.open(io.BytesIO(content.tobytes())) as opened:
        expected = numpy.array(opened).transpose(2, 0, 1)
    numpy.testing.assert_array_equal(call(lua, f"decompress{name}", content, 3, "byte"), expected)
    numpy.testing.assert_array_equal(call(lua, "decompress", content, 3, "byte"), expected)


def test_quality_makes_a_jpeg_smaller(lua: bridge.Lua) -> None:
    x = picture("Byte", height=64, width=64)
    assert (
        len(call(lua, "compressJPG", x, 10))
        < len(call(lua, "compressJPG", x))
        < len(call(lua, "compressJPG", x, 100))
    )


def test_grey_is_saved_as_pgm(lua: bridge.Lua, tmp_path: Path) -> None:
    path = tmp_path / "x.pgm"
    x = picture("Byte", channels=1)
    call(lua, "save", str(path), x[0])
    assert path.read_bytes()[:2] == b"P5"
    numpy.testing.assert_array_equal(call(lua, "load", str(path), 1, "byte"), x)
    path.write_text("P2\n2 1\n255\n7 200\n")
    assert call(lua, "load", str(path), 1, "byte").tolist() == [[[7, 200]]]


def test_there_is_always_a_picture(lua: bridge.Lua) -> None:
    assert call(lua, "lena").shape == (3, 512, 512)
    assert call(lua, "fabio").shape == (512, 512)


def test_display_writes_a_file(lua: bridge.Lua, tmp_path: Path) -> None:
    path = tmp_path / "shown.png"
    win = call(lua, "display", {"image": picture(), "zoom": 2, "file": str(path)})
    assert win["file"] == str(path)
    with Image.open(path) as shown:
        assert shown.size == (28, 22)
    with pytest.raises(bridge.LuaError, match="needs Qt"):
        call(lua, "window")


def test_the_package_tests_itself(lua: bridge.Lua, capsys: pytest.CaptureFixture[str]) -> None:
    call(lua, "test")
    assert "0 failures and 0 errors" in capsys.readouterr().out


def test_tensors_have_the_compiled_functions(lua: bridge.Lua) -> None:
    x = picture("Float")
    made = lua.execute(
        "local out = torch.FloatTensor(3, 5, 6); local x = ...; x.image.scaleBilinear(x, out); return out", x
    )
    near(made, call(lua, "scale", x, 6, 5))


# ---- what is refused

SMALL = "torch.Tensor(3, 4, 5):zero()"


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("image.load('/nowhere/x.png')", "/nowhere/x.png: No such file or directory"),
        ("image.load()", "missing file name"),
        ("image.save('x.gif', torch.zeros(2, 2))", "unknown image type: gif"),
        ("image.save('x', torch.zeros(2, 2))", "unknown image type: nil"),
        ("image.save('/nowhere/x.png', torch.zeros(2, 2))", "No such file or directory"),
        ("image.save('/tmp/x.png', torch.zeros(7, 2, 2))", "cannot write an image of size 7x2x2"),
        ("image.savePPM('/tmp/x.ppm', torch.zeros(2, 2))", "can only save 3xHxW images as PPM"),
        ("image.savePGM('/tmp/x.pgm', torch.zeros(3, 2, 2))", "can only save 1xHxW or HxW images as PGM"),
        ("image.decompress(torch.ByteTensor(10):zero())", "Input must be either jpg or png format"),
        ("image.decompress(torch.Tensor(10))", "must be a byte tensor"),
        ("image.decompressPNG(torch.ByteTensor{137, 80, 78, 71, 1, 2, 3})", "UnidentifiedImageError"),
        (f"image.compressJPG({SMALL}, 101)", "quality should be between 0 and 100"),
        (f"image.scale({SMALL}, 'x')", "could not find valid dest size"),
        (f"image.scale({SMALL}, 0, 3)", "has no pixels"),
        (f"image.scale({SMALL}, 3, 3, 'fine')", "mode must be one of: simple | bicubic | bilinear"),
        (f"image.scale(torch.Tensor(2, 2), {SMALL})", "src and dst depths do not match"),
        ("image.scale(torch.Tensor(2), 3, 3)", "not 2 or 3 dimensional"),
        ("image.scale()", "incorrect arguments"),
        (f"image.crop({SMALL}, 2, 2, 9, 9)", "crop goes outside bounds of src"),
        (f"image.crop({SMALL}, -1, 0, 2, 2)", "crop goes outside bounds of src"),
        (f"image.crop({SMALL}, 3, 3, 2, 2)", "has no pixels"),
        (f"image.crop({SMALL}, 'x', 2, 2)", 'crop format must be "c"'),
        (f"image.flip({SMALL}, 4)", "Bad flip dimension"),
        (f"image.hflip({SMALL}[1]:t())", "2D input tensor is not contiguous"),
        (f"image.rotate({SMALL}, 1, 'fine')", "mode must be one of: simple | bilinear"),
        (f"local x = {SMALL}; image.rotate(x, x, 1)", "in-place rotate not supported"),
        (f"image.polar({SMALL}, 'fine')", "interpolation must be one of"),
        (f"image.warp({SMALL}, torch.zeros(2, 3, 3), 'fine')", "mode is not lanczos"),
        (f"image.warp({SMALL}, torch.zeros(2, 3, 3), 'simple', true, 'clamp', 1)", "pad_value can only be"),
        (f"image.warp({SMALL}, torch.zeros(3, 3))", "flow field has to be of size 2xHxW"),
        ("image.rgb2hsl(torch.zeros(2, 3, 3))", "an image of size 3xHxW expected, got 2x3x3"),
        ("image.rgb2hsl()", "missing input"),
        ("image.y2jet(torch.zeros(2, 2))", "levels are 1 and more"),
        ("image.drawText(torch.zeros(2, 2), 'x')", "3D tensor of shape 3 x H x W"),
        (f"image.drawText({SMALL}, 'x', 1, 1, {{size = 0}})", "size has to be 1 or more, got 0"),
        ("image.toDisplayTensor{input = 3}", "type of input: number"),
        ("image.toDisplayTensor{input = torch.rand(4, 3, 3), nrow = 0}", "nrow has to be 1 or more"),
        ("image.erode()", "missing image"),
    ],
)
def test_says_what_is_wrong(
    lua: bridge.Lua, capsys: pytest.CaptureFixture[str], code: str, message: str
) -> None:
    with pytest.raises(bridge.LuaError) as raised:
        lua.execute(code)
    assert message in str(raised.value)
    capsys.readouterr()


@pytest.mark.parametrize("cut", [5, 40, 200, 700])
@pytest.mark.parametrize("name", ["PNG", "JPG"])
def test_damaged_files_are_refused_or_grey_never_worse(
    lua: bridge.Lua, tmp_path: Path, name: str, cut: int
) -> None:
    content = call(lua, f"compress{name}", picture("Byte", height=32, width=32))[:cut]
    path = tmp_path / f"x.{name.lower()}"
    path.write_bytes(content.tobytes())
    with pytest.raises(bridge.LuaError, match=r"x\.(png|jpg): "):
        call(lua, "load", str(path))
    if name == "JPG":
        assert call(lua, "decompressJPG", content) is None
