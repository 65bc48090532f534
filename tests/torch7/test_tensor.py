"""Tensors of the eight element types: elements, sizes, conversions, what a bad argument is told."""

from __future__ import annotations

import pytest

import bridge
from tests.elements import ALL


@pytest.mark.parametrize("name", ALL)
def test_an_element_that_was_written_is_read(lua: bridge.Lua, name: str) -> None:
    assert lua.execute(f"local t = torch.{name}Tensor(3):zero(); t[2] = 7; return t[1], t[2], t[-2]") == (
        0,
        7,
        7,
    )


@pytest.mark.parametrize("name", ALL)
def test_a_loop_that_is_compiled_reads_what_was_written(lua: bridge.Lua, name: str) -> None:
    lua.execute(f"t = torch.{name}Tensor(100)")
    lua.execute("for r = 1, 100 do for i = 1, 100 do t[i] = i end end")
    assert (
        lua.execute("local s = 0; for r = 1, 100 do for i = 1, 100 do s = s + t[i] end end return s")
        == 505000
    )


@pytest.mark.parametrize("name", ALL)
def test_an_index_out_of_range_raises(lua: bridge.Lua, name: str) -> None:
    lua.execute(f"t = torch.{name}Tensor(3):fill(1)")
    for index in ("0", "4", "-4", "1e18", "0/0", "1/0"):
        with pytest.raises(bridge.LuaError, match="out of range"):
            lua.eval(f"t[{index}]")
        with pytest.raises(bridge.LuaError, match="out of range"):
            lua.execute(f"t[{index}] = 1")
    assert lua.eval("t:totable()") == [1, 1, 1]


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("other", ALL)
def test_types_convert_into_each_other(lua: bridge.Lua, name: str, other: str) -> None:
    source = f"torch.{name}Tensor{{{{1, 2, 3}}, {{4, 5, 100}}}}"
    assert lua.eval(f"{source}:t():{other.lower()}():totable()") == [[1, 4], [2, 5], [3, 100]]
    assert lua.eval(f"torch.type({source}:type('torch.{other}Tensor'))") == f"torch.{other}Tensor"


@pytest.mark.parametrize(
    ("name", "given", "kept"),
    [
        ("Byte", 256, 0),
        ("Byte", -1, 255),
        ("Byte", 3.7, 3),
        ("Char", 200, -56),
        ("Short", 70000, 4464),
        ("Int", 2**31, -(2**31)),
        ("Long", 2**53, 2**53),
        ("Long", -1.9, -1),
        ("Half", 0.1, 0.0999755859375),
        ("Half", 65520, float("inf")),
        ("Half", 6e-8, 5.960464477539063e-08),
        ("Float", 0.1, 0.10000000149011612),
    ],
)
def test_numbers_are_converted_as_by_c(lua: bridge.Lua, name: str, given: float, kept: float) -> None:
    lua.t = given
    assert lua.eval(f"torch.{name}Tensor{{t}}[1]") == kept
    assert lua.eval(f"torch.{name}Tensor(2, 2):fill(t)[2][1]") == kept
    assert lua.eval(f"torch.DoubleTensor{{t}}:type('torch.{name}Tensor')[1]") == kept


def test_a_tensor_is_a_userdata(lua: bridge.Lua) -> None:
    assert lua.eval("type(torch.Tensor())") == "userdata"


def test_a_method_that_a_program_adds_is_found(lua: bridge.Lua) -> None:
    lua.execute("torch.getmetatable('torch.FloatTensor').twice = function(self) return self:mul(2) end")
    assert lua.eval("torch.FloatTensor{1, 2}:twice():totable()") == [2, 4]
    assert lua.eval("torch.DoubleTensor{1}.twice") is None


def test_a_foreign_value_in_place_of_self_raises(lua: bridge.Lua) -> None:
    for value in ("nil", "5", "'x'", "{}", "io.stdout", "torch.LongStorage(2)"):
        for call in (
            "size",
            "narrow",
            "fill",
            "add",
            "copy",
            "resize",
            "storage",
            "sum",
            "index",
            "view",
            "mm",
        ):
            with pytest.raises(bridge.LuaError):
                lua.execute(f"torch.DoubleTensor.{call}({value}, 1, 1, 1)")
        for field in ("__index", "__newindex"):
            with pytest.raises(bridge.LuaError):
                lua.execute(f"torch.getmetatable('torch.DoubleTensor').{field}({value}, 1, 1)")


def test_sizes_that_overflow_raise(lua: bridge.Lua) -> None:
    for sizes in ("2^62, 2^62", "2^40, 2^40", "1e18", "2^53, 8"):
        for call in (f"torch.Tensor({sizes})", f"torch.Tensor():resize({sizes})", f"torch.zeros({sizes})"):
            with pytest.raises(bridge.LuaError, match="memory"):
                lua.eval(call)
    assert lua.eval("torch.Tensor(0/0):dim()") == 0


def test_numeric_strings_are_numbers(lua: bridge.Lua) -> None:
    assert lua.eval("(torch.ones(2) * '3'):totable()") == [3, 3]
    assert lua.eval("torch.ones(2):add('3'):totable()") == [4, 4]
    assert lua.eval("torch.Tensor('3'):size(1)") == 3


def test_the_data_pointer_follows_the_offset(lua: bridge.Lua) -> None:
    assert lua.eval("torch.range(1, 6):narrow(1, 3, 2):data()[1]") == 4
    assert lua.eval("tonumber(torch.range(1, 6):resize(2, 3):cdata().size[1])") == 3
    assert lua.eval("torch.range(1, 3):cdata().storage.data[2]") == 3


def test_equality_is_identity(lua: bridge.Lua) -> None:
    assert lua.execute(
        "local t = torch.ones(2); return t == t, t == t:clone(), t:storage() == t:storage()"
    ) == (
        True,
        False,
        True,
    )


def test_more_dimensions_than_lie_in_the_tensor_itself(lua: bridge.Lua) -> None:
    assert lua.eval("torch.range(1, 64):resize(2, 2, 2, 2, 2, 2)[2][1][2][1][2][1]") == 43
    assert lua.eval("torch.range(1, 64):resize(2, 2, 2, 2, 2, 2):transpose(1, 6):sum(3):sum()") == 2080
    with pytest.raises(bridge.LuaError, match="dimensions"):
        lua.execute("local s = torch.LongStorage(200):fill(1); return torch.Tensor(s)")


@pytest.mark.parametrize(
    "code",
    [
        "for i = 1, 400 do x = x:unsqueeze(1) end",
        "for i = 1, 400 do x = x:unfold(1, 1, 1) end",
        "x:repeatTensor(torch.LongStorage(3000):fill(1))",
        "torch.cat(x, x, 1000)",
        "torch.ones(torch.LongStorage(129):fill(1))",
    ],
)
def test_more_dimensions_than_a_tensor_can_have(lua: bridge.Lua, code: str) -> None:
    with pytest.raises(bridge.LuaError, match=r"too many dimensions \(\d+, at most 128\)"):
        lua.execute(f"x = torch.ones(1) {code}")
    assert lua.eval("x:clone():sum()") == 1


@pytest.mark.parametrize("number", ["0/0", "1/0", "-1/0", "2^53", "-2^63", "0.5", "-1"])
def test_numbers_that_are_no_size_or_dimension_harm_nothing(lua: bridge.Lua, number: str) -> None:
    lua.execute("x = torch.range(1, 6):resize(2, 3)")
    calls = [
        f"torch.Tensor({number}, 2)",
        f"x:clone():resize(2, {number})",
        f"x:narrow(1, {number}, 1)",
        f"x:narrow(1, 1, {number})",
        f"x:select({number}, 1)",
        f"x:sum({number})",
        f"x:max({number})",
        f"x:sort({number})",
        f"x:topk({number}, 1)",
        f"x:view({number}, 2)",
        f"x:expand(2, {number})",
        f"x[{{{number}, 1}}]",
        f"x[{{{{{number}}}}}]",
        f"torch.cat(x, x, {number})",
        f"x:chunk({number})",
        f"x:diag({number})",
        f"torch.eye({number})",
        f"torch.linspace(0, 1, {number})",
        f"torch.Tensor(x:storage(), {number}, 2)",
        f"torch.Tensor(x:storage(), 1, {number}, 3)",
        f"torch.IntTensor{{3}}:div({number})",
        f"torch.CharTensor{{3}}:fmod({number} * 256)",
    ]
    for call in calls:
        lua.execute(f"pcall(function() return {call} end)")
    assert lua.eval("x:totable()") == [[1, 2, 3], [4, 5, 6]]
