"""Converting nested lists, tuples and dicts of tensors to a flat list, as autograd needs it, and back."""

from __future__ import annotations

from typing import Any

import torch


class Leaf:
    """Stands for a tensor in a structure, with the tensor's index in the flat list."""

    __slots__ = ("index",)

    def __init__(self, index: int) -> None:
        self.index = index


def flatten(value: Any, tensors: list[torch.Tensor]) -> Any:
    """Append the tensors in a value to a list. Returns the value's structure, with a Leaf for each tensor."""
    if isinstance(value, torch.Tensor):
        tensors.append(value)
        return Leaf(len(tensors) - 1)
    if isinstance(value, list | tuple):
        return [flatten(item, tensors) for item in value]
    if isinstance(value, dict):
        return {key: flatten(item, tensors) for key, item in value.items()}
    return value


def unflatten(structure: Any, tensors: Any) -> Any:
    """Return a structure with the tensors in place of its Leafs."""
    if isinstance(structure, Leaf):
        return tensors[structure.index]
    if isinstance(structure, list):
        return [unflatten(item, tensors) for item in structure]
    if isinstance(structure, dict):
        return {key: unflatten(item, tensors) for key, item in structure.items()}
    return structure


def pick(structure: Any, value: Any, found: dict[int, torch.Tensor]) -> None:
    """Collect the tensors of a value that match Leafs of a structure, by index; parts that differ are left out."""
    if isinstance(structure, Leaf):
        if isinstance(value, torch.Tensor):
            found[structure.index] = value
        elif isinstance(value, int | float) and not isinstance(value, bool):
            found[structure.index] = torch.tensor(float(value), dtype=torch.float64)
    elif isinstance(structure, list) and isinstance(value, list):
        for item, part in zip(structure, value, strict=False):
            pick(item, part, found)
    elif isinstance(structure, dict) and isinstance(value, dict):
        for key, item in structure.items():
            pick(item, value.get(key), found)
