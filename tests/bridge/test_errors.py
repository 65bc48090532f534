"""Errors cross the border in both directions, with both tracebacks."""

from __future__ import annotations

import traceback

import pytest

import bridge


def test_a_lua_error_has_message_and_traceback(lua: bridge.Lua) -> None:
    with pytest.raises(bridge.LuaError) as caught:
        lua.execute("local function inner() error('broken') end\ninner()", name="=prog")
    assert caught.value.message == "prog:1: broken"
    assert "prog:1: in function 'inner'" in caught.value.traceback
    assert "prog:2: in main chunk" in caught.value.traceback
    assert caught.value.original is None


@pytest.mark.parametrize(
    ("code", "message", "value"),
    [
        ("error{code = 7, message = 'told'}", "told", {"code": 7, "message": "told"}),
        ("error{code = 7}", "code", {"code": 7}),
        ("error{1, 2}", r"\[1, 2\]", [1, 2]),
        ("error(5)", "5", "(python):1: 5"),
        ("error(5, 0)", "5", 5),
        ("error(true)", "True", True),
        ("error(nil)", "None", None),
        ("error()", "None", None),
        ("error('\\255', 0)", r"\\xff", b"\xff"),
    ],
)
def test_an_error_with_a_value_keeps_it(lua: bridge.Lua, code: str, message: str, value: object) -> None:
    with pytest.raises(bridge.LuaError, match=message) as caught:
        lua.execute(code)
    assert caught.value.value == value


def test_a_python_exception_comes_back_itself(lua: bridge.Lua) -> None:
    failure = KeyError("lost")

    def fail() -> None:
        raise failure

    with pytest.raises(bridge.LuaError, match="KeyError: 'lost'") as caught:
        lua.execute("local f = ... f()", fail)
    assert caught.value.original is failure
    assert caught.value.__cause__ is failure
    text = "".join(traceback.format_exception(caught.value))
    assert "in fail" in text
    assert "in main chunk" in text


def test_lua_catches_a_python_exception_and_reads_its_message(lua: bridge.Lua) -> None:
    def fail() -> None:
        raise ValueError("bad value 3")

    ok, found, text = lua.execute(
        "local ok, e = pcall(...) return ok, e:match('value %d'), 'got ' .. tostring(e)", fail
    )
    assert (ok, found, text) == (False, "value 3", "got bad value 3")


def test_an_error_goes_through_several_borders(lua: bridge.Lua) -> None:
    def middle() -> None:
        lua.execute("error('deep')")

    with pytest.raises(bridge.LuaError, match="deep") as caught:
        lua.execute("(...)()", middle)
    assert isinstance(caught.value.original, bridge.LuaError)


def test_infinite_recursion_in_lua_is_an_error(lua: bridge.Lua) -> None:
    with pytest.raises(bridge.LuaError, match="stack overflow"):
        lua.execute("local function f() return 1 + f() end f()")
    assert lua.eval("1") == 1


def test_infinite_recursion_across_the_border_is_an_error(lua: bridge.Lua) -> None:
    def again() -> None:
        lua.globals["f"](again)

    lua.execute("function f(g) g() end")
    with pytest.raises((bridge.LuaError, RecursionError)):
        again()
    assert lua.eval("1") == 1


def test_a_bad_argument_changes_nothing(lua: bridge.Lua) -> None:
    lua.execute("n = 0 function count() n = n + 1 end")
    with pytest.raises(OverflowError):
        lua.globals["count"](1, 2**53 + 1)
    assert lua.eval("n") == 0


def test_a_callback_gets_its_errors_about_results(lua: bridge.Lua) -> None:
    with pytest.raises(bridge.LuaError, match="exact double"):
        lua.eval("(...)()", lambda: 2**53 + 1)


@pytest.mark.parametrize("exception", [SystemExit, KeyboardInterrupt, GeneratorExit])
def test_an_exception_that_must_not_be_lost_passes_pcall(
    lua: bridge.Lua, exception: type[BaseException]
) -> None:
    def leave() -> None:
        raise exception

    with pytest.raises(exception):
        lua.execute("local f = ... while true do pcall(f) end", leave)
    assert lua.eval("1") == 1


@pytest.mark.parametrize(("argument", "code"), [("", 0), ("3", 3), ("true", 0), ("false", 1)])
def test_os_exit_is_system_exit(lua: bridge.Lua, argument: str, code: int) -> None:
    with pytest.raises(SystemExit) as caught:
        lua.execute(f"os.exit({argument})")
    assert caught.value.code == code


def test_memory_that_lua_cannot_get_is_an_error(lua: bridge.Lua) -> None:
    with pytest.raises(bridge.LuaError):
        lua.execute("local s = ('x'):rep(2^31 - 10) return s .. s .. s")
    assert lua.eval("1") == 1
