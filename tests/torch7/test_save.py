"""torch.save: the file that was there, permissions, devices, modes."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

import bridge


def test_a_failed_save_leaves_the_file_as_it_was(lua: bridge.Lua, tmp_path: Path) -> None:
    path = tmp_path / "f.t7"
    lua.execute("torch.save(..., 'old')", str(path))
    with pytest.raises(bridge.LuaError, match="Unwritable object"):
        lua.execute("torch.save(..., {io.stdout})", str(path))
    assert lua.execute("return torch.load(...)", str(path)) == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_save_keeps_permissions_and_links(lua: bridge.Lua, tmp_path: Path) -> None:
    path, link = tmp_path / "f.t7", tmp_path / "link.t7"
    path.touch(mode=0o640)
    link.symlink_to(path)
    lua.execute("torch.save(..., 'new')", str(link))
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert link.is_symlink()
    assert lua.execute("return torch.load(...)", str(path)) == "new"


def test_a_device_is_written_directly(lua: bridge.Lua) -> None:
    lua.execute("torch.save('/dev/null', {1, 2})")
    assert stat.S_ISCHR(Path("/dev/null").stat().st_mode)


def test_a_full_disk_is_an_error(lua: bridge.Lua) -> None:
    with pytest.raises(bridge.LuaError, match="No space left on device"):
        lua.execute("torch.save('/dev/full', torch.zeros(1e5))")
    with pytest.raises(bridge.LuaError, match="No space left on device"):
        lua.execute("torch.save('/dev/full', 1)")


def test_a_file_that_cannot_be_opened_is_named(lua: bridge.Lua) -> None:
    with pytest.raises(bridge.LuaError, match="cannot open </nonexistent/f> in mode  w"):
        lua.execute("torch.save('/nonexistent/f', 1)")


@pytest.mark.parametrize("call", ["save('f', 1, 'xml')", "load('f', 'xml')", "serialize(1, 'xml')"])
def test_an_unknown_mode_is_refused(lua: bridge.Lua, call: str) -> None:
    with pytest.raises(bridge.LuaError, match='"binary", "b32", "b64" or "ascii"'):
        lua.execute("torch." + call)
