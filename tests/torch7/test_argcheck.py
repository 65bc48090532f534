"""The argcheck package: rules, defaults, named arguments, overloading, and what it says of a wrong call."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

import bridge

ADD = "{name = 'x', type = 'number', default = 0, help = 'the age'}, {name = 'msg', type = 'string'}"


@pytest.fixture(scope="module")
def lua() -> Iterator[bridge.Lua]:
    with bridge.Lua() as state:
        state.execute("argcheck = require 'argcheck'")
        yield state


@pytest.mark.parametrize(
    ("rules", "call", "result"),
    [
        (ADD, "(5, 'a')", (5, "a")),
        (ADD, "('a')", (0, "a")),
        (ADD, "(nil, 'a')", (0, "a")),
        (ADD, "{x = 5, msg = 'a'}", (5, "a")),
        (ADD, "{msg = 'a'}", (0, "a")),
        ("{name = 'x', type = 'number'}, {name = 'y', type = 'number', defaulta = 'x'}", "(3)", (3, 3)),
        ("{name = 'x', type = 'number'}, {name = 'y', type = 'number', defaulta = 'x'}", "(3, 4)", (3, 4)),
        ("{name = 'x', type = 'number', defaultf = function() return 9 end}", "()", 9),
        ("{name = 'x', type = 'number', opt = true}, {name = 's', type = 'string'}", "('a')", (None, "a")),
        ("{name = 'x', type = 'number', opt = true}", "(nil)", None),
        ("{name = 'a', type = 'boolean', default = false}, {name = 'b', opt = true}", "(true)", (True, None)),
        ("{name = 'a'}", "(false)", False),
        ("{name = 'self', type = 'table'}, {name = 'x', type = 'number'}", "({7}, {x = 5})", ([7], 5)),
        ("{name = 'self', type = 'table'}, {name = 'x', type = 'number'}", "({7}, 5)", ([7], 5)),
        ("pack = true, " + ADD, "('a')", {"x": 0, "msg": "a"}),
        ("quiet = true, " + ADD, "('a')", (True, 0, "a")),
        ("noordered = true, " + ADD, "{msg = 'a'}", (0, "a")),
        ("call = function(x, msg) return msg, x end, " + ADD, "('a')", ("a", 0)),
        ("{name = 't', type = 'table'}", "{t = 1}", {"t": 1}),
        ("{name = 't', type = 'torch.*Tensor'}", "(torch.IntTensor{5}) == 5 or 1", 1),
        ("", "()", None),
    ],
)
def test_a_call_that_fits_gets_its_values(lua: bridge.Lua, rules: str, call: str, result: Any) -> None:
    assert lua.eval(f"argcheck{{{rules}}}{call}") == result


@pytest.mark.parametrize(
    ("rules", "call"),
    [
        (ADD, "(5)"),
        (ADD, "()"),
        (ADD, "(5, 'a', 1)"),
        (ADD, "{msg = 'a', other = 1}"),
        (ADD, "{x = 5}"),
        ("nonamed = true, " + ADD, "{msg = 'a'}"),
        ("noordered = true, " + ADD, "('a')"),
        ("{name = 'a'}", "(nil)"),
        ("{name = 'x', type = 'number', check = function(x) return x > 0 end}", "(-1)"),
        ("{name = 't', type = 'torch.FloatTensor'}", "(torch.IntTensor())"),
        ("{name = 't', type = 'torch.Float'}", "(torch.FloatTensor())"),
        ("{name = 'self', type = 'table'}, {name = 'x', type = 'number'}", "({7}, {x = 'a'})"),
        ("", "(1)"),
    ],
)
def test_a_call_that_does_not_fit_is_an_error(lua: bridge.Lua, rules: str, call: str) -> None:
    with pytest.raises(bridge.LuaError, match="invalid arguments!"):
        lua.execute(f"return argcheck{{{rules}}}{call}")


def test_the_error_shows_the_arguments(lua: bridge.Lua) -> None:
    with pytest.raises(bridge.LuaError) as error:
        lua.execute(f"local value = argcheck{{{ADD}}}{{y = 'a'}} return value", name="=here")
    assert error.value.message.splitlines() == [
        "here:1: ",
        "Arguments:",
        "",
        "({",
        "  [x   = number]  -- the age [default=0]",
        "   msg = string   -- ",
        "})",
        "",
        "Got: table={ y=string }",
        "invalid arguments!",
    ]


def test_a_text_comes_before_the_arguments_or_around_them(lua: bridge.Lua) -> None:
    before = lua.eval(f"select(2, argcheck{{quiet = true, help = 'Adds.', {ADD}}}())")
    assert before.startswith("Adds.\nArguments:\n\n({\n")
    around = lua.eval(f"select(2, argcheck{{quiet = true, doc = 'add(@ARGP):@ARGT!', {ADD}}}())")
    assert around.startswith("add([x], msg):\n({\n")


def test_classes_fit_their_parents_types(lua: bridge.Lua) -> None:
    lua.execute("torch.class('ArgParent') torch.class('ArgChild', 'ArgParent')")
    assert lua.eval("torch.type(argcheck{{name = 'x', type = 'ArgParent'}}(ArgChild()))") == "ArgChild"


def test_overloading_adds_a_way_to_call(lua: bridge.Lua) -> None:
    lua.execute("""
        number = argcheck{{name = 'x', type = 'number'}, call = function(x) return 'number', x end}
        both = argcheck{{name = 's', type = 'string'}, overload = number, call = function(s) return 'string', s end}
    """)
    assert lua.eval("both(5)") == ("number", 5)
    assert lua.eval("both('a')") == ("string", "a")
    assert lua.eval("both{s = 'a'}") == ("string", "a")
    with pytest.raises(bridge.LuaError, match=r"(?s)x = number.*or.*s = string"):
        lua.eval("both()")
    with pytest.raises(bridge.LuaError, match="invalid arguments"):
        lua.eval("number('a')")


AGAIN = "{name = 'x', type = 'number'}, {name = 'msg', type = 'string', default = 'd'}, overload = one"


def test_ambiguous_rules_are_refused_unless_forced(lua: bridge.Lua) -> None:
    lua.execute("one = argcheck{{name = 'x', type = 'number'}, call = function(x) return 'one', x end}")
    with pytest.raises(bridge.LuaError, match="argcheck rules led to ambiguous situations"):
        lua.eval(f"argcheck{{{AGAIN}}}")
    lua.execute(f"two = argcheck{{{AGAIN}, force = true, call = function(x, msg) return 'two', x, msg end}}")
    assert lua.eval("two(5, 'a')") == ("two", 5, "a")
    assert lua.eval("two(5)") == ("two", 5, "d")
    assert lua.eval("two{x = 5}") == ("two", 5, "d")


def test_rules_that_differ_by_a_check_are_not_ambiguous(lua: bridge.Lua) -> None:
    lua.execute("""
        small = argcheck{{name = 'x', type = 'number', check = function(x) return x < 10 end},
           call = function() return 'small' end}
        any = argcheck{{name = 'x', type = 'number'}, overload = small, call = function() return 'any' end}
    """)
    assert lua.eval("{any(5), any(50)}") == ["small", "any"]


@pytest.mark.parametrize(
    ("rules", "message"),
    [
        ("{type = 'number'}", "rule must have a name field"),
        ("{name = 'x', type = 3}", "rule type must be a string or nil, got number"),
        ("{name = 'x', defaulta = 'y'}", "invalid defaulta name <y>"),
        ("{name = 'x'}, {name = 'x'}", "two rules named <x>"),
        ("noordered = true, nonamed = true", "rules must be at least ordered or named"),
        ("help = 'a', doc = 'b'", "choose between doc or help, not both"),
        ("overload = print", "trying to overload/chain a non-argcheck function"),
    ],
)
def test_rules_that_make_no_sense_are_refused(lua: bridge.Lua, rules: str, message: str) -> None:
    with pytest.raises(bridge.LuaError, match="^here:1: .*" + message):
        lua.execute(f"local check = argcheck{{{rules}}} return check", name="=here")


def test_documentation_is_recorded(lua: bridge.Lua) -> None:
    text = lua.execute("""
        local doc = require 'argcheck.doc'
        doc 'not recorded'
        doc.record()
        doc '# Title\\n'
        argcheck{doc = 'f(@ARGP)\\n', {name = 'x'}, {name = 'y', opt = true}}
        return doc.stop()
    """)
    assert text == "# Title\nf(x[, y])\n"


def test_types_can_be_the_programs_own() -> None:
    with bridge.Lua() as state:
        state.execute("""
            local argcheck, env = require 'argcheck', require 'argcheck.env'
            old = argcheck{{name = 'x', type = 'even'}}
            local istype = env.istype
            function env.istype(object, name)
               if name == 'even' then return type(object) == 'number' and object % 2 == 0 end
               return istype(object, name)
            end
            new = argcheck{{name = 'x', type = 'even'}}
        """)
        assert state.eval("new(4)") == 4
        for call in ("new(3)", "old(4)"):
            with pytest.raises(bridge.LuaError, match="invalid arguments"):
                state.eval(call)


@pytest.mark.timeout(20)
def test_many_optional_arguments_end_in_an_answer(lua: bridge.Lua) -> None:
    rules = ", ".join(f"{{name = 'a{i}', type = 'number', opt = true}}" for i in range(40))
    assert lua.execute(f"return pcall(argcheck{{{rules}}}, {'nil, ' * 39} 'x')")[0] is False
