"""What torch tells of the world around a program: packages, files beside it, environments, terminals."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import bridge

PACKAGES = Path(bridge.__file__).parent / "torch7"

EXPRESSIONS: list[tuple[str, Any]] = [
    ("torch.packageLuaPath('torch')", str(PACKAGES / "torch")),
    ("torch.packageLuaPath()", str(PACKAGES)),
    ("torch.packageLuaPath('no.such')", None),
    ("torch.getenv(function() end) == _G", True),
    ("torch.version(torch.Tensor())", 1),
    ("torch.version(torch.Timer())", 1),
    ("torch.version({})", None),
    ("torch.isequal(torch, torch)", True),
    ("torch.isequal({}, {})", False),
    ("torch.isequal(torch.pi, torch.pi)", True),
    ("select('#', torch.updateerrorhandlers())", 0),
    ("select('#', torch.updatethreadlocals())", 0),
    ("torch.isatty(io.tmpfile())", False),
]


@pytest.mark.parametrize(("expression", "value"), EXPRESSIONS)
def test_expressions(lua: bridge.Lua, expression: str, value: Any) -> None:
    assert lua.eval(expression) == value


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("torch.getenv({})", "bad argument #1 to 'getenv' (function or userdata expected, got table)"),
        ("torch.setenv(print, 5)", "bad argument #2 to 'setenv' (table expected, got number)"),
        ("torch.isatty(5)", "bad argument #1 to 'isatty' (FILE* expected, got number)"),
        ("local f = io.tmpfile() f:close() torch.isatty(f)", "(FILE* expected, got closed file)"),
        ("torch.include('no.such', 'a.lua')", "there is no package 'no.such' on package.path"),
    ],
)
def test_what_cannot_be_is_told(lua: bridge.Lua, code: str, message: str) -> None:
    with pytest.raises(bridge.LuaError) as raised:
        lua.execute(code)
    assert message in raised.value.message


def test_torch_brings_the_global_paths(lua: bridge.Lua) -> None:
    assert lua.eval("paths == require 'paths' and type(paths.dofile)") == "function"


def test_a_function_runs_in_the_environment_it_is_given(lua: bridge.Lua) -> None:
    assert lua.execute("local function f() return inside end torch.setenv(f, {inside = 7}) return f()") == 7


def test_a_file_of_a_package_is_included(lua: bridge.Lua, tmp_path: Path) -> None:
    (tmp_path / "pack").mkdir()
    (tmp_path / "pack" / "init.lua").write_text("")
    (tmp_path / "pack" / "more.lua").write_text("included = 5")
    lua.execute("package.path = ... .. '/?/init.lua;' .. package.path", str(tmp_path))
    assert lua.execute("torch.include('pack', 'more.lua') return included") == 5


def test_include_runs_the_file_beside_the_caller(lua: bridge.Lua, tmp_path: Path) -> None:
    (tmp_path / "main.lua").write_text("include('more.lua')")
    (tmp_path / "more.lua").write_text("included = 5")
    lua.execute("dofile(...)", str(tmp_path / "main.lua"))
    assert lua.included == 5
