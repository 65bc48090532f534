"""Kernels and what is convolved with them."""

from __future__ import annotations

import numpy
import pytest
import torch

import bridge
from tests.torch7.image.pictures import RANDOM, call, near, picture


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


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ("amplitude = 100", [[17, 41, 17], [41, 100, 41], [17, 41, 17]]),  # rounded
        ("amplitude = 600", [[101, 247, 101], [247, 255, 247], [101, 247, 101]]),  # a byte's limit
        ("amplitude = 600, normalize = true", [[0, 0, 0], [0, 0, 0], [0, 0, 0]]),  # cut off
    ],
)
def test_a_gaussian_of_bytes(lua: bridge.Lua, options: str, expected: list[list[int]]) -> None:
    made = lua.execute(f"return image.gaussian{{tensor = torch.ByteTensor(3, 3), {options}}}")
    assert made.tolist() == expected


def test_a_gaussian_of_floats_is_computed_as_floats(lua: bridge.Lua) -> None:
    made = lua.execute("return image.gaussian{tensor = torch.FloatTensor(1, 5), normalize = true}")
    single = numpy.float32
    steps = (numpy.arange(1, 6, dtype=single) - single(3)) * (single(1) / (single(0.25) * single(5)))
    values = numpy.exp(-0.5 * (steps * steps).astype(float)).astype(single)
    total = single(0)
    for value in values:
        total += value
    assert made.tolist() == [(values * (single(1) / total)).tolist()]


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
