"""Finding whether arguments have numpy arrays or torch tensors, and which values are marked as indices."""

from __future__ import annotations

import sys
from typing import Any

import numpy

from bridge.boundary.marks import Index


def as_kind(value: Any, kind: str | None) -> Any:
    """Return a tensor as `kind`, over the same memory; other values unchanged."""
    if kind == "numpy" and is_torch(value) and value.device.type == "cpu":
        return value.numpy()
    if kind == "torch" and isinstance(value, numpy.ndarray):
        import torch

        return torch.from_numpy(value)
    return value


def is_torch(value: Any) -> bool:
    """Return whether a value is a torch.Tensor, without importing torch."""
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(value, torch.Tensor)


def kind_of(values: Any) -> str | None:
    """Return the kind of the first tensor in some arguments: "numpy", "torch", or None if there is none."""
    for value in values:
        if isinstance(value, numpy.ndarray):
            return "numpy"
        if is_torch(value):
            return "torch"
        if isinstance(value, Index):
            value = [value.value]  # noqa: PLW2901
        if isinstance(value, dict):
            value = value.values()  # noqa: PLW2901
        elif not isinstance(value, list | tuple):
            continue
        found = kind_of(value)
        if found is not None:
            return found
    return None


def marked(values: Any) -> bool:
    """Return whether a value inside some arguments is marked by `bridge.index`."""
    for value in values:
        if isinstance(value, Index):
            return True
        if isinstance(value, dict):
            if marked(value.values()):
                return True
        elif isinstance(value, list | tuple) and marked(value):
            return True
    return False
