"""tds.Vec: growth, methods, sorting."""

from __future__ import annotations

import pytest

import bridge


def test_a_vec_grows_to_the_index_that_is_written(tds: bridge.Lua) -> None:
    assert tds.execute("v = tds.Vec() v[5] = 'x' return #v, v[4], v[5], v[6]") == (5, None, "x", None)


def test_a_vec_holds_nil(tds: bridge.Lua) -> None:
    assert tds.execute("v = tds.Vec(1, nil, 3, nil) return #v, v[2], v[3]") == (3, None, 3)


def test_fractions_of_an_index_are_cut_off(tds: bridge.Lua) -> None:
    assert tds.execute("v = tds.Vec('a', 'b') v[1.9] = 'c' return v[1.5], v[2.99]") == ("c", "b")


@pytest.mark.parametrize("index", ["0", "-1", "0/0", "'x'", "true"])
def test_a_vec_is_written_at_positive_numbers(tds: bridge.Lua, index: str) -> None:
    with pytest.raises(bridge.LuaError, match="positive number expected"):
        tds.execute(f"tds.Vec()[{index}] = 1")


@pytest.mark.parametrize("index", ["1e300", "3"])
def test_a_vec_reads_nil_where_nothing_is(tds: bridge.Lua, index: str) -> None:
    assert tds.eval(f"tds.Vec(1, 2)[{index}]") is None


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("return tds.Vec(1)[0]", "positive number expected as key"),
        ("return tds.Vec(1)[-1]", "positive number expected as key"),
        ("return tds.Vec(1)[0/0]", "positive number expected as key"),
        ("return tds.Vec(1).nothing", "invalid key (number) or method name"),
        ("tds.Vec(1)[1e300] = 1", "out of memory"),
        ("tds.Vec(1):insert()", "[key] value expected"),
        ("tds.Vec(1):insert('x', 1)", "positive number expected as key"),
        ("tds.Vec(1):remove(0)", "positive number expected as key"),
        ("tds.Vec(1):resize(-1)", "size must be a positive number"),
        ("tds.Vec(1):resize('2')", "size must be a positive number"),
        ("tds.Vec(1):sort()", "compare function must be a lua or C function"),
        ("tds.Vec{a = 1}", "lua table with number keys expected"),
    ],
)
def test_errors_have_the_originals_words(tds: bridge.Lua, code: str, message: str) -> None:
    with pytest.raises(bridge.LuaError) as raised:
        tds.execute(code)
    assert raised.value.message.endswith(message)


def test_a_size_that_no_memory_holds_is_an_error_and_changes_nothing(tds: bridge.Lua) -> None:
    tds.execute("v = tds.Vec(1)")
    with pytest.raises(bridge.LuaError, match="out of memory"):
        tds.execute("v:resize(2^45)")
    assert tds.eval("#v, v[1]") == (1, 1)


@pytest.mark.parametrize(
    ("code", "result"),
    [
        ("v:insert('x')", "a,b,c,x"),
        ("v:insert(1, 'x')", "x,a,b,c"),
        ("v:insert(3, 'x')", "a,b,x,c"),
        ("v:insert(5, 'x')", "a,b,c,nil,x"),
        ("v:remove()", "a,b"),
        ("v:remove(1)", "b,c"),
        ("v:remove(7)", "a,b,c"),
        ("v:resize(2)", "a,b"),
        ("v:resize(4)", "a,b,c,nil"),
        ("v:sort(function(a, b) return a > b end)", "c,b,a"),
    ],
)
def test_methods_of_a_vec(tds: bridge.Lua, code: str, result: str) -> None:
    assert tds.execute(f"v = tds.Vec('a', 'b', 'c') {code} return v:concat(',')") == result


def test_removing_from_an_empty_vec_does_nothing(tds: bridge.Lua) -> None:
    assert tds.execute("v = tds.Vec() v:remove() return #v") == 0


def test_concat_takes_a_separator_and_a_range(tds: bridge.Lua) -> None:
    assert tds.execute("v = tds.Vec(1, 2, 3, 4) return v:concat(), v:concat('-'), v:concat(' ', 2, 3)") == (
        "1234",
        "1-2-3-4",
        "2 3",
    )


def test_concatstorage_gives_the_text_as_a_storage(tds: bridge.Lua) -> None:
    assert tds.eval("torch.type(tds.Vec('ab', 1):concatstorage('-'))") == "torch.CharStorage"
    assert tds.eval("tds.Vec('ab', 1):concatstorage('-'):string()") == "ab-1"


def test_unpack_keeps_nil(tds: bridge.Lua) -> None:
    assert tds.eval("tds.Vec(1, nil, 3):unpack()") == (1, None, 3)


def test_sorting_by_a_c_function_is_stable(tds: bridge.Lua) -> None:
    tds.execute("""
        local ffi = require 'ffi'
        v = tds.Vec()
        for i = 1, 1000 do v[i] = i * 7919 % 1009 end
        compare = ffi.cast('int (*)(const tds_elem *, const tds_elem *)', function(a, b)
           return math.floor(a.value.number / 10) - math.floor(b.value.number / 10)
        end)
        before = {}
        for i, x in ipairs(v) do before[x] = i end
        v:sort(compare)
        compare:free()
    """)
    tds.execute("""
        for i = 2, #v do
           local a, b = math.floor(v[i - 1] / 10), math.floor(v[i] / 10)
           assert(a < b or a == b and before[v[i - 1]] < before[v[i]])
        end
    """)


def test_an_error_in_a_comparison_leaves_the_vec_as_it_was(tds: bridge.Lua) -> None:
    tds.execute("v = tds.Vec(3, 1, 2)")
    with pytest.raises(bridge.LuaError, match="no order"):
        tds.execute("v:sort(function() error('no order') end)")
    assert tds.eval("v:concat(',')") == "3,1,2"
