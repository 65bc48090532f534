"""The Open Inference Protocol's types, and tensors as bytes: numbers little-endian, texts behind their length."""

from __future__ import annotations

import math
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
DIMENSIONS = 32  # of a tensor, at most
ELEMENTS = 1 << 48  # of a tensor, at most, where sizes of 0 are left out: numpy refuses more


def datatype(value: Tensor) -> str:
    """Return the protocol's name of a tensor's type."""
    return NAMES[value.dtype.name] if isinstance(value, np.ndarray) else "BYTES"


def decoded(datatype: str, shape: Sequence[int], raw: bytes | memoryview, name: str) -> Tensor:
    """Return the tensor that bytes are: an array on their memory, or texts in lists nested by the shape.

    Raises
    ------
    Refused
        They are too few or too many for the shape, no tensor has the shape, or no such type is known; with the
        input's name.
    """
    if datatype == "BYTES":
        return nested(name, shape, list(texts(name, memoryview(raw))))
    if datatype not in KINDS:
        raise Refused(
            Reason.INVALID,
            f"input {name!r} has datatype {datatype!r}; there is {', '.join([*KINDS, 'BYTES'])}",
        )
    kind = KINDS[datatype]
    needed = elements(name, shape) * kind.itemsize
    if needed != len(raw):
        raise Refused(
            Reason.INVALID,
            f"input {name!r} has {len(raw)} bytes, {datatype} of shape {list(shape)} has {needed}",
        )
    if kind.kind == "b":  # any byte but 0 is true, and only 1 is what all libraries take for it
        return np.not_equal(np.frombuffer(raw, np.uint8), 0).reshape(shape)
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


def elements(name: str, shape: Sequence[int]) -> int:
    """Return how many elements a shape has.

    Raises
    ------
    Refused
        No tensor has such a shape; with the input's name.
    """
    if len(shape) > DIMENSIONS:
        raise Refused(
            Reason.INVALID, f"input {name!r} has {len(shape)} dimensions, at most {DIMENSIONS} are taken"
        )
    if any(size < 0 for size in shape):
        raise Refused(Reason.INVALID, f"input {name!r} has shape {list(shape)}, with a size below 0")
    if math.prod(size or 1 for size in shape) > ELEMENTS:
        raise Refused(Reason.INVALID, f"input {name!r} has shape {list(shape)}, which no memory has room for")
    return math.prod(shape)


def texts(name: str, raw: memoryview) -> Iterator[str | bytes]:
    """Return the texts that bytes hold, each behind its length; what is not UTF-8 stays bytes."""
    place = 0
    while place < len(raw):
        begin = place + LENGTH.size
        place = begin + LENGTH.unpack_from(raw, place)[0] if begin <= len(raw) else begin
        if place > len(raw):
            raise Refused(
                Reason.INVALID,
                f"input {name!r} has {len(raw)} bytes and ends in the middle of a text, which needs {place}",
            )
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
        They are not as many as the shape has, or no tensor has it; with the input's name.
    """
    count = elements(name, shape)
    if not shape or count != len(found):
        raise Refused(
            Reason.INVALID,
            f"input {name!r} has {len(found)} texts, shape {list(shape)} has {count}",
        )
    for size in reversed(shape[1:]):
        found = [found[begin : begin + size] for begin in range(0, len(found), size)] if size else []
    return found
