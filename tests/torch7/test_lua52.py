"""What LuaJIT's manual names for LUAJIT_ENABLE_LUA52COMPAT, which Torch7's LuaJIT was built with."""

from __future__ import annotations

import pytest

import bridge

CHUNKS: list[tuple[str, object]] = [
    # statements
    ("for i = 1, 3 do if i == 2 then break; i = 9 end end return 1", 1),
    ("while true do break local x = 1 end return 'out'", "out"),
    (";;; local x = 4;; do ; end if x then ; else ; end repeat ; until true ; return x;", 4),
    ("local function f(a) ; return a end; return f(2)", 2),
    ("local function f(x) return x end\nlocal y = f\n(7)\nreturn y", 7),
    ("local t = {f = {function(x) return x end}};;\nlocal y = t.f[1] -- why\n(7)\nreturn y", 7),
    ("local s = 'break ;;' ;; -- break ;;\n return s .. [[;; break]], #{1, 2}", ("break ;;;; break", 2)),
    ("for i = 1, 3 do for j = 1, 3 do if j == 2 then goto continue end end ::continue:: ; end return 1", 1),
    # metamethods
    ("return #setmetatable({}, {__len = function() return 5 end})", 5),
    ("return rawlen{1, 2}, rawlen'abc'", (2, 3)),
    ("return pairs(setmetatable({}, {__pairs = function() return 1, 2, 3, 4 end}))", (1, 2, 3)),
    ("return ipairs(setmetatable({}, {__ipairs = function() return 1, 2, 3, 4 end}))", (1, 2, 3)),
    # coroutines
    ("local main, is = coroutine.running() return type(main), is", ("thread", True)),
    ("local m = coroutine.running() return (coroutine.running()) == m", True),
    ("return coroutine.wrap(function() return select(2, coroutine.running()) end)()", False),
    ("return coroutine.wrap(function() return pcall(function() coroutine.yield(1) end) end)()", 1),
    # tables and strings
    ("local p = table.pack(1, nil, nil) return p.n, p[1], p[2]", (3, 1, None)),
    ("return table.unpack({1, 2, 3}, 2)", (2, 3)),
    ("return ('a'):rep(3, ','), ('a'):rep(1, ','), ('a'):rep(0, ',')", ("a,a,a", "a", "")),
    ("return string.gfind, math.mod", (None, None)),
    ("return math.log(8, 2), math.log(1)", (3, 0)),
    # loading
    ("return load('return x', 'c', 't', {x = 4})()", 4),
    ("return load('return 1', 'c', 'b')", (None, "attempt to load chunk with wrong mode")),
    ("local p = {'return ', '5;;'} local i = 0 return load(function() i = i + 1 return p[i] end)()", 5),
    ("return xpcall(function(...) return select('#', ...) end, debug.traceback, 1, nil, nil)", (True, 3)),
    ("return package.searchers == package.loaders", True),
    ("local m = module('a52module', package.seeall) return m == a52module and m.type == type", True),
    # files and commands
    ("local f = io.tmpfile() return f:write('a', 1) == f", True),
    ("return io.popen('exit 3'):close()", (None, "exit", 3)),
    ("return io.popen('true'):close()", (True, "exit", 0)),
    ("return io.popen('kill -9 $$'):close()", (None, "signal", 9)),
    ("return io.close(io.popen('exit 2'))", (None, "exit", 2)),
    ("local p = io.popen('read x; exit $x', 'w') p:write('4\\n') return p:close()", (None, "exit", 4)),
    ("local p = io.popen('true') p:close() return io.type(p)", "closed file"),
    ("return io.tmpfile():close()", True),
    ("return os.execute()", True),
    ("return os.execute('exit 5')", (None, "exit", 5)),
    ("return os.execute('kill -9 $$')", (None, "signal", 9)),
    # debug
    ("local t = {} return debug.setmetatable(t, {}) == t", True),
    ("local u = newproxy() return debug.setuservalue(u, {x = 1}) == u, debug.getuservalue(u).x", (True, 1)),
    ("return debug.getuservalue({})", None),
]


@pytest.mark.parametrize(("chunk", "results"), CHUNKS)
def test_the_language_has_what_lua_52_added(lua: bridge.Lua, chunk: str, results: object) -> None:
    assert lua.execute(chunk) == results


def test_a_module_sees_only_itself_unless_it_asks(lua: bridge.Lua) -> None:
    names = lua.execute("local r = rawget local m = module('b52') x = 3 return x, print, _NAME, m == _M")
    assert names == (3, None, "b52", True)
    assert lua.eval("b52.x, rawget(_G, 'x')") == (3, None)


LINES: list[tuple[str, list[object]]] = [
    ("'*n', '*l'", [[12, " abc"], [3.5, ""]]),
    ("'*L'", [["12 abc\n"], ["3.5\n"]]),
    ("4, 2", [["12 a", "bc"], ["\n3.5", "\n"]]),
    ("", [["12 abc"], ["3.5"]]),
]


@pytest.mark.parametrize("call", ["io.lines(name{})", "io.open(name):lines({})"])
@pytest.mark.parametrize(("formats", "lines"), LINES)
def test_lines_come_in_the_formats_asked_for(
    lua: bridge.Lua, call: str, formats: str, lines: list[object]
) -> None:
    asked = f", {formats}" if formats and "name{}" in call else formats
    code = f"""
    local name = os.tmpname()
    io.open(name, 'w'):write('12 abc\\n3.5\\n'):close()
    local lines = {{}}
    for a, b in {call.format(asked)} do lines[#lines + 1] = {{a, b}} end
    os.remove(name)
    return lines
    """
    assert lua.execute(code) == lines


def test_a_chunk_that_stays_wrong_is_refused_in_its_own_words(lua: bridge.Lua) -> None:
    with pytest.raises(bridge.LuaError, match=r"code:2: unexpected symbol near '='"):
        lua.execute("assert(load(';;\\nx = = 3', '=code'))")


def test_lines_of_errors_are_those_of_the_source(lua: bridge.Lua) -> None:
    with pytest.raises(bridge.LuaError, match=r"code:4: here"):
        lua.execute("assert(load(';;\\nlocal f = type\\n(3)\\nerror(\"here\")', '=code'))()")


def test_a_pipe_is_closed_once(lua: bridge.Lua) -> None:
    with pytest.raises(bridge.LuaError, match="attempt to use a closed file"):
        lua.execute("local p = io.popen('true') p:close() p:close()")
