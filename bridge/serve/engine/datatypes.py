"""The Open Inference Protocol's types, and tensors as bytes: numbers little-endian, texts behind their length."""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from bridge.serve.engine.refused import Reason, Refused
from bridge.serve.engine.tensors import Tensor

# numpy's name of a type, and the protocol's; texts are BYTES.
NAMES = {
    "bool": "BOOL",
    **{f"{sign}int{bits}": f"{sign.upper()}INT{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)},
    **{f"float{bits}": f"FP{bits}" for bits in (16, 32, 64)},
}
KINDS = {name: np.dtype(kind).newbyteorder("<") for kind, name in NAMES.items()}
LENGTH = struct.Struct("<I")


def datatype(value: Tensor) -> str:
    """Return the protocol's name of a tensor's type."""
    return NAMES[value.dtype.name] if isinstance(value, np.ndarray) else "BYTES"


def decoded(datatype: str, shape: Sequence[int], raw: bytes | memoryview, name: str) -> Tensor:
    """Return the tensor that bytes are: an array on their memory, or texts in lists nested by the shape.

    Raises
    ------
    Refused
        They are too few or too many for the shape, or no such type is known; with the input's name.
    """
    if datatype == "BYTES":
        return nested(name, shape, list(texts(name, memoryview(raw))))
    if datatype not in KINDS:
        raise Refused(
            Reason.INVALID,
            f"input {name!r} has datatype {datatype!r}; there is {', '.join([*KINDS, 'BYTES'])}",
        )
    kind = KINDS[datatype]
    needed = elements(shape) * kind.itemsize
    if needed != len(raw):
        raise Refused(
            Reason.INVALID,
            f"input {name!r} has {len(raw)} bytes, {datatype} of shape {list(shape)} has {needed}",
        )
    return np.frombuffer(raw, kind).reshape(shape)


def encoded(value: Tensor) -> bytes | memoryview:
    """Return a tensor's bytes."""
    if isinstance(value, np.ndarray):
        little = np.ascontiguousarray(value, value.dtype.newbyteorder("<"))
        return little.reshape(-1).view(np.uint8).data
    parts = bytearray()
    for one in flat(value):
        content = one.encode() if isinstance(one, str) else one
        parts += LENGTH.pack(len(content)) + content
    return bytes(parts)


def elements(shape: Sequence[int]) -> int:
    """Return how many elements a shape has."""
    count = 1
    for size in shape:
        count *= size
    return count


def texts(name: str, raw: memoryview) -> Iterator[str | bytes]:
    """Return the texts that bytes hold, each behind its length; what is not UTF-8 stays bytes."""
    place = 0
    while place < len(raw):
        begin = place + LENGTH.size
        place = begin + LENGTH.unpack_from(raw, place)[0] if begin <= len(raw) else begin
        if place > len(raw):
            raise Refused(Reason.INVALID, f"input {name!r} ends in the middle of a text")
        content = bytes(raw[begin:place])
        try:
            yield content.decode()
        except UnicodeDecodeError:
            yield content


def flat(value: list[Any]) -> Iterator[Any]:
    """Return the texts of nested lists in order."""
    for one in value:
        if isinstance(one, list):
            yield from flat(one)
        else:
            yield one


def nested(name: str, shape: Sequence[int], found: list[Any]) -> list[Any]:
    """Return texts as lists nested by a shape.

    Raises
    ------
    Refused
        They are not as many as the shape has; with the input's name.
    """
    if not shape or elements(shape) != len(found):
        raise Refused(
            Reason.INVALID,
            f"input {name!r} has {len(found)} texts, shape {list(shape)} has {elements(shape)}",
        )
    for size in reversed(shape[1:]):
        found = [found[begin : begin + size] for begin in range(0, len(found), size)] if size else []
    return found
