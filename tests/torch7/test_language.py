"""The Lua that Torch7 programs were written for: `#` with `__len`, Lua 5.2's additions, loading."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import bridge

# An environment for expressions: `o` has a length of its own, `t` and `s` the usual one.
SETUP = """
o = setmetatable({1, 2}, {__len = function() return 42 end})
t = {1, 2, 3}
s = 'hello'
f = function(x) return type(x) == 'table' and x or {1, 2} end
T = {a = {o = o, t = {5}}, m = function(self, x) return {x, x} end}
"""

EXPRESSIONS: list[tuple[str, Any]] = [
    ("#o", 42),
    ("# o", 42),
    ("#--[[c]]o", 42),
    ("#t", 3),
    ("#s", 5),
    ('#"abc"', 3),
    ("#'a\\'#'", 3),
    ("#[==[a]]#]==]", 4),
    ("#{1, #o, #t}", 3),
    ("({#o, #t; #s})[3]", 5),
    ("##t", "error"),
    ("-#o", -42),
    ("#-t", "error"),
    ("not #o", False),
    ("#o + #t * 2", 48),
    ("#o..#t", "423"),
    ("2^#t", 8),
    ("-#t^2", "error"),
    ("2^-#t", 0.125),
    ("#o == 42 and #t or #s", 3),
    ("#T.a.o", 42),
    ("#T['a'].o", 42),
    ("#T . a --[[c]] . o", 42),
    ("#T:m(#o)", 2),
    ("#f{o}[1]", 42),
    ("#f'x'", 2),
    ("#f[[x]]", 2),
    ("#(o)", 42),
    ("#(function() return o end)()", 42),
    ("(function() local n = #o if n then return #o end end)()", 42),
    ("#(function() for i = 1, #o do repeat local x = #t until true end return o end)()", 42),
    ("(function(...) return #... end)(o)", 42),
    ("#string.rep('x', #o)", 42),
    ("'#o' .. #t", "#o3"),
    ("t[#t] + #t --[[ #o ]]", 6),
    ("0x1p4 + #t", 19),
    ("1e1 + #t", 13),
    ("#t - -#t", 6),
    ("f(#o)[#t] == nil", True),
]


@pytest.fixture
def env(lua: bridge.Lua) -> bridge.Lua:
    lua.execute(SETUP)
    return lua


@pytest.mark.parametrize(("expression", "value"), EXPRESSIONS)
def test_the_length_operator_honours_len_wherever_it_stands(
    env: bridge.Lua, expression: str, value: Any
) -> None:
    if value == "error":
        with pytest.raises(bridge.LuaError):
            env.eval(expression)
    else:
        assert env.eval(expression) == value


def _loaders(tmp_path: Path) -> dict[str, str]:
    (tmp_path / "lengths.lua").write_text("return #o")
    file = str(tmp_path / "lengths.lua")
    return {
        "load": "return load('return #o')()",
        "loadstring": "return loadstring('return #o')()",
        "load with a reader": "local p = {'return ', '#', 'o'} local i = 0 "
        "return load(function() i = i + 1 return p[i] end)()",
        "loadfile": f"return loadfile('{file}')()",
        "dofile": f"return dofile('{file}')",
        "require": f"package.path = '{tmp_path}/?.lua;' .. package.path return require 'lengths'",
    }


@pytest.mark.parametrize(
    "name", ["load", "loadstring", "load with a reader", "loadfile", "dofile", "require"]
)
def test_every_way_to_load_source_rewrites_it(env: bridge.Lua, tmp_path: Path, name: str) -> None:
    assert env.execute(_loaders(tmp_path)[name]) == 42


def test_a_first_line_that_starts_with_a_hash_is_left_out(env: bridge.Lua, tmp_path: Path) -> None:
    (tmp_path / "script.lua").write_text("#!/usr/bin/env th\nreturn #o")
    assert env.execute(f"return dofile('{tmp_path}/script.lua')") == 42


def test_lines_stay_where_they_are(env: bridge.Lua) -> None:
    code = "local a = #\no\nlocal b = #t\n\nerror('here')"
    with pytest.raises(bridge.LuaError, match=r"^\[string .*\]:5: here"):
        env.execute("local f = loadstring(...) f()", code)


def test_the_length_of_nothing_is_an_error_at_its_line(env: bridge.Lua) -> None:
    with pytest.raises(bridge.LuaError, match=r"^lengths:2: attempt to get length of a nil value"):
        env.execute("load('\\nreturn #nothing', '=lengths')()")


def test_calling_a_string_is_still_an_error(env: bridge.Lua) -> None:
    with pytest.raises(bridge.LuaError, match="attempt to call a string value"):
        env.execute("local s = 'x' return s(o)")


def test_a_functions_source_is_its_files_name(env: bridge.Lua, tmp_path: Path) -> None:
    (tmp_path / "lengths.lua").write_text("return function() return #o end")
    assert env.execute(f"return debug.getinfo(dofile('{tmp_path}/lengths.lua')).source") == (
        f"@{tmp_path}/lengths.lua"
    )


def test_a_loaded_strings_source_is_the_original_text(env: bridge.Lua) -> None:
    assert env.execute("return debug.getinfo(loadstring('return #o')).source") == "return #o"


def test_a_chunk_may_have_200_locals(env: bridge.Lua) -> None:
    code = "\n".join(f"local v{i} = {i}" for i in range(200)) + "\nreturn #o"
    assert env.execute("return loadstring(...)()", code) == 42


def test_a_function_may_have_60_upvalues(env: bridge.Lua) -> None:
    names = [f"v{i}" for i in range(60)]
    code = f"local {', '.join(names)}\nreturn function() local x = {' or '.join(names)} return #o end"
    assert env.execute("return loadstring(...)()()", code) == 42


def test_a_function_with_its_own_environment_measures_too(env: bridge.Lua) -> None:
    assert env.execute("return setfenv(loadstring('return #x'), {x = o})()") == 42


def test_replacing_the_string_library_changes_nothing(env: bridge.Lua) -> None:
    assert env.execute("getmetatable('').__index = function(s, i) return s end string = nil return #o") == 42


def test_bytecode_is_loaded_as_it_is(env: bridge.Lua) -> None:
    assert env.execute("return loadstring(string.dump(function() return #{1, 2} end))()") == 2


@pytest.mark.parametrize(
    "call",
    [
        "load('return 1')",
        "loadstring('return 1')",
        "loadstring(string.dump(function() end))",
        "loadfile(...)",
    ],
)
def test_a_chunk_is_the_only_result_of_loading_it(env: bridge.Lua, tmp_path: Path, call: str) -> None:
    (tmp_path / "one.lua").write_text("return 1")
    assert env.execute(f"return select('#', {call})", str(tmp_path / "one.lua")) == 1


def test_a_syntax_error_is_told_in_terms_of_the_source(env: bridge.Lua) -> None:
    message = env.execute("local f, m = loadstring('return #o +', '=code') return m")
    assert message == "code:1: unexpected symbol near '<eof>'"


def test_load_takes_an_environment(env: bridge.Lua) -> None:
    assert env.execute("return load('return #x', 'chunk', 't', {x = o})()") == 42


def test_load_reports_what_its_reader_raised(env: bridge.Lua) -> None:
    assert "boom" in env.execute("local f, m = load(function() error('boom') end) return m")


def test_loadfile_says_which_file_is_missing(env: bridge.Lua) -> None:
    assert env.execute("local f, m = loadfile('/no/such.lua') return m").startswith(
        "cannot open /no/such.lua"
    )


def test_require_finds_files_beside_the_working_directory(
    env: bridge.Lua, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "mine.lua").write_text("return {n = #o}")
    monkeypatch.chdir(tmp_path)
    assert env.execute("return require('./mine').n") == 42


ADDITIONS: list[tuple[str, Any]] = [
    ("table.pack(1, nil, 3).n", 3),
    ("select('#', table.unpack({1, nil, 3}, 1, 3))", 3),
    ("rawlen(o)", 2),
    ("rawlen('abc')", 3),
    ("os.execute('exit 3')", (None, "exit", 3)),
    (
        "(function() local f = io.tmpfile() return f:write('a', 1):write('b'):seek('set'), f:read('*a') end)()",
        (0, "a1b"),
    ),
    (
        (
            "(function() local f, old = io.tmpfile(), io.output() io.output(f) local g = io.write('') "
            "io.output(old) return g == f end)()"
        ),
        True,
    ),
    ("(function() local f = io.open('/dev/full', 'w') f:setvbuf('no') return (f:write('x')) end)()", None),
    ("os.execute('true')", (True, "exit", 0)),
    ("os.execute('kill -9 $$')", (None, "signal", 9)),
    ("os.execute()", True),
    ("package.searchers == package.loaders", True),
    ("bit32.band(0xff00, 0x0ff0)", 0x0F00),
    ("bit32.band()", 0xFFFFFFFF),
    ("bit32.bor(1, 2, 4)", 7),
    ("bit32.bxor(5, 1)", 4),
    ("bit32.bnot(0)", 0xFFFFFFFF),
    ("bit32.btest(3, 4)", False),
    ("bit32.lshift(1, 31)", 2147483648),
    ("bit32.lshift(1, 32)", 0),
    ("bit32.rshift(-1, 4)", 268435455),
    ("bit32.arshift(0x80000000, 4)", 0xF8000000),
    ("bit32.lrotate(0x80000001, 1)", 3),
    ("bit32.rrotate(1, 1)", 2147483648),
    ("bit32.extract(0xff00, 8, 4)", 15),
    ("bit32.replace(0, 5, 4, 4)", 80),
]


@pytest.mark.parametrize(("expression", "value"), ADDITIONS)
def test_lua_5_2_additions(env: bridge.Lua, expression: str, value: Any) -> None:
    assert env.eval(expression) == value


def test_writing_what_is_no_text_is_told(env: bridge.Lua) -> None:
    with pytest.raises(bridge.LuaError, match=r"bad argument #2 to 'write' \(string expected, got table\)"):
        env.execute("io.tmpfile():write('a', {})")


def test_a_global_named_next_changes_nothing(lua: bridge.Lua) -> None:
    code = """
    next = 'a program has its own'
    require 'nngraph'
    local x = nn.Identity()()
    local m = nn.gModule({x}, {nn.Linear(2, 2)(x)}):clone()
    return m:forward(torch.ones(1, 2)):nElement(), {{1}}
    """
    assert lua.execute(code) == (2, [[1]])


def test_pairs_asks_the_object_first(lua: bridge.Lua) -> None:
    code = """
    local function iterate(_, k) if not k then return 1, 'x' end end
    local p = setmetatable({}, {__pairs = function() return iterate end})
    local seen = {}
    for k, v in pairs(p) do seen[#seen + 1] = v end
    return seen
    """
    assert lua.execute(code) == ["x"]


def test_ipairs_asks_the_object_first(lua: bridge.Lua) -> None:
    code = """
    local function iterate(_, i) if i < 3 then return i + 1, i end end
    local p = setmetatable({}, {__ipairs = function() return iterate, 0, 0 end})
    local n = 0
    for i in ipairs(p) do n = n + i end
    return n
    """
    assert lua.execute(code) == 6


def test_pairs_of_nothing_names_what_came(lua: bridge.Lua) -> None:
    with pytest.raises(bridge.LuaError, match=r"bad argument #1 to 'pairs' \(table expected, got nil\)"):
        lua.execute("for k in pairs(nil) do end")


FORMATS: list[tuple[str, str]] = [
    ("'%f', 1e-300", "0.000000"),
    ("'%.4f %g', -1e-300, 1e-300", "-0.0000 1e-300"),
    ("'%s|%5.1f|%%|%e', 'x', 5e-324, 1e-200", "x|  0.0|%|1.000000e-200"),
    ("'%d %d %d %.2f', 1, 2, 3, 1e-160", "1 2 3 0.00"),
    ("'%.3f', 0.5", "0.500"),
    ("'%s %s', nil, true", "nil true"),
    ("'%-5s|%05d|%x|%q', 'a', 42, 255, 'q'", 'a    |00042|ff|"q"'),
]


@pytest.mark.parametrize(("arguments", "text"), FORMATS)
def test_format_prints_tiny_numbers_as_they_are(lua: bridge.Lua, arguments: str, text: str) -> None:
    assert lua.eval(f"string.format({arguments})") == text


def test_format_tells_its_errors_as_ever(lua: bridge.Lua) -> None:
    with pytest.raises(
        bridge.LuaError, match=r"^code:1: bad argument #2 to 'format' \(number expected, got nil\)"
    ):
        lua.execute("load('string.format(\"%d\", nil)', '=code')()")
