"""nn: layers, tables and containers that torch can express, against torch: output and all gradients."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import torch

import bridge
from tests.torch7.nn_beside_torch import LUA, TYPES, assert_equal, gradient, leaves, slopes, tensors, typed
from tests.torch7.nn_layer_rows import ROWS, Layer


@pytest.fixture(scope="module")
def nn() -> Iterator[bridge.Lua]:
    with bridge.Lua() as lua:
        lua.execute("run = dofile(...)", str(LUA))
        yield lua


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(
    ("constructor", "given", "parameters", "function"), ROWS, ids=[row[0] for row in ROWS]
)
def test_layers_equal_those_of_torch(
    nn: bridge.Lua, constructor: str, given: Any, parameters: list[np.ndarray], function: Layer, dtype: str
) -> None:
    given, parameters = typed(given, dtype), typed(parameters, dtype)
    x, theirs = tensors(given, requires_grad=True), tensors(parameters, requires_grad=True)
    expected = function(x, *theirs)
    slope = slopes(expected, dtype)
    flat, seeds = leaves(expected), leaves(tensors(slope, requires_grad=False))
    if flat[0].requires_grad:
        torch.autograd.backward(flat, seeds)
    output, gradInput, gradParams = nn.execute(
        "return run.layer(...)", constructor, f"torch.{TYPES[dtype]}", given, slope, parameters
    )
    assert_equal(output, expected, dtype)
    if not isinstance(given, np.ndarray) or given.dtype.kind == "f":  # indices have no gradient
        assert_equal(gradInput, gradient(x), dtype)
    assert_equal(list(gradParams), gradient(theirs), dtype)
