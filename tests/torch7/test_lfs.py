"""The lfs package, compared with Python's view of the same files; messages are those of LuaFileSystem 1.8."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import bridge


@pytest.fixture(scope="module")
def lua() -> Iterator[bridge.Lua]:
    with bridge.Lua() as state:
        state.execute("lfs = require 'lfs'")
        yield state


@pytest.fixture
def file(tmp_path: Path) -> Path:
    made = tmp_path / "file"
    made.write_text("hello")
    made.chmod(0o640)
    return made


def test_attributes_are_those_of_the_file(lua: bridge.Lua, file: Path) -> None:
    status = file.stat()
    assert lua.execute("return lfs.attributes(...)", str(file)) == {
        "mode": "file",
        "permissions": "rw-r-----",
        "size": 5,
        "dev": status.st_dev,
        "rdev": status.st_rdev,
        "ino": status.st_ino,
        "nlink": 1,
        "uid": status.st_uid,
        "gid": status.st_gid,
        "access": int(status.st_atime),
        "modification": int(status.st_mtime),
        "change": int(status.st_ctime),
        "blocks": status.st_blocks,
        "blksize": status.st_blksize,
    }


@pytest.mark.parametrize(
    ("path", "request_name", "value"),
    [
        ("/", "mode", "directory"),
        ("/dev/null", "mode", "char device"),
        ("/dev/null", "rdev", os.stat("/dev/null").st_rdev),  # noqa: PTH116
        ("/proc/self/exe", "mode", "file"),
    ],
)
def test_one_attribute_is_asked_for_by_name(
    lua: bridge.Lua, path: str, request_name: str, value: Any
) -> None:
    assert lua.execute("return lfs.attributes(...)", path, request_name) == value


def test_a_table_is_filled(lua: bridge.Lua, file: Path) -> None:
    code = "local t = {x = 1} local same = lfs.attributes((...), t) return same == t, t.x, t.size"
    assert lua.execute(code, str(file)) == (True, 1, 5)


def test_a_link_is_seen_by_symlinkattributes(lua: bridge.Lua, file: Path) -> None:
    link = file.with_name("link")
    link.symlink_to("file")
    code = "local a, b = lfs.attributes((...), 'mode'), lfs.symlinkattributes(...) return a, b.mode, b.target"
    assert lua.execute(code, str(link)) == ("file", "link", "file")


@pytest.mark.parametrize(
    ("call", "result"),
    [
        (
            "attributes('/no/file')",
            "cannot obtain information from file '/no/file': No such file or directory",
        ),
        ("mkdir('/')", "File exists"),
        ("rmdir('/no/file')", "No such file or directory"),
        ("touch('/no/file')", "No such file or directory"),
        ("link('/no/file', '/no/other')", "No such file or directory"),
        (
            "chdir('/no/file')",
            "Unable to change working directory to '/no/file'\nNo such file or directory\n",
        ),
    ],
)
def test_failures_are_returned(lua: bridge.Lua, call: str, result: str) -> None:
    assert lua.eval(f"lfs.{call}")[:2] == (None, result)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        ("attributes('/', 'age')", "invalid attribute name 'age'"),
        ("attributes()", r"bad argument #1 to 'attributes' \(string expected, got no value\)"),
        ("dir('/no/directory')", "cannot open /no/directory: No such file or directory"),
        ("touch('/', 'x')", r"bad argument #2 to 'touch' \(number expected, got string\)"),
        ("lock(1, 'r')", r"bad argument #1 to 'lock' \(FILE\* expected, got number\)"),
        ("lock(io.stdout, 'x')", "lock: invalid mode"),
        ("lock(io.stdout, 'w', {})", r"bad argument #3 to 'lock' \(number expected, got table\)"),
        ("setmode(io.stdout, 'x')", r"bad argument #2 to 'setmode' \(invalid option 'x'\)"),
    ],
)
def test_wrong_arguments_are_the_callers_errors(lua: bridge.Lua, call: str, message: str) -> None:
    with pytest.raises(bridge.LuaError, match="^here:1: " + message):
        lua.execute(f"local value = lfs.{call} return value", name="=here")


def test_a_directory_is_walked(lua: bridge.Lua, file: Path) -> None:
    code = "local names = {} for name in lfs.dir(...) do table.insert(names, name) end return names"
    assert sorted(lua.execute(code, str(file.parent))) == [".", "..", "file"]


def test_a_directory_object_is_asked_and_closed(lua: bridge.Lua, file: Path) -> None:
    code = "step, object = lfs.dir(...) return type(object), type(object:next()), object:close()"
    assert lua.execute(code, str(file.parent)) == ("userdata", "string")
    for call in ("object:next()", "step(object)"):
        with pytest.raises(bridge.LuaError, match="closed directory"):
            lua.execute(call)


def test_directories_are_made_entered_and_removed(
    lua: bridge.Lua, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert lua.eval("lfs.mkdir('new')") is True
    assert lua.eval("lfs.chdir('new')") is True
    assert lua.eval("lfs.currentdir()") == str(tmp_path / "new")
    assert lua.execute("lfs.chdir('..') return lfs.rmdir('new')") is True
    assert list(tmp_path.iterdir()) == []


def test_touch_sets_times(lua: bridge.Lua, file: Path) -> None:
    assert lua.execute("return lfs.touch((...), 100, 200)", str(file)) is True
    assert (file.stat().st_atime, file.stat().st_mtime) == (100, 200)
    assert lua.execute("return lfs.touch((...), 300)", str(file)) is True
    assert file.stat().st_mtime == 300
    assert lua.execute("return lfs.touch(...)", str(file)) is True
    assert file.stat().st_mtime > 1e9


def test_links_are_hard_or_symbolic(lua: bridge.Lua, file: Path) -> None:
    hard, soft = file.with_name("hard"), file.with_name("soft")
    assert lua.execute("return lfs.link(...)", str(file), str(hard)) is True
    assert hard.samefile(file)
    assert lua.execute("return lfs.link(...)", "anywhere", str(soft), True) is True
    assert str(soft.readlink()) == "anywhere"


def test_a_lock_that_another_process_holds_is_refused(lua: bridge.Lua, file: Path) -> None:
    lua.execute("f = io.open((...), 'r+')", str(file))
    holder = "import fcntl, sys; f = open(sys.argv[1], 'r+'); fcntl.lockf(f, fcntl.LOCK_EX); print(flush=True); input()"
    with subprocess.Popen(
        [sys.executable, "-c", holder, str(file)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as child:
        assert child.stdout is not None
        child.stdout.readline()
        refused = lua.eval("lfs.lock(f, 'w')")
        child.communicate("\n", timeout=30)
    assert refused == (None, "Resource temporarily unavailable")
    assert lua.eval("lfs.lock(f, 'w', 0, 2)") is True
    assert lua.eval("lfs.unlock(f)") is True
    lua.execute("f:close()")
    with pytest.raises(bridge.LuaError, match="lock: closed file"):
        lua.eval("lfs.lock(f, 'w')")


def test_a_directory_is_locked_once(lua: bridge.Lua, tmp_path: Path) -> None:
    lua.execute("lock = lfs.lock_dir(...)", str(tmp_path))
    assert lua.execute("return lfs.lock_dir(...)", str(tmp_path)) == (None, "File exists")
    lua.execute("lock:free()")
    assert list(tmp_path.iterdir()) == []


def test_modes_are_all_binary(lua: bridge.Lua) -> None:
    assert lua.eval("lfs.setmode(io.stdout, 'text')") == (True, "binary")
