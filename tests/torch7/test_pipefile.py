"""torch.PipeFile: a file that is a command."""

from __future__ import annotations

from pathlib import Path

import pytest

import bridge

FILES = Path(__file__).parents[1] / "data" / "torch7" / "files"


def test_a_pipe_is_read(lua: bridge.Lua) -> None:
    code = "local f = torch.PipeFile('echo 12; echo text') return f:readInt(), f:readString('*a'), f:close() and 0"
    assert lua.execute(code) == (12, "text\n", 0)


def test_a_pipe_is_written(lua: bridge.Lua, tmp_path: Path) -> None:
    lua.execute(
        "local f = torch.PipeFile('cat > ' .. ..., 'w') f:writeInt(12) f:close()", str(tmp_path / "f")
    )
    assert (tmp_path / "f").read_bytes() == b"12\n"


def test_objects_come_through_a_pipe(lua: bridge.Lua) -> None:
    code = "return torch.PipeFile('cat ' .. ...):binary():readObject():totable()"
    assert lua.execute(code, str(FILES / "tensor_Double.t7"))[2] == [2.25, 2.5, 2.75, 3]


def test_a_pipe_has_no_place(lua: bridge.Lua) -> None:
    with pytest.raises(bridge.LuaError, match="unable to seek"):
        lua.execute("torch.PipeFile('true'):seek(3)")


def test_much_comes_through_a_pipe(lua: bridge.Lua, tmp_path: Path) -> None:
    path = str(tmp_path / "f.t7")
    lua.execute("torch.save(..., torch.range(1, 3e5))", path)
    assert lua.execute("return torch.PipeFile('cat ' .. ...):binary():readObject()[300000]", path) == 300000
