"""Files that are damaged, made to harm, or not Torch7's: a clear error, in bounded time and memory."""

from __future__ import annotations

import gzip
import io
import os
import pickle
import struct
import tracemalloc
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch

from bridge import t7

FILES = Path(__file__).parents[2] / "data" / "torch7" / "files"


def ints(*values: int) -> bytes:
    return struct.pack(f"<{len(values)}i", *values)


def longs(*values: int) -> bytes:
    return struct.pack(f"<{len(values)}q", *values)


def name(text: bytes) -> bytes:
    return ints(3) + b"V 1" + ints(len(text)) + text


def tensor(
    *,
    ndim: int = 1,
    sizes: tuple[int, ...] = (3,),
    strides: tuple[int, ...] = (1,),
    offset: int = 1,
    count: int = 3,
    kind: bytes = b"Double",
) -> bytes:
    head = ints(4, 1) + name(b"torch.DoubleTensor") + ints(ndim) + longs(*sizes, *strides, offset)
    return head + ints(4, 2) + name(b"torch." + kind + b"Storage") + longs(count) + bytes(24)


def text_of(error: pytest.ExceptionInfo[t7.T7Error]) -> str:
    return str(error.value)


# What is no Torch7 file.


def zipped() -> bytes:
    out = io.BytesIO()
    torch.save({"a": torch.zeros(2)}, out)
    return out.getvalue()


def old_torch() -> bytes:
    out = io.BytesIO()
    torch.save({"a": torch.zeros(2)}, out, _use_new_zipfile_serialization=False)
    return out.getvalue()


def archive() -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr("a", "b")
    return out.getvalue()


def array() -> bytes:
    out = io.BytesIO()
    np.save(out, np.zeros(3))
    return out.getvalue()


@pytest.mark.parametrize(
    ("make", "looks"),
    [
        (zipped, "a zip archive, as torch.save of PyTorch writes"),
        (old_torch, "an old torch.save of PyTorch"),
        (archive, "a zip archive"),
        (lambda: pickle.dumps([1, 2]), "a Python pickle"),
        (lambda: pickle.dumps({"a": 1}, 0), "text"),
        (lambda: b"\x89HDF\r\n\x1a\n" + bytes(100), "an HDF5 file"),
        (lambda: gzip.compress(b"x"), "a gzip file"),
        (array, "a numpy array file"),
        (lambda: b"\x1bLJ\x02\x00", "LuaJIT bytecode"),
        (lambda: b"require 'torch'\nprint(1)\n", "text"),
        ("1984 war ein gutes Jahr für Züge\n".encode, "text"),
        (lambda: b"<!DOCTYPE html><html>", "an HTML or XML page"),
        (lambda: b'{"a": 1}', "JSON"),
        (lambda: b"version https://git-lfs.github.com/spec/v1\n", "a pointer of Git LFS"),
        (lambda: struct.pack("<Q", 70) + b'{"__metadata__"', "a safetensors file"),
        (lambda: os.urandom(1) and b"\xf0\x9d\x01\xfe\xff\x00\x00", "no format known here"),
        (lambda: b"", "it is empty"),
    ],
)
def test_what_a_file_looks_like_is_named(make: Callable[[], bytes], looks: str, tmp_path: Path) -> None:
    content = make()
    with pytest.raises(t7.T7Error, match="is no Torch7 file") as error:
        t7.loads(content)
    assert looks in text_of(error)
    file = tmp_path / "model.t7"
    file.write_bytes(content)
    with pytest.raises(t7.T7Error, match=r"model\.t7") as error:
        t7.load(file, mmap=True)
    assert error.value.offset == 0
    assert error.value.file == str(file)


# Numbers that do not fit.


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (ints(3, 1, 1, 9, 0, 0), "at byte 12: a value of type 9; the types are 0 to 8"),
        (ints(9), "is no Torch7 file"),
        (ints(-1, 1), "begins with"),
        (ints(3, 1, -5), "at byte 8: a table of -5 entries"),
        (
            ints(3, 1, 2**31 - 1) + bytes(30),
            "at byte 8: a table of 2147483647 entries, but 30 bytes are left",
        ),
        (ints(3, 0, 0), "at byte 4: an object has the index 0"),
        (ints(3, -7, 0), "at byte 4: an object has the index -7"),
        (ints(2, -1), "at byte 4: a string of -1 bytes"),
        (ints(2, 2**31 - 1) + b"abc", "at byte 4: a string of 2147483647 bytes, but 3 are left"),
        (ints(5, 7), "at byte 4: a boolean of 7"),
        (ints(1, 0), "the file ends inside a value: it has 8 bytes"),
        (ints(3, 1, 1, 0, 0) + ints(1, 0, 0), "a table has nil as a key"),
        (ints(3, 1, 1, 1) + struct.pack("<d", float("nan")) + ints(5, 1), "a table has nan as a key"),
        (ints(3, 1, 1, 5, 1, 4, 1), "an index of an object of another kind"),
        (ints(4, 1, 3) + b"V 1" + ints(-2), "the name of a class of -2 bytes"),
        (ints(4, 1, 3) + b"V 1" + ints(0) + bytes(20), "the name of a class of 0 bytes"),
        (ints(4, 1) + name(b"\xff\xfe") + ints(0), "is no name of a class"),
        (ints(8, 1, -4), "at byte 8: a function of -4 bytes"),
        (ints(4, 1) + name(b"torch.Generator") + bytes(10), "the file ends inside a torch.Generator"),
        (ints(4, 1) + name(b"tds.Vec") + longs(2**40) + bytes(8), "a tds.Vec of 1099511627776 elements"),
        (tensor(ndim=-1), "a tensor of -1 dimensions"),
        (tensor(ndim=2**31 - 1), "a tensor of 2147483647 dimensions; up to 64 can be read"),
        (tensor(sizes=(0,)), "the size 0 with the stride 1"),
        (tensor(sizes=(-3,)), "the size -3"),
        (tensor(strides=(-1,)), "the stride -1"),
        (tensor(sizes=(4,)), r"but its storage has 3 elements"),
        (tensor(sizes=(2**62,), strides=(2**62,)), "than can be counted"),
        (tensor(ndim=2, sizes=(2, 2**40), strides=(2**62, 2**40)), "but its storage has 3 elements"),
        (tensor(ndim=3, sizes=(2**30,) * 3, strides=(0, 0, 0)), "than can be counted"),
        (tensor(offset=0), "begins at the element 0 of its storage"),
        (tensor(offset=2), "but its storage has 3 elements"),
        (tensor(offset=2**63 - 1), "but its storage has 3 elements"),
        (tensor(offset=-(2**63)), "begins at the element -9223372036854775808"),
        (tensor(count=-1), "a Double storage of -1 elements"),
        (tensor(count=2**60), "a Double storage of 1152921504606846976 elements, but 24 bytes are left"),
        (tensor(count=2**63 - 1), "a Double storage of 9223372036854775807 elements"),
        (tensor(kind=b"Float", count=3), "a Double tensor's storage is of another type"),
        (
            tensor().replace(b"torch.DoubleStorage", b"torch.DoubleTensor_"),
            "a tensor's storage is an object of the class",
        ),
        (
            ints(4, 1) + name(b"torch.FloatTensor") + ints(1) + longs(1, 1, 1) + ints(4, 1),
            "storage has 0|ends|another",
        ),
    ],
)
def test_a_number_that_cannot_be_is_named_with_its_place(data: bytes, message: str) -> None:
    with pytest.raises(t7.T7Error, match=message):
        t7.loads(data, long_size=8)
    with pytest.raises(t7.T7Error):
        t7.loads(data)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"1\nx\n", "expected a number, got 'x'"),
        (b"1\n1e\n", "expected a number, got '1e'"),
        (b"3\n1\n99999999999999999999\n", "expected a table's size, got '99999999999999999999'"),
        (b"3\n1\n9999999999\n", "expected a table's size, got 9999999999: it does not fit 32 bits"),
        (b"2\n5.5\nabc", "expected the length of a string, got '5.5'"),
        (b"2\n99\nabc\n", "a string of 99 bytes, but 4 are left"),
        (b"1\n", "the file ends inside a number"),
        (b"1\n" + b"1" * 1000, "expected a number, got '1111"),
        (b"4\n1\n3\nV 1\n16\ntorch.IntStorage\n100\n1 2 3\n", "an Int storage of 100|a Int storage of 100"),
        (b"4\n1\n3\nV 1\n16\ntorch.IntStorage\n2\n1 2147483648\n", "the element 2147483648 does not fit Int"),
        (b"4\n1\n3\nV 1\n18\ntorch.FloatStorage\n2\n1 x\n", "expected a number, got 'x'"),
    ],
)
def test_text_that_is_no_number_is_named(text: bytes, message: str) -> None:
    with pytest.raises(t7.T7Error, match=message):
        t7.loads(text)


@pytest.mark.parametrize(
    "file", ["model_mlp_float.t7", "shared_storage.ascii.t7", "function_upvalues.t7", "longsize4.t7"]
)
def test_every_truncation_is_an_error(file: str) -> None:
    data = (FILES / file).read_bytes()
    for size in range(0, len(data) - 1, max(1, len(data) // 500)):
        with pytest.raises(t7.T7Error):
            t7.loads(data[:size])


def test_a_wrong_size_of_long_is_an_error() -> None:
    for data, wrong in ((t7.dumps(np.zeros((2, 3))), 4), (t7.dumps(np.zeros((2, 3)), long_size=4), 8)):
        with pytest.raises(t7.T7Error):
            t7.loads(data, long_size=wrong)


def test_a_size_that_is_claimed_costs_no_memory() -> None:
    for data in (ints(3, 1, 2**31 - 1), ints(2, 2**31 - 1), tensor(count=2**50), b"3\n1\n2000000000\n"):
        tracemalloc.start()
        try:
            with pytest.raises(t7.T7Error):
                t7.loads(data)
            assert tracemalloc.get_traced_memory()[1] < 100_000
        finally:
            tracemalloc.stop()


def test_an_expanded_tensor_of_a_terabyte_costs_no_memory() -> None:
    array = t7.loads(tensor(ndim=2, sizes=(2**20, 2**17), strides=(0, 0)))
    assert array.shape == (2**20, 2**17)
    assert len(t7.dumps(array)) < 300
