"""The cjson package: values, settings, and its messages, all checked against Lua CJSON 2.1."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from typing import Any

import pytest

import bridge

VALUES: list[tuple[str, Any]] = [
    ("1", 1),
    ("-0.5", -0.5),
    ("1E-2", 0.01),
    ("0x1F", 31),
    ("0x1p4", 16),
    ("+1", 1),
    ("01", 1),
    ("1.", 1),
    ("Infinity", float("inf")),
    ("-inf", float("-inf")),
    ("1e400", float("inf")),
    ("123456789012345678", 123456789012345680),
    ("0.30000000000000004", 0.30000000000000004),
    (" \t\r\n[1, 2 ,[ ]]", [1, 2, []]),
    ('{"a":{"b":"c"},"a b":false}', {"a": {"b": "c"}, "a b": False}),
    ('{"a":1,"a":2}', {"a": 2}),
    ('"\\u00e9\\u20ac\\ud83d\\ude00\\u0000\\/\\b\\f\\n\\r\\t\\"\\\\"', 'é€😀\0/\b\f\n\r\t"\\'),
    ("[1,null]", [1, None]),
]

FAULTS: list[tuple[str, str]] = [
    ("", "value but found T_END at character 1"),
    ("[", "value but found T_END at character 2"),
    ("[1", "comma or array end but found T_END at character 3"),
    ("[1 2]", "comma or array end but found T_NUMBER at character 4"),
    ("[1,]", "value but found T_ARR_END at character 4"),
    ("{", "object key string but found T_END at character 2"),
    ("{1:2}", "object key string but found T_NUMBER at character 2"),
    ('{"a" 1}', "colon but found T_NUMBER at character 6"),
    ('{"a":1 "b":2}', "comma or object end but found T_STRING at character 8"),
    ("1 2", "the end but found T_NUMBER at character 3"),
    ("true false", "the end but found T_BOOLEAN at character 6"),
    ("tru", "value but found invalid token at character 1"),
    ("1e", "the end but found invalid token at character 2"),
    (".5", "value but found invalid token at character 1"),
    ("-", "value but found invalid number at character 1"),
    ('"abc', "value but found unexpected end of string at character 5"),
    ('["\\x"]', "value but found invalid escape code at character 3"),
    ('"\\u12"', "value but found invalid unicode escape code at character 2"),
    ('"\\ud800"', "value but found invalid unicode escape code at character 2"),
    ('"\\udc00"', "value but found invalid unicode escape code at character 2"),
]

TEXTS: list[tuple[str, str]] = [
    ("nil", "null"),
    ("cjson.null", "null"),
    ("1/3", "0.33333333333333"),
    ("1e15", "1e+15"),
    ("99999999999999", "99999999999999"),
    ("-0.0", "-0"),
    ("{}", "{}"),
    ("{1, 2, nil, 4}", "[1,2,null,4]"),
    ("{[3] = 1}", "[null,null,1]"),
    ("{[1.5] = 2}", '{"1.5":2}'),
    ("{[0] = 1}", '{"0":1}'),
    ("{a = {}}", '{"a":{}}'),
    ("setmetatable({}, {__index = {1}})", "{}"),
    ("'a/b\"\\\\\\127\\1\\0\\n\\tü\\b\\f\\r'", '"a\\/b\\"\\\\\\u007f\\u0001\\u0000\\n\\tü\\b\\f\\r"'),
]

REFUSED: list[tuple[str, str]] = [
    ("0/0", "Cannot serialise number: must not be NaN or Inf"),
    ("{[1000] = 1}", "Cannot serialise table: excessively sparse array"),
    ("{[true] = 1}", "Cannot serialise boolean: table key must be a number or string"),
    ("{print}", "Cannot serialise function: type not supported"),
    ("(function() local t = {} t[1] = t return t end)()", r"Cannot serialise, excessive nesting \(1001\)"),
]


@pytest.fixture
def lua() -> Iterator[bridge.Lua]:
    with bridge.Lua() as state:
        state.execute("cjson = require 'cjson'")
        yield state


@pytest.mark.parametrize(("text", "value"), VALUES)
def test_texts_are_decoded(lua: bridge.Lua, text: str, value: Any) -> None:
    assert lua.execute("return cjson.decode(...)", text) == value


@pytest.mark.parametrize(("text", "fault"), FAULTS)
def test_faults_are_named_with_their_place(lua: bridge.Lua, text: str, fault: str) -> None:
    with pytest.raises(bridge.LuaError, match=f"^Expected {fault}\n"):
        lua.execute("return cjson.decode(...)", text)


@pytest.mark.parametrize(("value", "text"), TEXTS)
def test_values_are_encoded(lua: bridge.Lua, value: str, text: str) -> None:
    assert lua.eval(f"cjson.encode({value})") == text


@pytest.mark.parametrize(("value", "message"), REFUSED)
def test_what_has_no_text_is_refused(lua: bridge.Lua, value: str, message: str) -> None:
    with pytest.raises(bridge.LuaError, match=message):
        lua.eval(f"cjson.encode({value})")


def test_what_python_wrote_is_read_and_written_back(lua: bridge.Lua) -> None:
    draw = random.Random(7)

    def value(depth: int) -> Any:
        kind = draw.randrange(6 if depth else 4)
        if kind == 4:
            return [value(depth - 1) for _ in range(draw.randrange(1, 5))]
        if kind == 5:
            return {f"k{i}\u00e9\n": value(depth - 1) for i in range(draw.randrange(1, 5))}
        return [draw.uniform(-1e3, 1e3), draw.randrange(-(10**9), 10**9), 'é\\"/\x01', True][kind]

    for _ in range(50):
        made = [value(4)]
        assert lua.execute("return cjson.decode(...)", json.dumps(made)) == made
        again = lua.execute(
            "cjson.encode_number_precision(14) return cjson.encode(cjson.decode(...))", json.dumps(made)
        )
        assert json.loads(again) == json.loads(
            json.dumps(made), parse_float=lambda text: float(f"{float(text):.14g}")
        )


def test_the_error_is_the_callers(lua: bridge.Lua) -> None:
    with pytest.raises(bridge.LuaError, match=r"^here:2: Expected value"):
        lua.execute("\nlocal value = cjson.decode('[')\nreturn value", name="=here")


def test_null_crosses_to_python_as_none(lua: bridge.Lua) -> None:
    assert lua.eval("cjson.decode('[null]')[1] == cjson.null and type(cjson.null)") == "userdata"
    assert lua.eval("cjson.decode('[null, 1]')") == [None, 1]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        ("decode()", r"#1 to 'decode' \(expected 1 argument\)"),
        ("decode({})", r"#1 to 'decode' \(string expected, got table\)"),
        ("encode(1, 2)", r"#1 to 'encode' \(expected 1 argument\)"),
        ("encode_max_depth(0)", r"#1 to 'encode_max_depth' \(expected integer between 1 and 2147483647\)"),
        (
            "encode_number_precision(15)",
            r"#1 to 'encode_number_precision' \(expected integer between 1 and 14\)",
        ),
        ("encode_keep_buffer(0)", r"#1 to 'encode_keep_buffer' \(invalid option '0'\)"),
        ("decode_max_depth(1, 2)", r"#2 to 'decode_max_depth' \(found too many arguments\)"),
    ],
)
def test_wrong_arguments_are_refused(lua: bridge.Lua, call: str, message: str) -> None:
    with pytest.raises(bridge.LuaError, match="bad argument " + message):
        lua.eval(f"cjson.{call}")


@pytest.mark.parametrize(
    ("setting", "call", "result"),
    [
        ("encode_invalid_numbers(true)", "encode({0/0, 1/0, -1/0})", "[nan,inf,-inf]"),
        ("encode_invalid_numbers('null')", "encode({0/0})", "[null]"),
        ("encode_number_precision(3)", "encode({1/3, 12345})", "[0.333,1.23e+04]"),
        ("encode_sparse_array(true)", "encode({[1000] = 1})", '{"1000":1}'),
        ("encode_sparse_array(false, 0)", "encode({[12] = 1}):gsub('null,', '')", ("[1]", 11)),
        ("encode_max_depth(2)", "encode({{1}})", "[[1]]"),
    ],
)
def test_settings_hold_for_their_own_module(lua: bridge.Lua, setting: str, call: str, result: Any) -> None:
    lua.execute(f"other = cjson.new() other.{setting}")
    assert lua.eval(f"other.{call}") == result
    assert lua.eval("cjson.encode_invalid_numbers()") is False
    assert lua.eval("cjson.encode_sparse_array()") == (False, 2, 10)


def test_depth_is_limited(lua: bridge.Lua) -> None:
    lua.execute("cjson.decode_max_depth(2) cjson.encode_max_depth(2)")
    with pytest.raises(bridge.LuaError, match=r"too many nested data structures \(3\) at character 3"):
        lua.eval("cjson.decode('[[[1]]]')")
    with pytest.raises(bridge.LuaError, match=r"excessive nesting \(3\)"):
        lua.eval("cjson.encode({{{}}})")


@pytest.mark.parametrize("text", ["01", "0x1", "-inf", "NaN", "+1"])
def test_numbers_that_json_does_not_know_can_be_refused(lua: bridge.Lua, text: str) -> None:
    lua.execute("cjson.decode_invalid_numbers(false)")
    with pytest.raises(bridge.LuaError, match=r"found invalid (number|token) at character 1"):
        lua.execute("return cjson.decode(...)", text)


def test_endless_nesting_ends_in_an_error(lua: bridge.Lua) -> None:
    lua.execute("cjson.decode_max_depth(2^31 - 1)")
    with pytest.raises(bridge.LuaError, match="stack overflow"):
        lua.eval("cjson.decode(('['):rep(1000000))")


def test_the_safe_module_returns_what_the_other_raises(lua: bridge.Lua) -> None:
    lua.execute("safe = require 'cjson.safe'")
    assert lua.eval("safe.decode('[')") == (None, "Expected value but found T_END at character 2")
    assert lua.eval("safe.encode(print)") == (None, "Cannot serialise function: type not supported")
    assert lua.eval("safe.decode('[1]')") == [1]
    assert lua.eval("safe.new().decode('[')")[0] is None
