"""nn's max pooling: the same maxima, places and gradients as torch's, for any windows."""

from __future__ import annotations

import random
from collections.abc import Iterator

import numpy as np
import pytest
import torch

import bridge

POOL = """
local x, slope, kernel, step, padding, apart, ceil = ...
local n = #kernel
local m = n == 3
   and nn.VolumetricDilatedMaxPooling(kernel[1],kernel[3],kernel[2], step[1],step[3],step[2],
      padding[1],padding[3],padding[2], apart[1],apart[3],apart[2])
   or nn.SpatialDilatedMaxPooling(kernel[2],kernel[1], step[2],step[1], padding[2],padding[1], apart[2],apart[1])
m:type(x:type())
m.ceil_mode = ceil
local y = m:forward(x)
return y, m.indices, m:backward(x, slope:resizeAs(y))
"""
FUNCTIONS = {2: torch.nn.functional.max_pool2d, 3: torch.nn.functional.max_pool3d}


@pytest.fixture(scope="module")
def nn() -> Iterator[bridge.Lua]:
    with bridge.Lua() as lua:
        lua.execute("require 'nn'")
        yield lua


def numbers(draw: random.Random, shape: list[int], dtype: str) -> np.ndarray:
    x = np.random.default_rng(draw.randrange(2**32)).normal(size=shape).astype(dtype)
    kind = draw.randrange(4)
    if kind == 1:
        x = np.round(x)  # equal maxima
    elif kind == 2:
        x[x > 1] = np.nan
    elif kind == 3:
        x[x < 0.5] = -np.inf
    return x


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("axes", [2, 3])
def test_any_windows_give_what_torch_gives(nn: bridge.Lua, axes: int, dtype: str) -> None:
    draw, compared = random.Random(axes), 0
    while compared < 60:
        kernel = [draw.randint(1, 4) for _ in range(axes)]
        step, apart = ([draw.randint(1, most) for _ in range(axes)] for most in (4, 3))
        padding = [draw.randint(0, k // 2) for k in kernel]
        shape = [draw.randint(1, 3), draw.randint(1, 3), *(draw.randint(1, 11) for _ in range(axes))]
        shape[-1] = draw.choice([shape[-1], 600])  # longer than what the loop holds at a time
        reach = [
            (n + 2 * p - a * (k - 1) - 1)
            for n, p, a, k in zip(shape[2:], padding, apart, kernel, strict=True)
        ]
        # torch reads beyond the plane where a window meets nothing of it
        if min(reach) < 0 or any(p and a > 1 for p, a in zip(padding, apart, strict=True)):
            continue
        x = torch.from_numpy(numbers(draw, shape, dtype)).requires_grad_()
        ceil = draw.random() < 0.5
        expected, places = FUNCTIONS[axes](
            x, kernel, step, padding, apart, ceil_mode=ceil, return_indices=True
        )
        slope = torch.from_numpy(np.random.default_rng(compared).normal(size=expected.shape).astype(dtype))
        expected.backward(slope)
        y, indices, gradient = nn.execute(
            POOL, x.detach().numpy(), slope.numpy(), kernel, step, padding, apart, ceil
        )
        np.testing.assert_array_equal(y, expected.detach().numpy())
        np.testing.assert_array_equal(indices, places.numpy() + 1)
        np.testing.assert_allclose(gradient, x.grad.numpy(), rtol=1e-6)  # type: ignore[union-attr]
        compared += 1


def test_halves_are_pooled(nn: bridge.Lua) -> None:
    code = "return nn.SpatialMaxPooling(2,2):type('torch.HalfTensor'):forward(torch.HalfTensor{{{1,5},{2,3}}})[1][1][1]"
    assert nn.execute(code) == 5


def test_a_window_that_meets_nothing_passes_no_gradient(nn: bridge.Lua) -> None:
    # two taps, 3 apart, around a plane of two
    y, indices, gradient = nn.execute(
        POOL, np.ones((1, 2, 1)), np.ones((1, 1, 1)), [2, 1], [1, 1], [1, 0], [3, 1], False
    )
    assert y.item() == -np.inf
    assert indices.item() == 0
    assert gradient.tolist() == [[[0], [0]]]


def test_results_may_lie_apart_in_memory(nn: bridge.Lua) -> None:
    code = """
    local m, x = nn.SpatialMaxPooling(2,2), torch.range(1,16):view(1,4,4)
    local wide = torch.zeros(1,2,4)
    m.output = wide:unfold(3,1,2):select(4,1)
    m:forward(x)
    return wide
    """
    assert nn.execute(code).tolist() == [[[6, 0, 8, 0], [14, 0, 16, 0]]]
