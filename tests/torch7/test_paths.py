"""The paths package: names, directories, the system, files that find their neighbours."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import bridge

EXPRESSIONS: list[tuple[str, Any]] = [
    ("paths.basename('/a/b.lua')", "b.lua"),
    ("paths.basename('/a/b.lua', 'lua')", "b"),
    ("paths.basename('/a/b.lua', '.lua')", "b"),
    ("paths.basename('/a/blua', 'lua')", "blua"),
    ("paths.basename('/a/b/')", "b"),
    ("paths.basename('/')", ""),
    ("paths.basename(12)", "12"),
    ("paths.dirname('/a/b.lua')", "/a"),
    ("paths.dirname('b.lua')", "."),
    ("paths.dirname('/a')", "/"),
    ("paths.dirname('/')", "/"),
    ("paths.dirname('a/b/')", "a"),
    ("paths.extname('/a.b/c.t7')", "t7"),
    ("paths.extname('/a.b/c')", "b/c"),
    ("paths.extname('c')", None),
    ("paths.concat('/a', 'b', '../c')", "/a/c"),
    ("paths.concat('/a', '/b')", "/b"),
    ("paths.concat('/a', './b//c', 3)", "/a/b/c/3"),
    ("paths.concat('/..')", "/"),
    ("paths.is_win()", None),
    ("paths.is_mac()", None),
    ("paths.findprogram('no-such-program', 'sh') ~= nil", True),
    ("paths.findprogram('no-such-program')", None),
    ("paths.dir('/no/such/directory')", None),
    ("paths.files('/no/such/directory')()", None),
]

FAILURES: list[tuple[str, str]] = [
    ("paths.basename()", r"bad argument #1 to 'basename' \(string expected, got nil\)"),
    ("paths.concat('a', {})", r"bad argument #2 to 'concat' \(string expected, got table\)"),
    ("paths.dirp()", r"bad argument #1 to 'dirp' \(string expected, got no value\)"),
    ("paths.files('.', 3)", r"Expecting optional arg 2 to be function or string. Got : number"),
    ("paths.getregistryvalue()", "This function exists only on windows"),
]


@pytest.fixture(scope="module")
def lua() -> Iterator[bridge.Lua]:
    with bridge.Lua() as state:
        state.require("paths")
        yield state


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    (tmp_path / "a.txt").touch()
    (tmp_path / "b.lua").touch()
    (tmp_path / "inner" / "deep").mkdir(parents=True)
    (tmp_path / "inner" / "c.txt").touch()
    return tmp_path


def collected(lua: bridge.Lua, call: str, *arguments: str) -> list[str]:
    code = f"local all = {{}} for name in {call} do table.insert(all, name) end return all"
    return sorted(lua.execute(code, *arguments))


@pytest.mark.parametrize(("expression", "value"), EXPRESSIONS)
def test_expressions(lua: bridge.Lua, expression: str, value: Any) -> None:
    assert lua.eval(expression) == value


@pytest.mark.parametrize(("expression", "message"), FAILURES)
def test_failures(lua: bridge.Lua, expression: str, message: str) -> None:
    with pytest.raises(bridge.LuaError, match=message):
        lua.eval(expression)


def test_the_working_directory_is_known(lua: bridge.Lua) -> None:
    assert lua.eval("paths.cwd()") == str(Path.cwd())
    assert lua.eval("paths.concat('x')") == str(Path.cwd() / "x")


def test_uname_is_what_the_system_says(lua: bridge.Lua) -> None:
    system = os.uname()
    assert lua.eval("paths.uname()") == (system.sysname, system.nodename, system.machine)


def test_execdir_is_where_the_program_lies(lua: bridge.Lua) -> None:
    assert Path(lua.eval("paths.execdir()")).resolve() == Path(sys.executable).parent.resolve()


def test_files_and_directories_are_told_apart(lua: bridge.Lua, tree: Path) -> None:
    tell = lua.eval("function(p) return paths.filep(p), paths.dirp(p) end")
    assert tell(str(tree / "a.txt")) == (True, False)
    assert tell(str(tree)) == (False, True)
    assert tell(str(tree / "no")) == (False, False)


def test_a_listing_has_everything(lua: bridge.Lua, tree: Path) -> None:
    assert sorted(lua.execute("return paths.dir(...)", str(tree))) == [".", "..", "a.txt", "b.lua", "inner"]


def test_iterators_choose(lua: bridge.Lua, tree: Path) -> None:
    assert collected(lua, "paths.iterfiles(...)", str(tree)) == ["a.txt", "b.lua"]
    assert collected(lua, "paths.iterdirs(...)", str(tree)) == ["inner"]
    assert collected(lua, "paths.files((...), '%.lua$')", str(tree)) == ["b.lua"]
    choice = "paths.files((...), function(name) return #name == 5 end)"
    assert collected(lua, choice, str(tree)) == ["a.txt", "b.lua", "inner"]


def test_mkdir_makes_what_lies_above_and_says_what_is_wrong(lua: bridge.Lua, tmp_path: Path) -> None:
    made = tmp_path / "x" / "y"
    assert lua.execute("return paths.mkdir(...)", str(made)) is True
    assert made.is_dir()
    assert lua.execute("return paths.mkdir(...)", str(made)) == (None, f"{made}: File exists", 17)


def test_rmdir_removes_only_what_is_empty(lua: bridge.Lua, tree: Path) -> None:
    inner = tree / "inner"
    assert lua.execute("return paths.rmdir(...)", str(inner)) == (None, f"{inner}: Directory not empty", 39)
    assert lua.execute("return paths.rmdir(...)", str(inner / "deep")) is True
    assert not (inner / "deep").exists()


def test_rmall_needs_a_yes_and_stops_at_links(lua: bridge.Lua, tree: Path) -> None:
    (tree / "inner" / "link").symlink_to(tree / "a.txt")
    (tree / "other").mkdir()
    (tree / "other" / "kept").touch()
    (tree / "inner" / "directory").symlink_to(tree / "other")
    inner = str(tree / "inner")
    assert lua.execute("return paths.rmall(...)", inner) == (None, "missing second argument ('yes')")
    assert lua.execute("return paths.rmall((...), 'yes')", inner) is True
    assert sorted(path.name for path in tree.rglob("*")) == ["a.txt", "b.lua", "kept", "other"]
    assert lua.execute("return paths.rmall((...), 'yes')", inner) == (None, "not a file or directory", inner)


def test_temporary_files_go_with_the_state() -> None:
    with bridge.Lua() as state:
        name = Path(state.execute("require 'paths' return paths.tmpname()"))
        name.write_text("x")
    assert not name.exists()


def test_a_file_knows_itself_and_its_neighbours(lua: bridge.Lua, tmp_path: Path) -> None:
    (tmp_path / "me.lua").write_text("local a, b = paths.thisfile(), paths.thisfile('other') return a, b")
    found = lua.execute("local a, b = dofile(...) return a, b", str(tmp_path / "me.lua"))
    assert found == (str(tmp_path / "me.lua"), str(tmp_path / "other"))


def test_dofile_looks_beside_the_file_that_calls_it(lua: bridge.Lua, tmp_path: Path) -> None:
    (tmp_path / "me.lua").write_text("local value = paths.dofile('other.lua') return value")
    (tmp_path / "other.lua").write_text("return 'beside'")
    assert lua.execute("local value = dofile(...) return value", str(tmp_path / "me.lua")) == "beside"
