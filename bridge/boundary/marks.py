"""Marks for values whose conversion depends on their meaning: indices, and an explicit null.

Numbers are never shifted unless they are marked as indices. (Indices in the inputs of nn's modules, which
`bridge.legacy` counts from 0, are shifted in `bridge/runtime/legacy.lua`.)
"""

from __future__ import annotations

import sys
from typing import Any

import numpy


class Null:
    """Lua's placeholder for None inside a table (`require 'bridge'.null`); `bridge.null` is the only one."""

    def __repr__(self) -> str:
        return "bridge.null"

    def __reduce__(self) -> str:
        return "null"


null = Null()


class Index:
    """A value marked as 0-based indices; made by `index`."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value

    def __repr__(self) -> str:
        return f"bridge.index({self.value!r})"


def index(value: Any) -> Index:
    """Mark a value as indices, 0-based in Python and 1-based in Lua.

    As an argument, `f(bridge.index(x))` adds 1; as `f(x, returns=bridge.index)` it subtracts 1 from the results.

    Parameters
    ----------
    value : int, numpy or torch array of integers, or a list, tuple or dict of those
        Arrays are copied, never shifted in place; integer arrays arrive as int64 (LongTensor).
    """
    return Index(value)


def shift_index(value: Any, offset: int) -> Any:
    """Add `offset` to a value marked as indices. Raises TypeError for a value that cannot be an index."""
    if value is None or isinstance(value, Index):
        return value if value is None else shift_index(value.value, offset)
    if isinstance(value, bool | numpy.bool_):
        raise TypeError(f"{value!r} is not an index")
    if isinstance(value, int | numpy.integer):
        return value + offset
    if isinstance(value, float):
        if not value.is_integer():
            raise TypeError(f"{value!r} is not an index: not a whole number")
        return value + offset
    if isinstance(value, list | tuple):
        return type(value)(shift_index(item, offset) for item in value)
    if isinstance(value, range):
        return range(value.start + offset, value.stop + offset, value.step)
    if isinstance(value, dict):
        return {key: shift_index(item, offset) for key, item in value.items()}
    if isinstance(value, numpy.ndarray):
        if value.dtype.kind not in "iuf":
            raise TypeError(f"an array of dtype {value.dtype} does not hold indices; use an integer dtype")
        return value + float(offset) if value.dtype.kind == "f" else value.astype(numpy.int64) + offset
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(value, torch.Tensor):
        if value.dtype is torch.bool or value.is_complex():
            raise TypeError(f"a tensor of dtype {value.dtype} does not hold indices; use an integer dtype")
        return value + offset if value.is_floating_point() else value.to(torch.int64) + offset
    raise TypeError(
        f"a {type(value).__name__} is not an index; mark an int, an array of integers, or a list of those"
    )


def shift_position(value: Any, offset: int) -> Any:
    """Add `offset` to positions that count from the start. Negative ones count from the end and are not shifted.

    Parameters
    ----------
    value : int, array of integers, or a list, tuple or dict of those
        Anything else, such as the name of a field, is returned unchanged.
    offset : int
        1 on the way to Lua, -1 on the way back.
    """
    if isinstance(value, bool | numpy.bool_):
        raise TypeError(f"{value!r} is not a position")
    least = 0 if offset > 0 else 1
    if isinstance(value, int | float | numpy.integer):
        return value + offset if value >= least else value
    if isinstance(value, list | tuple):
        return type(value)(shift_position(item, offset) for item in value)
    if isinstance(value, dict):
        return {key: shift_position(item, offset) for key, item in value.items()}
    torch = sys.modules.get("torch")
    if isinstance(value, numpy.ndarray) or (torch is not None and isinstance(value, torch.Tensor)):
        shifted = shift_index(value, offset)
        shifted[value < least] -= offset
        return shifted
    return value
