"""What comparisons of nn with torch share: numbers, their types, and when two results are equal."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import torch

LUA = Path(__file__).with_name("nn_beside_torch.lua")
TYPES = {"float32": "FloatTensor", "float64": "DoubleTensor"}

RNG = np.random.default_rng(11)
X, Y = RNG.normal(size=(5, 4)), RNG.normal(size=(5, 4))
SIGNS = np.sign(Y)
SIGN = SIGNS[:, 0]
UNIT, OTHER = RNG.uniform(0.05, 0.95, size=(5, 4)), RNG.uniform(0.05, 0.95, size=(5, 4))
CLASSES = np.array([1, 4, 2, 2, 3])
LABELS = np.array([[2, 4, 0, 1], [0, 1, 2, 3], [1, 2, 3, 4], [3, 0, 0, 0], [4, 1, 0, 2]])
WEIGHTS = np.array([0.5, 1.0, 2.0, 1.5])
IMAGE, PLACES = RNG.normal(size=(2, 4, 3, 2)), RNG.integers(1, 5, size=(2, 3, 2))
W = "torch.Tensor{0.5,1,2,1.5}"


def weights(like: torch.Tensor) -> torch.Tensor:
    return torch.tensor(WEIGHTS, dtype=like.dtype)


def typed(values: Any, dtype: str) -> Any:
    """Floating-point numbers of the type; indices, and None, as they are."""
    if isinstance(values, list):
        return [typed(one, dtype) for one in values]
    return values.astype(dtype) if values is not None and values.dtype.kind == "f" else values


def tensors(values: Any, *, requires_grad: bool) -> Any:
    if isinstance(values, list):
        return [tensors(one, requires_grad=requires_grad) for one in values]
    if values is None:
        return None
    return torch.tensor(values, requires_grad=requires_grad and values.dtype.kind == "f")


def leaves(values: Any) -> list[torch.Tensor]:
    """Return the tensors of nested lists in order."""
    return [leaf for one in values for leaf in leaves(one)] if isinstance(values, list) else [values]


def slopes(like: Any, dtype: str, seed: int = 2) -> Any:
    """Return a gradient for each tensor of nested lists."""
    if isinstance(like, list):
        return [slopes(one, dtype, seed + i + 1) for i, one in enumerate(like)]
    return np.random.default_rng(seed).normal(size=tuple(like.shape)).astype(dtype)


def gradient(values: Any) -> Any:
    """Return torch's gradients: zeros of what had no influence, None of indices."""
    if isinstance(values, list):
        return [gradient(one) for one in values]
    if not values.is_floating_point():
        return None
    return torch.zeros_like(values) if values.grad is None else values.grad


def assert_equal(actual: Any, expected: Any, dtype: str) -> None:
    if expected is None:
        return
    if isinstance(expected, list):
        assert len(actual) == len(expected)
        for one, other in zip(actual, expected, strict=True):
            assert_equal(one, other, dtype)
    else:
        tolerance = 1e-5 if dtype == "float32" else 1e-11
        np.testing.assert_allclose(actual, expected.detach().numpy(), rtol=tolerance, atol=tolerance)
