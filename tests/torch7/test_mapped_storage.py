"""Storages that map a file: torch.XStorage(filename [, shared [, size [, sharedMem]]])."""

from __future__ import annotations

import gc
import os
from pathlib import Path

import pytest

import bridge


@pytest.fixture(autouse=True)
def torch(lua: bridge.Lua) -> None:
    lua.execute("require 'torch'")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "hello.txt"
    path.write_bytes(b"Hello World\n")
    return path


@pytest.mark.parametrize("kind", ["Byte", "Char"])
def test_a_string_is_the_name_of_a_file(lua: bridge.Lua, file: Path, kind: str) -> None:
    assert lua.execute(f"local s = torch.{kind}Storage(...) return s:size(), s:string()", str(file)) == (
        12,
        "Hello World\n",
    )


def test_what_is_written_stays_here_unless_it_is_shared(lua: bridge.Lua, file: Path) -> None:
    code = "return torch.CharStorage(...):fill(42):string()"
    assert lua.execute(code, str(file)) == "*" * 12
    assert file.read_bytes() == b"Hello World\n"
    assert lua.execute(code.replace("...", "..., true"), str(file)) == "*" * 12
    assert file.read_bytes() == b"*" * 12


def test_a_shared_file_is_made_as_long_as_asked(lua: bridge.Lua, tmp_path: Path) -> None:
    path = tmp_path / "new"
    lua.execute("torch.IntTensor(torch.IntStorage(..., true, 10)):fill(7)", str(path))
    assert path.read_bytes() == b"\7\0\0\0" * 10


def test_the_size_counts_whole_elements(lua: bridge.Lua, file: Path) -> None:
    assert lua.execute("return #torch.LongStorage(...), #torch.ShortStorage(..., false, 2)", str(file)) == (
        1,
        2,
    )


def test_two_shared_maps_see_each_other(lua: bridge.Lua, file: Path) -> None:
    code = "local a, b = torch.ByteStorage(..., true), torch.ByteStorage(..., true) a[2] = 65 return b[2]"
    assert lua.execute(code, str(file)) == 65


def test_shared_memory_has_names_of_its_own(lua: bridge.Lua) -> None:
    name = f"/mapped-storage-{os.getpid()}"
    try:
        lua.execute("torch.ByteStorage(..., true, 3, true):fill(5)", name)
        assert Path(f"/dev/shm{name}").read_bytes() == b"\5\5\5"
    finally:
        Path(f"/dev/shm{name}").unlink(missing_ok=True)


def test_an_empty_file_is_an_empty_storage(lua: bridge.Lua, tmp_path: Path) -> None:
    (tmp_path / "empty").touch()
    assert lua.execute("return #torch.ByteStorage(...)", str(tmp_path / "empty")) == 0


@pytest.mark.slow
def test_a_map_lives_as_long_as_python_looks_at_it(file: Path) -> None:
    with bridge.Lua() as lua:
        view = lua.execute("require 'torch' return torch.ByteTensor(torch.ByteStorage(...))", str(file))
    del lua
    gc.collect()
    assert bytes(view) == b"Hello World\n"


REFUSED: list[tuple[str, str]] = [
    (
        "torch.CharStorage('there is no such file')",
        r"unable to open file <there is no such file> \(No such file",
    ),
    ("torch.CharStorage('/', true)", r"unable to open file </> \(Is a directory\)"),
    ("torch.IntStorage(file, false, 4)", r"has 12 bytes, and a storage of 4 elements needs 16"),
    ("torch.IntStorage(file, false, -4)", r"a storage of -4 elements"),
    ("torch.IntStorage(file .. '\\0')", r"a file name with a zero byte"),
    ("torch.IntStorage(file, true, 2^60)", r"unable to make longer"),
]


@pytest.mark.parametrize(("call", "message"), REFUSED)
def test_what_cannot_be_mapped_is_told(lua: bridge.Lua, file: Path, call: str, message: str) -> None:
    with pytest.raises(bridge.LuaError, match=message):
        lua.execute(f"file = ... {call}", str(file))
    assert file.read_bytes() == b"Hello World\n"
