"""Lua packages that were installed as Python packages are: `require` finds them where Python looks."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import bridge


@pytest.fixture
def places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory where Python looks for packages, with the package `tidal` in it, which has Lua files alone."""
    package = tmp_path / "site" / "tidal"
    package.mkdir(parents=True)
    (package / "init.lua").write_text("return {name = 'tidal', at = require 'tidal.inner.moon'}")
    (package / "inner").mkdir()
    (package / "inner" / "moon.lua").write_text("return 'moon ' .. tostring(pairs)")
    (tmp_path / "site" / "dry").mkdir()
    (tmp_path / "site" / "dry" / "__init__.py").touch()
    monkeypatch.syspath_prepend(tmp_path / "site")
    return package.parent


@pytest.fixture
def lua(places: Path) -> Iterator[bridge.Lua]:
    assert places.is_dir()
    with bridge.Lua() as state:
        yield state


def test_a_package_is_found(lua: bridge.Lua) -> None:
    assert lua.eval("require('tidal').name") == "tidal"


def test_a_module_of_a_package_is_found_first(lua: bridge.Lua) -> None:
    assert str(lua.eval("require 'tidal.inner.moon'")).startswith("moon ")


def test_a_package_is_found_when_a_program_has_a_path_of_its_own(lua: bridge.Lua) -> None:
    assert lua.execute("package.path = '?.lua' return require('tidal').name") == "tidal"


def test_a_package_keeps_the_standard_functions(lua: bridge.Lua) -> None:
    code = "pairs = nil local found = require('tidal') return found.at, pairs"
    at, pairs = lua.execute(code)
    assert (at.startswith("moon function"), pairs) == (True, None)


def test_a_thread_finds_it(lua: bridge.Lua) -> None:
    code = """
    local threads = require 'threads'
    local pool = threads.Threads(1)
    local found
    pool:addjob(function() return require('tidal').name end, function(name) found = name end)
    pool:synchronize()
    pool:terminate()
    return found
    """
    assert lua.execute(code) == "tidal"


def test_what_lies_on_the_path_comes_first(places: Path, tmp_path: Path) -> None:
    assert places.is_dir()
    (tmp_path / "tidal.lua").write_text("return {name = 'my own'}")
    with bridge.Lua(path=[tmp_path]) as lua:
        assert lua.eval("require('tidal').name") == "my own"


@pytest.mark.parametrize(
    "name", ["tidal.missing", "dry", "dry.moon", "tidal/inner", "", "\udcff", "__main__"]
)
def test_what_is_no_lua_file_is_not_found(lua: bridge.Lua, name: str) -> None:
    with pytest.raises(bridge.LuaError, match=r"module '.*' not found"):
        lua.execute("require(...)", name.encode(errors="surrogateescape"))


def test_torch_and_xlua_know_where_it_is(lua: bridge.Lua, places: Path) -> None:
    lua.require("torch")
    lua.require("xlua")
    assert lua.eval("torch.packageLuaPath('tidal')") == str(places / "tidal")
    assert lua.eval("xlua.installed('tidal')") == (True, str(places / "tidal" / "init.lua"))
    assert lua.eval("xlua.installed('dry')")[0] is False


def test_where_python_looks_is_not_on_the_path(lua: bridge.Lua) -> None:
    templates = lua.eval("package.path").split(";")
    assert f"{Path(bridge.__file__).parents[1]}/?.lua" not in templates
