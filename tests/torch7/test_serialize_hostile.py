"""torch.load of what is no file of Torch7, or a damaged one, or one made to harm."""

from __future__ import annotations

import struct
import time
from pathlib import Path

import pytest

import bridge

DATA = Path(__file__).parents[1] / "data" / "torch7"
FILES = DATA / "files"


FOREIGN = {
    "a Python pickle": b"\x80\x04\x95\x10\x00\x00\x00",
    "a zip archive": b"PK\x03\x04\x14\x00\x00\x00",
    "looks like text": b"hello world, this is a text",
    "it is empty": b"",
    "an HDF5 file": b"\x89HDF\r\n\x1a\n",
    "a NumPy array": b"\x93NUMPY\x01\x00",
    "compressed by gzip": b"\x1f\x8b\x08\x00",
    "an HTML or XML page": b"<!DOCTYPE html>",
    "in ascii: load it with mode 'ascii'": b"1\n1.5\n",
    "the other byte order": b"\x00\x00\x00\x01?\xf0\x00\x00\x00\x00\x00\x00",
    "begins with the bytes ff fe 00 01": b"\xff\xfe\x00\x01",
}


@pytest.mark.parametrize("what", FOREIGN)
def test_a_foreign_file_is_refused_by_what_it_is(lua: bridge.Lua, tmp_path: Path, what: str) -> None:
    path = tmp_path / "foreign"
    path.write_bytes(FOREIGN[what])
    with pytest.raises(bridge.LuaError, match=f"no file of Torch7, it .*{what.removeprefix('it ')}"):
        lua.execute("torch.load(...)", str(path))


def test_a_binary_file_read_as_text_is_told(lua: bridge.Lua) -> None:
    with pytest.raises(bridge.LuaError, match="a Torch7 file in binary"):
        lua.execute("torch.load(..., 'ascii')", str(FILES / "table_array.t7"))


def ints(*values: int) -> bytes:
    return struct.pack(f"<{len(values)}i", *values)


def named(name: str) -> bytes:
    return ints(4, 1, 3) + b"V 1" + ints(len(name)) + name.encode()


HOSTILE: dict[str, tuple[bytes, str]] = {
    "negative string": (ints(2, -5), "the length of a string is negative"),
    "huge string": (ints(2, 2**31 - 1) + b"abc", "read error"),
    "negative table": (ints(3, 1, -1), "the size of a table is negative"),
    "huge table": (ints(3, 1, 2**31 - 1), "read error"),
    "nil key": (ints(3, 1, 1, 0, 0), "a key of a table is nil"),
    "nan key": (ints(3, 1, 1, 1) + struct.pack("<d", float("nan")) + ints(0), "is not a number"),
    "unknown type inside": (ints(3, 1, 1, 99), "corrupt file: unknown object"),
    "endless nesting": (
        ints(3, 1, 1) + b"".join(ints(1, 0, 0, 3, i, 1) for i in range(2, 9000)),
        "the file ends",
    ),
    "negative name": (ints(4, 1, -3), "of -3 bytes"),
    "huge name": (ints(4, 1, 2**31 - 1), "read error"),
    "no such class": (named("os.execute"), "unknown Torch class <os.execute>"),
    "negative storage": (named("torch.IntStorage") + struct.pack("<q", -1), "a storage of -1 elements"),
    "huge storage": (named("torch.IntStorage") + struct.pack("<q", 2**60), "read error"),
    "endless storage": (named("torch.ByteStorage") + struct.pack("<q", 2**63 - 1), "read error"),
    "dimensions": (named("torch.IntTensor") + ints(2**30), "a tensor of 1073741824 dimensions"),
    "negative dimensions": (named("torch.IntTensor") + ints(-1), "a tensor of -1 dimensions"),
    "no storage": (
        named("torch.IntTensor") + ints(1) + struct.pack("<3q", 5, 1, 1) + ints(0),
        "reaches past the 0 elements",
    ),
    "storage of another type": (
        named("torch.IntTensor")
        + ints(1)
        + struct.pack("<3q", 1, 1, 1)
        + named("torch.ByteStorage").replace(ints(4, 1, 3), ints(4, 2, 3))
        + struct.pack("<q", 1)
        + b"x",
        "whose storage is a torch.ByteStorage",
    ),
    "itself as storage": (
        named("torch.IntTensor") + ints(1) + struct.pack("<3q", 1, 1, 1) + ints(4, 1),
        "whose storage is a torch.IntTensor",
    ),
    "past its storage": (
        named("torch.IntTensor")
        + ints(1)
        + struct.pack("<3q", 9, 2**40, 1)
        + named("torch.IntStorage").replace(ints(4, 1, 3), ints(4, 2, 3))
        + struct.pack("<q", 1)
        + ints(7),
        "reaches past the 1 elements",
    ),
    "upvalues that are none": (ints(8, 1, 1) + b"x" + ints(1) + struct.pack("<d", 1), ""),
}


@pytest.mark.parametrize("what", HOSTILE)
def test_a_hostile_file_is_an_error_or_harmless(lua: bridge.Lua, what: str) -> None:
    blob, message = HOSTILE[what]
    begun = time.monotonic()
    if message:
        with pytest.raises(bridge.LuaError, match=message):
            lua.execute("torch.deserialize(...)", blob)
    else:
        assert lua.execute("return type(torch.deserialize(...))", blob) == "function"
    assert time.monotonic() - begun < 5


@pytest.mark.parametrize(
    "name", ["shared_storage.t7", "class_shared.t7", "function_upvalues.t7", "table_cycle.ascii.t7"]
)
def test_a_file_cut_anywhere_is_an_error(module: bridge.Lua, name: str) -> None:
    blob = (FILES / name).read_bytes()
    mode = "ascii" if "ascii" in name else "binary"
    module.execute("function survives(blob, mode) return (pcall(torch.deserialize, blob, mode)) end")
    whole = len(blob.rstrip()) if mode == "ascii" else len(blob)
    assert [n for n in range(1, whole) if module.survives(blob[:n], mode)] == []


def test_a_cut_storage_of_longs_is_not_read_as_shorter_ones(module: bridge.Lua) -> None:
    blob = (FILES / "storage_Long.t7").read_bytes()
    whole = len(blob) - 5 * 4 - 4  # so many bytes are all that five longs of 4 bytes take
    module.execute("function survives(blob) return (pcall(torch.deserialize, blob)) end")
    assert [n for n in range(1, len(blob)) if module.survives(blob[:n])] == [whole]


@pytest.mark.parametrize(
    "name", ["shared_storage.t7", "class_shared.t7", "tensor_5d.t7", "table_map.t7", "storage_Half.t7"]
)
def test_a_file_with_any_byte_changed_is_an_error_or_an_object(module: bridge.Lua, name: str) -> None:
    blob = (FILES / name).read_bytes()
    module.execute(
        "function outcome(b) local ok, m = pcall(torch.deserialize, b) return ok or type(m) == 'string' end"
    )
    for i in range(len(blob)):
        for value in (0, 127, 255):
            assert module.outcome(blob[:i] + bytes([value]) + blob[i + 1 :])


@pytest.mark.parametrize("bits", [2**64 - 1, 0xFFFA << 48, 0xFFFA << 48 | 0xDEADBEEF, 0x7FF4 << 48])
def test_any_nan_of_an_object_is_a_number(lua: bridge.Lua, bits: int) -> None:
    blob = ints(1) + struct.pack("<Q", bits)
    assert lua.execute("local x = torch.deserialize(...) return type(x), x ~= x", blob) == ("number", True)


def test_loading_runs_no_code(module: bridge.Lua, tmp_path: Path) -> None:
    program = f"return io.open([[{tmp_path / 'made'}]], 'w')".encode()
    blob = ints(8, 1, len(program)) + program + ints(3, 2, 0)
    assert module.execute("return type(torch.deserialize(...))", blob) == "function"
    assert not (tmp_path / "made").exists()
