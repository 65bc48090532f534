"""Converting values for another process: arrays are put into a shared area, everything else becomes JSON.

A list is {"l": [...]}, a dict {"d": [[key, value], ...]}, bytes {"b": latin-1}, an array {"a": [kind, shape, begin]};
numbers, texts, booleans and None are themselves.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bridge.serve.process.area import KINDS, Area

DEEPEST = 200  # levels of lists and dicts


@dataclass(frozen=True)
class Joined:
    """Arrays to be sent as one, joined along the first dimension. Their types and other dimensions are the same."""

    parts: Sequence[NDArray[Any]]


def packed(value: Any, area: Area, depth: int = 0) -> Any:
    """Return a value in the form for JSON, with its arrays copied into the area.

    Raises
    ------
    TypeError
        It contains a value that cannot be sent, such as a network; the message names it.
    ValueError
        It is nested too deep.
    MemoryError
        The host has no memory for its arrays.
    """
    if depth > DEEPEST:
        raise ValueError(f"more than {DEEPEST} lists and dicts inside each other")
    if value is None or isinstance(value, str | bool | int | float):
        return value
    if isinstance(value, np.ndarray) and value.dtype.char in KINDS and value.dtype.isnative:
        begin, room = area.room(value.dtype, value.shape)
        room[...] = value
        return {"a": [value.dtype.char, list(value.shape), begin]}
    if isinstance(value, Joined):
        first = value.parts[0]
        shape = (sum(len(part) for part in value.parts), *first.shape[1:])
        begin, room = area.room(first.dtype, shape)
        np.concatenate(value.parts, out=room)
        return {"a": [first.dtype.char, list(shape), begin]}
    if isinstance(value, np.generic):
        return packed(value.item(), area, depth)
    if isinstance(value, bytes):
        return {"b": value.decode("latin-1")}
    if isinstance(value, list | tuple):
        return {"l": [packed(entry, area, depth + 1) for entry in value]}
    if isinstance(value, dict):
        return {
            "d": [
                [packed(key, area, depth + 1), packed(entry, area, depth + 1)] for key, entry in value.items()
            ]
        }
    kind = getattr(value, "typename", type(value).__name__)
    raise TypeError(f"a {kind} cannot leave its process; numbers, texts, arrays, lists and dicts of them can")


def unpacked(tree: Any, area: Area, *, copy: bool, depth: int = 0) -> Any:
    """Return the value that was packed; its arrays share the area's memory, or are copies.

    Raises
    ------
    ValueError
        It was not made by `packed`.
    """
    if depth > DEEPEST:
        raise ValueError("nested too deep")
    if not isinstance(tree, dict):
        if isinstance(tree, list):
            raise ValueError("a list without a mark")
        return tree
    (mark, content), *more = tree.items() or [("", None)]
    if more:
        raise ValueError("several marks")
    if mark == "a" and isinstance(content, list) and len(content) == 3:
        kind, shape, begin = content
        if not (isinstance(kind, str) and isinstance(begin, int) and isinstance(shape, list)):
            raise ValueError(f"no array: {content!r}")
        if not all(isinstance(n, int) for n in shape):
            raise ValueError(f"no shape: {shape!r}")
        array = area.array(kind, shape, begin)
        return array.copy() if copy else array
    if mark == "b" and isinstance(content, str):
        return content.encode("latin-1")
    if mark == "l" and isinstance(content, list):
        return [unpacked(entry, area, copy=copy, depth=depth + 1) for entry in content]
    if (
        mark == "d"
        and isinstance(content, list)
        and all(isinstance(e, list) and len(e) == 2 for e in content)
    ):
        keys = [unpacked(key, area, copy=copy, depth=depth + 1) for key, _ in content]
        if not all(isinstance(key, str | int | float | bytes) for key in keys):
            raise ValueError("a key that is no text and no number")
        return dict(
            zip(keys, (unpacked(e, area, copy=copy, depth=depth + 1) for _, e in content), strict=True)
        )
    raise ValueError(f"no value: {mark!r}")
