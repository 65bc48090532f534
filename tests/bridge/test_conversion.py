"""Values that are not tensors, from Python to Lua and back."""

from __future__ import annotations

import math
from collections import OrderedDict
from typing import Any

import numpy as np
import pytest

import bridge

ROUND_TRIPS: list[Any] = [
    None,
    True,
    False,
    0,
    1,
    -1,
    2**53 - 1,
    -(2**53) + 1,
    0.5,
    -1.25e300,
    math.inf,
    -math.inf,
    "",
    "text",
    "ünïcödé \N{WAVING HAND SIGN}",
    "with\0nul",
    b"\xff\xfe not utf-8",
    [],
    [1, 2, 3],
    [1.5, "two", True, [3, [4]]],
    [1, None, 3],
    [None],
    {"a": 1, "b": [1, 2]},
    {1.5: "float key", "x": {"y": {"z": 0}}},
    {0: "zero", 2: "two"},
    {True: "yes"},
]


@pytest.mark.parametrize("value", ROUND_TRIPS, ids=repr)
def test_a_value_comes_back_equal_and_of_its_type(echo: Any, value: Any) -> None:
    result = echo(value)
    assert result == value
    assert type(result) is type(value)


LUA_TYPES = [
    (None, "nil"),
    (True, "boolean"),
    (3, "number"),
    (2.5, "number"),
    (np.float32(2.5), "number"),
    (np.int16(-3), "number"),
    (np.bool_(True), "boolean"),
    ("s", "string"),
    (b"s", "string"),
    (bytearray(b"s"), "string"),
    ([1], "table"),
    ((1,), "table"),
    (range(3), "table"),
    ({}, "table"),
    (len, "function"),
    pytest.param(lambda: None, "function", id="lambda"),
    pytest.param(object(), "userdata", id="object"),
    (np.zeros(2), "userdata"),
    (bridge.null, "userdata"),
]


@pytest.mark.parametrize(("value", "kind"), LUA_TYPES, ids=lambda v: repr(v)[:30])
def test_a_python_value_has_this_lua_type(lua: bridge.Lua, value: Any, kind: str) -> None:
    assert lua.eval("type(...)", value) == kind


def test_integral_numbers_come_back_as_int_others_as_float(lua: bridge.Lua) -> None:
    results = lua.eval("3, 3.0, 3.5, 1e15, 1e16, 0/0, -0.0")
    assert [type(r) for r in results] == [int, int, float, int, float, float, float]
    assert math.copysign(1, results[6]) == -1


@pytest.mark.parametrize("value", [2**53 + 1, -(2**53) - 1, 2**64 + 1, 10**400])
def test_an_int_that_no_double_holds_is_refused(echo: Any, value: int) -> None:
    with pytest.raises(OverflowError, match="int64 array"):
        echo(value)


@pytest.mark.parametrize("value", [2**53, 2**60, -(2**62), 2**100])
def test_a_large_int_that_a_double_holds_arrives(echo: Any, value: int) -> None:
    assert echo(value) == value


def test_nan_arrives(echo: Any) -> None:
    assert math.isnan(echo(math.nan))


def test_positions_shift_values_do_not(lua: bridge.Lua) -> None:
    assert lua.eval("(...)[1]", [10, 20]) == 10
    assert lua.eval("{10, 20}")[0] == 10


def test_int_keys_of_a_dict_are_not_shifted(lua: bridge.Lua) -> None:
    assert lua.eval("(...)[5]", {5: "five"}) == "five"


def test_none_in_a_list_is_the_null_sentinel_in_lua(lua: bridge.Lua) -> None:
    assert lua.eval("(...)[2] == require 'bridge'.null and #(...)", [1, None, 3]) == 3


def test_none_in_a_dict_is_an_absent_key(lua: bridge.Lua) -> None:
    assert lua.eval("next(...)", {"a": None}) is None


def test_a_missing_attribute_of_null_does_not_exist() -> None:
    assert repr(bridge.null) == "bridge.null"


@pytest.mark.parametrize("key", [None, math.nan])
def test_a_dict_key_that_no_table_can_have_is_refused(echo: Any, key: Any) -> None:
    with pytest.raises(ValueError, match="cannot be a key"):
        echo({key: 1})


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("{}", []),
        ("{1, 2, x = 3}", {1: 1, 2: 2, "x": 3}),
        ("{[0] = 'a', 'b'}", {0: "a", 1: "b"}),
        ("{[2] = 'b'}", {2: "b"}),
        ("{1, nil, 3}", {1: 1, 3: 3}),
        ("{[1] = 'a', [3] = 'c'}", {1: "a", 3: "c"}),
        ("{[1.5] = true}", {1.5: True}),
    ],
)
def test_a_table_is_a_list_only_if_its_keys_are_1_to_n(lua: bridge.Lua, expression: str, value: Any) -> None:
    assert lua.eval(expression) == value


@pytest.mark.parametrize("n", [31, 32, 33, 1000])
def test_a_long_table_with_one_more_key_is_a_dict(lua: bridge.Lua, n: int) -> None:
    build = f"local t = {{}} for i = 1, {n} do t[i] = i end "
    assert lua.execute(build + "return t") == list(range(1, n + 1))
    assert lua.execute(build + "t.x = 1 return t") == {**{i: i for i in range(1, n + 1)}, "x": 1}
    assert lua.execute(build + "t[0] = 0 return t") == {i: i for i in range(n + 1)}


def test_a_table_filled_backwards_is_a_list(lua: bridge.Lua) -> None:
    assert lua.execute("local t = {} for i = 100, 1, -1 do t[i] = i end return t") == list(range(1, 101))


def test_a_python_cycle_is_a_lua_cycle(lua: bridge.Lua) -> None:
    value: list[Any] = [1]
    value.append(value)
    assert lua.eval("rawequal((...)[2], (...))", value) is True


def test_a_shared_list_is_one_table(lua: bridge.Lua) -> None:
    inner = [1]
    assert lua.eval("rawequal((...)[1], (...)[2])", [inner, inner]) is True
    assert lua.eval("rawequal((...).a, (...).b)", {"a": inner, "b": inner}) is True


def test_a_lua_cycle_is_a_python_cycle(lua: bridge.Lua) -> None:
    value = lua.execute("local t = {1} t[2] = t t[3] = {t} return t")
    assert value[1] is value
    assert value[2][0] is value


def test_shared_lua_tables_keep_identity(lua: bridge.Lua) -> None:
    value = lua.execute("local s = {} return {a = s, b = s}")
    assert value["a"] is value["b"]


def test_a_table_as_a_key_stays_a_lua_table(lua: bridge.Lua) -> None:
    (key,) = lua.execute("local k = {7} return {[k] = 'v'}")
    assert isinstance(key, bridge.LuaTable)
    assert key.value() == [7]


def test_an_object_keeps_its_identity(echo: Any) -> None:
    thing = object()
    assert echo(thing) is thing
    assert echo(len) is len


def test_the_same_object_is_the_same_value_in_lua(lua: bridge.Lua) -> None:
    thing = object()
    assert lua.eval("rawequal(...)", thing, thing) is True
    assert lua.eval("rawequal(...)", len, len) is True


def test_an_object_is_let_go_when_lua_forgets_it(lua: bridge.Lua) -> None:
    import weakref

    class Thing: ...

    thing = Thing()
    gone = weakref.ref(thing)
    lua.execute("held = ...", thing)
    del thing
    assert gone() is not None
    lua.execute("held = nil")
    lua.collect()
    lua.collect()
    assert gone() is None


def test_subclasses_arrive_as_what_they_are_built_on(echo: Any) -> None:
    class Text(str):
        __slots__ = ()

    class Number(int): ...

    assert echo(Text("x")) == "x"
    assert echo(Number(3)) == 3
    assert echo(OrderedDict(a=1)) == {"a": 1}


def test_int64_cdata_comes_back_exact(lua: bridge.Lua) -> None:
    assert lua.eval("9007199254740993LL, 18446744073709551615ULL") == (9007199254740993, 18446744073709551615)


def test_other_cdata_stays_in_lua(lua: bridge.Lua) -> None:
    array = lua.eval("require('ffi').new('int[3]')")
    assert isinstance(array, bridge.LuaObject)
    assert lua.eval("tostring(...):match('int %[3%]')", array) == "int [3]"


def depth_of(nested: list[Any]) -> int:
    depth = 0
    while nested:
        (nested,) = nested
        depth += 1
    return depth


def nested(depth: int) -> list[Any]:
    deep: list[Any] = []
    for _ in range(depth):
        deep = [deep]
    return deep


@pytest.mark.parametrize("depth", [1_000, 3_000])
def test_deep_nesting_comes_back(echo: Any, depth: int) -> None:
    assert depth_of(echo(nested(depth))) == depth


@pytest.mark.slow
def test_deeper_nesting_is_an_error_and_no_crash(echo: Any) -> None:
    with pytest.raises(RecursionError):
        echo(nested(100_000))


@pytest.mark.slow
def test_deeper_lua_nesting_is_an_error_and_no_crash(lua: bridge.Lua) -> None:
    with pytest.raises(RecursionError):
        lua.execute("local t = {} for i = 1, 100000 do t = {t} end return t")


@pytest.mark.parametrize("dtype", ["complex64", "complex128", "longdouble"])
def test_a_numpy_scalar_without_a_lua_number_is_refused(echo: Any, dtype: str) -> None:
    with pytest.raises(TypeError, match="no Torch7 tensor type"):
        echo(np.dtype(dtype).type(1))


def test_tables_dict_keeps_luas_own_keys() -> None:
    with bridge.Lua(tables="dict") as lua:
        assert lua.eval("{10, {20}}") == {1: 10, 2: {1: 20}}
        assert lua.eval("{}") == {}


def test_results_are_none_one_or_a_tuple(lua: bridge.Lua) -> None:
    assert lua.execute("return") is None
    assert lua.execute("return 1") == 1
    assert lua.execute("return 1, nil") == (1, None)


def test_a_callback_returning_a_tuple_returns_several_values(lua: bridge.Lua) -> None:
    assert lua.eval("select('#', (...)())", lambda: (1, 2, 3)) == 3
    assert lua.eval("select('#', (...)())", lambda: [1, 2, 3]) == 1


def test_many_results_and_arguments(lua: bridge.Lua) -> None:
    assert lua.eval("...", *range(200)) == tuple(range(200))
    with pytest.raises(ValueError, match="at most about 7000"):
        lua.eval("...", *range(20_000))
