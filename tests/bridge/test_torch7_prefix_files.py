"""Functions in the files that a real Torch7 reads: they run only where somebody trusts the file."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import bridge


@pytest.fixture
def lua(prefix: Path) -> Iterator[bridge.Lua]:
    with bridge.Lua(torch7=prefix) as state:
        state.require("torch")
        yield state


@pytest.fixture
def stored(tmp_path: Path) -> str:
    """Return a file with a function in it, as Torch7 writes one."""
    file = str(tmp_path / "function.t7")
    with bridge.Lua() as writer:
        writer.execute("require 'torch' torch.save(..., function() return 'ran' end)", file)
    return file


def disguised(path: Path) -> str:
    """Return a file that has a program's text where Torch7 writes bytecode, which `loadstring` takes as well."""
    code = b"return 'ran'"
    words = (8, 1, len(code))
    path.write_bytes(b"".join(word.to_bytes(4, "little") for word in words) + code)
    return str(path)


def test_a_function_in_disguise_raises_when_it_is_called(lua: bridge.Lua, tmp_path: Path) -> None:
    function = lua.torch.load(disguised(tmp_path / "text.t7"))
    with pytest.raises(bridge.LuaError, match="allow_functions=True"):
        function()


def test_what_reading_a_file_calls_may_load_strings(lua: bridge.Lua, stored: str) -> None:
    readInt = "local f = torch.getmetatable('torch.File') local old = f.readInt "
    lua.execute(readInt + "function f:readInt() ran = loadstring('return 6')() return old(self) end")
    lua.torch.load(stored)
    assert lua.eval("ran") == 6


def test_a_file_that_cannot_be_read_does_not_stop_later_functions(lua: bridge.Lua, tmp_path: Path) -> None:
    (tmp_path / "broken.t7").write_bytes(bytes([9, 0, 0, 0] * 2))
    with pytest.raises(bridge.LuaError, match="only functions can be read"):
        lua.torch.load(str(tmp_path / "broken.t7"))
    assert lua.eval("loadstring('return 6')()") == 6
