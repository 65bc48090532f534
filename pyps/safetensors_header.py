"""The header of a file of safetensors: which tensors it has, and where their elements lie behind it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

LONGEST = 100 << 20  # bytes, the limit of the safetensors library


def make(tensors: Iterable[tuple[str, str, tuple[int, ...], int]]) -> bytes:
    """Return the header for tensors that lie one after another.

    Parameters
    ----------
    tensors : iterable of (str, str, tuple of int, int)
        The name of each, the format's name of its element type (like F32), its shape, and its bytes.
    """
    header, begin = {}, 0
    for name, kind, shape, nbytes in tensors:
        header[name] = {"dtype": kind, "shape": list(shape), "data_offsets": [begin, begin + nbytes]}
        begin += nbytes
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    return len(text).to_bytes(8, "little") + text


def read(path: Path) -> tuple[dict[str, Any], int]:
    """Return a file's tensors by their names, and where their elements begin; ValueError as from `parse`."""
    with path.open("rb") as file:
        return parse(lambda begin, end: file.read(end - begin), path)


def parse(take: Callable[[int, int], bytes], name: object) -> tuple[dict[str, Any], int]:
    """Return the tensors of what `take` gives, by their names, and where their elements begin.

    Parameters
    ----------
    take : callable
        Returns the bytes from one place to another; it is asked for one part after another, from the beginning on.
    name : object
        Of the file, for errors.

    Raises
    ------
    ValueError
        It is no file of safetensors.
    """
    length = int.from_bytes(take(0, 8), "little")
    if not 2 <= length <= LONGEST:
        raise ValueError(f"{name} is no file of safetensors: its header would have {length} bytes")
    try:
        header = json.loads(take(8, 8 + length))
    except ValueError:
        raise ValueError(f"{name} is no file of safetensors: its header is no JSON") from None
    if not isinstance(header, dict):
        raise ValueError(f"{name} is no file of safetensors: its header has no names")
    header.pop("__metadata__", None)
    return header, 8 + length
