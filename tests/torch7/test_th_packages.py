"""The packages that th preloads: paths, sys, xlua."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import bridge

EXPRESSIONS: list[tuple[str, Any]] = [
    ("paths.basename('/a/b.lua')", "b.lua"),
    ("paths.basename('/a/b.lua', 'lua')", "b"),
    ("paths.basename('/a/b.lua', '.lua')", "b"),
    ("paths.basename('/a/b/')", "b"),
    ("paths.basename('/')", "/"),
    ("paths.dirname('/a/b.lua')", "/a"),
    ("paths.dirname('b.lua')", "."),
    ("paths.dirname('/a')", "/"),
    ("paths.dirname('a//b/')", "a"),
    ("paths.extname('/a.b/c.t7')", "t7"),
    ("paths.extname('/a.b/c')", None),
    ("paths.concat('/a', 'b', '../c')", "/a/c"),
    ("paths.concat('/a', '/b')", "/b"),
    ("paths.concat('/a', './b//c')", "/a/b/c"),
    ("paths.concat('/..')", "/"),
    ("paths.is_win()", False),
    ("('a b  c'):split(' ')", ["a", "b", "c"]),
    ("('a,b;c'):split('[,;]')", ["a", "b", "c"]),
    ("(' a  b '):split()", ["a", "b"]),
    ("(''):split(',')", []),
    ("('  x '):strip()", "x"),
    ("sys.execute('printf hello')", "hello"),
    ("sys.isNaN(0/0)", True),
]


@pytest.fixture(scope="module")
def packages() -> Iterator[bridge.Lua]:
    with bridge.Lua() as lua:
        lua.execute("require 'paths' require 'sys' require 'xlua'")
        yield lua


@pytest.mark.parametrize(("expression", "value"), EXPRESSIONS)
def test_expressions(packages: bridge.Lua, expression: str, value: Any) -> None:
    assert packages.eval(expression) == value


def test_the_working_directory_is_known(packages: bridge.Lua) -> None:
    assert packages.eval("paths.cwd()") == str(Path.cwd())
    assert packages.eval("paths.concat('x')") == str(Path.cwd() / "x")


def test_files_and_directories_are_told_apart(packages: bridge.Lua, tmp_path: Path) -> None:
    (tmp_path / "f").touch()
    tell = packages.eval("function(p) return paths.filep(p), paths.dirp(p) end")
    assert tell(str(tmp_path / "f")) == (True, False)
    assert tell(str(tmp_path)) == (False, True)
    assert tell(str(tmp_path / "no")) == (False, False)


def test_directories_are_made_and_removed(packages: bridge.Lua, tmp_path: Path) -> None:
    made = tmp_path / "made"
    assert packages.execute("return paths.mkdir(...)", str(made)) is True
    assert made.is_dir()
    assert packages.execute("return paths.rmdir(...)", str(made)) is True
    assert not made.exists()


def test_a_file_knows_itself_and_its_neighbours(packages: bridge.Lua, tmp_path: Path) -> None:
    (tmp_path / "me.lua").write_text("local a, b = paths.thisfile(), paths.thisfile('other') return a, b")
    found = packages.execute("local a, b = dofile(...) return a, b", str(tmp_path / "me.lua"))
    assert found == (str(tmp_path / "me.lua"), str(tmp_path / "other"))


def test_the_clock_is_the_wall_clock(packages: bridge.Lua) -> None:
    assert packages.eval("sys.clock()") == pytest.approx(time.time(), abs=1)


def test_tic_and_toc_measure_what_lies_between(packages: bridge.Lua) -> None:
    assert 0.05 <= packages.execute("sys.tic() sys.sleep(0.05) return sys.toc()") < 5


def test_an_empty_separator_is_refused(packages: bridge.Lua) -> None:
    with pytest.raises(bridge.LuaError, match="the separator is empty"):
        packages.eval("('a'):split('')")
