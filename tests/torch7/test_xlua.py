"""The xlua package: the progress bar, named arguments, options, what it adds to string and table."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import bridge

EXPRESSIONS: list[tuple[str, Any]] = [
    ("('a b  c'):split(' ')", ["a", "b", "", "c"]),
    ("('a,b;c'):split('[,;]')", ["a", "b", "c"]),
    ("(' a  b '):split()", ["a", "b"]),
    ("(''):split(',')", []),
    ("('a^b'):split('^')", ["a", "b"]),
    ("(',a'):split(',')", ["a"]),
    ("('a,'):split(',')", ["a"]),
    ("('a1b22c'):split('%d+')", ["a", "b", "c"]),
    ("('  x '):strip()", "x"),
    ("('table.concat'):tosymbol() == table.concat", True),
    ("xlua.formatTime(0)", "0ms"),
    ("xlua.formatTime(0.029)", "29ms"),
    ("xlua.formatTime(3725.5)", "1h2m"),
    ("xlua.formatTime(90061)", "1D1h"),
    ("xlua.formatTime(2.3)", "2s299ms"),
    ("xlua.formatTime(1.005)", "1s4ms"),
    ("xlua.table2string{1, 'x\"y', {z = true}}", "{1,'x\"y',{z=true}}"),
    ("xlua.table2string({a = 1}, true)", "{\n   a : 1\n}"),
    ("table.splice({1, 2, 3, 4}, 2, 2)", ([1, 4], [2, 3])),
    ("table.prune({2, 2, 2})", [2]),
    ("table.prune({1, 3}, function(x) return x % 2 end, function(a, b) return a + b end)", [4]),
    ("(xlua.installed('paths'))", True),
    ("(xlua.installed('no.such.package'))", False),
]

ARGUMENTS = (
    "{arg = 'x', type = 'number', help = 'left', req = true}, {arg = 'y', type = 'number', default = 3}"
)


@pytest.fixture(scope="module")
def lua() -> Iterator[bridge.Lua]:
    with bridge.Lua() as state:
        state.require("xlua")
        yield state


@pytest.mark.parametrize(("expression", "value"), EXPRESSIONS)
def test_expressions(lua: bridge.Lua, expression: str, value: Any) -> None:
    assert lua.eval(expression) == value


@pytest.mark.parametrize("separator", ["", "x*"])
def test_a_separator_that_matches_nothing_is_refused(lua: bridge.Lua, separator: str) -> None:
    with pytest.raises(bridge.LuaError, match="the separator is empty"):
        lua.execute("return ('a'):split(...)", separator)


@pytest.mark.parametrize("given", ["{1}", "{{x = 1}}", "{1, 3}", "{{y = 3, x = 1}}"])
def test_arguments_come_by_position_or_name(lua: bridge.Lua, given: str) -> None:
    values = lua.execute(
        f"local _, x, y = xlua.unpack({given}, 'f', 'adds', {ARGUMENTS}) return x, y, _.x, _[2]"
    )
    assert values == (1, 3, 1, 3)


@pytest.mark.parametrize(("given", "said"), [("{}", "usage:"), ("{{y = 1}}", "missing argument: x")])
def test_what_is_missing_is_an_error(
    lua: bridge.Lua, capsys: pytest.CaptureFixture[str], given: str, said: str
) -> None:
    with pytest.raises(bridge.LuaError, match="error"):
        lua.execute(f"xlua.unpack({given}, 'f', 'adds', {ARGUMENTS})")
    assert said in capsys.readouterr().out


def test_usage_lists_the_arguments(lua: bridge.Lua) -> None:
    text = re.sub("\x1b\\[[0-9;]*m", "", lua.eval(f"xlua.usage('f', 'adds', 'f(1)', {ARGUMENTS})"))
    assert text.splitlines()[1:-1] == [
        "f",
        "",
        "adds",
        "",
        "> usage:",
        "f{",
        "    x = number                          -- left",
        "    [y = number]                        --   [default = 3]",
        "}",
        "",
        "f(1)",
    ]


def test_the_bar_fills_and_ends_its_line(capsys: pytest.CaptureFixture[str]) -> None:
    with bridge.Lua() as state:
        state.execute(
            "require 'xlua' os.getenv = function() return nil end xlua.progress(1, 2) xlua.progress(2, 2)"
        )
    first, last = capsys.readouterr().out.split("\r\r")
    assert first.startswith(f" [{'=' * 22}>{'.' * 23}] ")
    assert " ETA: 0ms | Step: 0ms" in first
    assert first.endswith("\b 1/2 ")
    assert last.startswith(f" [{'=' * 45}>] ")
    assert " Tot: " in last
    assert last.endswith(" 2/2 \n\r")


def test_a_finished_bar_is_drawn_no_more_until_a_new_one_begins(capsys: pytest.CaptureFixture[str]) -> None:
    with bridge.Lua() as state:
        state.execute("require 'xlua' xlua.progress(2, 2)")
        capsys.readouterr()
        state.execute("xlua.progress(2, 2)")
        assert capsys.readouterr().out == "\r"
        state.execute("xlua.progress(1, 2)")
        assert "1/2" in capsys.readouterr().out


def test_environment_variables_replace_defaults(lua: bridge.Lua, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {"rate": "0.5", "fast": "false", "name": "x"}.items():
        monkeypatch.setenv(f"xlua_{name}", value)
    found = lua.eval("xlua.envparams{xlua_rate = 1, xlua_fast = true, xlua_name = 'y', xlua_other = 2}")
    assert found == {"xlua_rate": 0.5, "xlua_fast": False, "xlua_name": "x", "xlua_other": 2}
    monkeypatch.setenv("xlua_rate", "fast")
    with pytest.raises(bridge.LuaError, match='xlua_rate must be a number, got "fast"'):
        lua.eval("xlua.envparams{xlua_rate = 1}")


def test_options_are_parsed(lua: bridge.Lua) -> None:
    options, rest = lua.execute("""
        arg = {[0] = 'script.lua', '-n', '3', '--name=x', 'file', '--fast'}
        local parser = xlua.OptionParser('%prog [options]')
        parser:option{'-n', dest = 'n', help = 'a number'}
        parser:option{'--name', dest = 'name', help = 'a name'}
        parser:option{'--fast', action = 'store_true', dest = 'fast', help = 'hurry'}
        parser:option{'--size', dest = 'size', default = 7, help = 'a size'}
        local options, rest = parser:parse()
        return options, rest
    """)
    assert options == {"n": "3", "name": "x", "fast": True, "size": 7, "__main__": True}
    assert rest == ["file"]


def test_a_wrong_option_shows_the_help_and_ends(lua: bridge.Lua, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        lua.execute("""
            arg = {[0] = 'script.lua', '--wrong'}
            local parser = xlua.OptionParser('%prog [options]')
            parser:option{'-n', '--number', dest = 'n', default = 1, help = 'a number'}
            parser:parse()
        """)
    said = capsys.readouterr()
    assert ended.value.code == 1
    assert said.err == "invalid option --wrong\n"
    assert said.out.splitlines() == [
        "Usage: script.lua [options]",
        "",
        "Options:",
        "  -h, --help        show this help message and exit",
        "  -n N, --number=N  a number [default = 1]",
    ]


def test_a_profiler_measures_and_reports(lua: bridge.Lua, capsys: pytest.CaptureFixture[str]) -> None:
    real = lua.execute("""
        local p = xlua.Profiler()
        p:start('nap')
        sys.sleep(0.02)
        local real = p:lap('nap')
        p:printAll()
        return real
    """)
    assert 0.02 <= real < 5
    report = r"\$ profiler report:\n\$ real 0\.0\d+ \| cpu \d\.\d+ <nap>\n"
    assert re.fullmatch(report, capsys.readouterr().out)
    with pytest.raises(bridge.LuaError, match="no such profiler - other"):
        lua.execute("xlua.Profiler():lap('other')")


def test_a_profiler_with_fps_reports_turns_per_second(lua: bridge.Lua) -> None:
    code = "p = xlua.Profiler() p:start('x', 'fps') p.list[1].reald, p.list[1].cpud = 0.5, 0.25 return p:formatAll()"
    assert lua.execute(code) == "$ profiler report:\n$ real 0.500000 | cpu 0.250000 <x> = 2.000000 fps"


def test_xprint_shows_the_first_value_and_prints_the_rest(capsys: pytest.CaptureFixture[str]) -> None:
    with bridge.Lua() as state:
        state.execute("require 'xlua' xprint({1}, {} == nil, 'x')")
    assert capsys.readouterr().out == "{[1] = 1}    false\tx\n"


def test_a_log_may_be_appended_to(tmp_path: Path) -> None:
    for _ in range(2):
        with bridge.Lua() as state:
            state.execute("require 'xlua' xlua.log(..., true) print('line')", str(tmp_path / "log"))
    assert (tmp_path / "log").read_text() == "line\nline\n"


def test_globals_are_cleared() -> None:
    with bridge.Lua() as state:
        state.execute("require 'xlua' a, b = 1, 2 xlua.clear('a')")
        assert state.eval("a == nil and b == 2") is True
        state.execute("xlua.clearall()")
        assert state.eval("b == nil and xlua ~= nil and print ~= nil") is True


def test_a_missing_package_is_reported_not_raised(
    lua: bridge.Lua, capsys: pytest.CaptureFixture[str]
) -> None:
    assert lua.eval("xlua.require('no.such.package')") is False
    assert "warning: <no.such.package> could not be loaded" in capsys.readouterr().out


@pytest.mark.slow
def test_a_log_gets_what_is_printed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with bridge.Lua() as state:
        state.execute(
            "require 'xlua' xlua.log(...) print('seen') io.write('x')", str(tmp_path / "logs" / "log")
        )
    assert capsys.readouterr().out == "seen\nx"
    assert (tmp_path / "logs" / "log").read_text() == "seen\nx"
