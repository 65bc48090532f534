"""The types of the Open Inference Protocol, and tensors as bytes: numbers little-endian, texts after their lengths."""

from __future__ import annotations

import math
import struct
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from bridge.serve.engine.refused import Reason, Refused
from bridge.serve.engine.tensors import Tensor

# numpy's name of a type -> the protocol's; texts are BYTES.
NAMES = {
    "bool": "BOOL",
    **{f"{sign}int{bits}": f"{sign.upper()}INT{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)},
    **{f"float{bits}": f"FP{bits}" for bits in (16, 32, 64)},
}
KINDS = {name: np.dtype(kind).newbyteorder("<") for kind, name in NAMES.items()}
LENGTH = struct.Struct("<I")
DIMENSIONS = 32  # most dimensions of a tensor
ELEMENTS = 1 << 48  # most elements of a tensor, not counting sizes of 0: numpy refuses more


def datatype(value: Tensor) -> str:
    """Return the protocol's name of a tensor's type."""
    return NAMES[value.dtype.name] if isinstance(value, np.ndarray) else "BYTES"


def decoded(datatype: str, shape: Sequence[int], raw: bytes | memoryview, name: str) -> Tensor:
    """Return a tensor from its bytes: an array over their memory, or texts in lists nested by the shape.

    Raises
    ------
    Refused
        The bytes are too few or too many for the shape, the shape is not possible, or the type is unknown. The message
        names the input.
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
    if kind.kind == "b":  # any byte but 0 means true, but some libraries know only 1
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
    """Return the number of elements of a shape.

    Raises
    ------
    Refused
        The shape is not possible; the message names the input.
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
    """Yield the texts in bytes, each of which follows its length; texts that are not UTF-8 remain bytes."""
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
        Their number is not that of the shape, or the shape is not possible; the message names the input.
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
