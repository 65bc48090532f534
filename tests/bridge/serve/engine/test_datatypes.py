"""Tensors become the protocol's bytes and come back; bytes that are no such tensor are refused with their sizes."""

from __future__ import annotations

import random
import struct
import tracemalloc
from typing import Any

import numpy as np
import pytest

from bridge.serve.engine.datatypes import KINDS, NAMES, datatype, decoded, encoded, nested
from bridge.serve.engine.refused import Reason, Refused
from bridge.serve.engine.tensors import shape_of


def refused(pattern: str, kind: str, shape: list[int], raw: bytes) -> None:
    with pytest.raises(Refused, match=pattern) as raised:
        decoded(kind, shape, raw, "x")
    assert raised.value.reason is Reason.INVALID


def test_the_names_are_the_protocol_s() -> None:
    assert set(NAMES.values()) == {
        *("BOOL", "UINT8", "UINT16", "UINT32", "UINT64", "INT8", "INT16", "INT32", "INT64"),
        *("FP16", "FP32", "FP64"),
    }
    assert datatype(["text"]) == "BYTES"


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("shape", [(), (4,), (2, 3, 4), (0, 5)], ids=str)
def test_numbers_go_there_and_back(name: str, shape: tuple[int, ...]) -> None:
    value = np.resize(np.array([0, 1], name), shape)
    raw = encoded(value)
    assert len(raw) == value.nbytes
    back = decoded(datatype(value), shape, raw, "x")
    assert isinstance(back, np.ndarray)
    assert (back.dtype, back.shape) == (value.dtype, shape)
    assert np.array_equal(back, value)


@pytest.mark.parametrize("order", ["<", ">"])
def test_numbers_are_little_endian_whatever_they_were(order: str) -> None:
    assert bytes(encoded(np.array([1, -2], f"{order}i4"))) == struct.pack("<ii", 1, -2)
    assert bytes(encoded(np.arange(6, dtype=f"{order}f8").reshape(2, 3).T)) == struct.pack(
        "<6d", 0, 3, 1, 4, 2, 5
    )


def test_any_byte_but_0_is_true() -> None:
    back = decoded("BOOL", [3], b"\x00\x01\xff", "x")
    assert isinstance(back, np.ndarray)
    assert back.view(np.uint8).tolist() == [0, 1, 1]


@pytest.mark.parametrize(
    ("shape", "value"),
    [
        ([3], ["", "text", "\u00e4\u20ac"]),
        ([2, 1], [["a"], [b"\xff\x00"]]),
        ([1, 2, 2], [[["a", "b"], ["c", "d"]]]),
        ([0], []),
    ],
    ids=str,
)
def test_texts_go_there_and_back(shape: list[int], value: list[Any]) -> None:
    raw = encoded(value)
    assert decoded("BYTES", shape, raw, "x") == value
    assert shape_of(value) == tuple(shape)


def test_a_text_stands_behind_its_length() -> None:
    assert encoded(["ab", b"\x00"]) == b"\x02\x00\x00\x00ab\x01\x00\x00\x00\x00"


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("change", [-1, 1])
def test_bytes_that_are_too_few_or_too_many_are_refused_with_both_sizes(kind: str, change: int) -> None:
    needed = 6 * KINDS[kind].itemsize
    refused(
        f"'x' has {needed + change} bytes, {kind} of shape .2, 3. has {needed}",
        kind,
        [2, 3],
        bytes(needed + change),
    )


@pytest.mark.parametrize(
    ("raw", "pattern"),
    [
        (b"\x01\x00", "'x' has 2 bytes and ends in the middle of a text, which needs 4"),
        (b"\x05\x00\x00\x00ab", "'x' has 6 bytes and ends in the middle of a text, which needs 9"),
        (b"\xff\xff\xff\xff", "which needs 4294967299"),
        (b"\x00\x00\x00\x00", r"'x' has 1 texts, shape \[2\] has 2"),
        (bytes(12), r"'x' has 3 texts, shape \[2\] has 2"),
    ],
)
def test_texts_that_are_cut_or_of_another_number_are_refused(raw: bytes, pattern: str) -> None:
    refused(pattern, "BYTES", [2], raw)


@pytest.mark.parametrize("kind", ["FP32", "BYTES"])
@pytest.mark.parametrize(
    ("shape", "pattern"),
    [
        ([-1, -1], "a size below 0"),
        ([0, 1 << 62, 1 << 62], "no memory has room"),
        ([1 << 63], "no memory has room"),
        ([1] * 33, "33 dimensions, at most 32"),
        ([1 << 63] * 1_000_000, "1000000 dimensions, at most 32"),
    ],
    ids=["negative", "empty", "large", "deep", "deepest"],
)
def test_shapes_that_no_tensor_has_are_refused(kind: str, shape: list[int], pattern: str) -> None:
    refused(pattern, kind, shape, bytes(4))


@pytest.mark.parametrize("kind", ["FP8", "BF16", "", "fp32", "STRING"])
def test_another_datatype_is_refused_with_those_that_there_are(kind: str) -> None:
    refused(f"datatype '{kind}'; there is BOOL, INT8", kind, [1], bytes(4))


def test_random_bytes_are_a_tensor_or_refused() -> None:
    rng = random.Random(5)
    for _ in range(3000):
        kind = rng.choice([*KINDS, "BYTES"])
        shape = [rng.choice([0, 1, 2, 3, -1, 1 << 62]) for _ in range(rng.randrange(4))]
        raw = bytes(rng.choice([0, 0, 0, 1, 2, 255]) for _ in range(rng.randrange(30)))
        try:
            back = decoded(kind, shape, raw, "x")
        except Refused:
            continue
        assert bytes(encoded(back)) == raw or kind == "BOOL"


def test_the_shape_of_texts_takes_no_memory_for_the_longest() -> None:
    value = nested("x", [2, 500], ["a" * 1_000_000, *[""] * 999])
    tracemalloc.start()
    try:
        assert shape_of(value) == (2, 500)
        assert tracemalloc.get_traced_memory()[1] < 10_000
    finally:
        tracemalloc.stop()
