"""tds.Hash: keys, values, and iteration."""

from __future__ import annotations

from typing import Any

import pytest

import bridge


@pytest.mark.parametrize("value", [1.5, -0.0, "text", "", b"a\0b\xff", True, False, 2.0**60])
def test_a_hash_gives_back_what_it_holds_as_key_and_as_value(tds: bridge.Lua, value: Any) -> None:
    assert tds.execute("local h = tds.Hash() h[...] = ... return h[...]", value) == value


def test_strings_keep_their_zeros(tds: bridge.Lua) -> None:
    assert tds.eval("#tds.Vec('a\\0b')[1]") == 3


def test_a_missing_key_is_nil_and_a_nil_value_removes(tds: bridge.Lua) -> None:
    assert tds.execute("h = tds.Hash{a = 1, b = 2} h.a = nil h.nothing = nil return h.a, h.b, #h") == (
        None,
        2,
        1,
    )


def test_the_length_of_a_hash_counts_all_pairs(tds: bridge.Lua) -> None:
    assert tds.eval("#tds.Hash{a = 1, [7] = 2, [true] = 3}") == 3


def test_zero_and_minus_zero_are_one_key(tds: bridge.Lua) -> None:
    assert tds.execute("local h = tds.Hash() h[0] = 'a' h[-0] = 'b' return #h, h[0]") == (1, "b")


def test_a_number_and_its_text_are_two_keys(tds: bridge.Lua) -> None:
    assert tds.execute("local h = tds.Hash() h[1] = 'a' h['1'] = 'b' return #h, h[1], h['1']") == (
        2,
        "a",
        "b",
    )


@pytest.mark.parametrize("code", ["tds.Hash()[nil] = 1", "return tds.Hash()[nil]"])
def test_nil_is_no_key(tds: bridge.Lua, code: str) -> None:
    with pytest.raises(bridge.LuaError, match=r"^hash index is nil\n"):
        tds.execute(code)


def test_nan_is_no_key(tds: bridge.Lua) -> None:
    with pytest.raises(bridge.LuaError, match=r"a key of a tds\.Hash is not NaN"):
        tds.execute("tds.Hash()[0/0] = 1")


@pytest.mark.parametrize("arguments", ["nil", "1", "{}, {}"])
def test_a_hash_is_made_of_a_table_or_nothing(tds: bridge.Lua, arguments: str) -> None:
    with pytest.raises(bridge.LuaError, match="lua table or nothing expected"):
        tds.execute(f"tds.Hash({arguments})")


def test_a_hash_prints_its_first_twenty_elements(tds: bridge.Lua) -> None:
    code = "local h = tds.Hash() for i = 1, 30 do h[i] = 'a\\nb' end return tostring(h)"
    lines = tds.execute(code).splitlines()
    assert lines[0] == "tds.Hash[30]{"
    assert len(lines) == 1 + 20 * 2 + 2
    assert lines[1:3] == ["1  : a", "     b"]
    assert lines[-2:] == ["...", "}"]


def test_a_hash_names_the_types_of_keys_that_are_objects(tds: bridge.Lua) -> None:
    assert tds.execute("local h = tds.Hash() h[tds.Vec()] = true return tostring(h)") == (
        "tds.Hash[1]{\ntds.Vec : true\n}"
    )


@pytest.mark.parametrize("value", ["print", "{}", "io.stdout", "coroutine.create(print)"])
@pytest.mark.parametrize("assign", ["tds.Hash().a =", "tds.Vec()[1] =", "tds.Vec():insert"])
def test_what_is_no_c_type_is_refused(tds: bridge.Lua, value: str, assign: str) -> None:
    with pytest.raises(bridge.LuaError, match=r"unsupported key/value type <\w+> \(set\)"):
        tds.execute(f"{assign} ({value})")


def test_many_keys_survive_growth_and_removal(tds: bridge.Lua) -> None:
    tds.execute("""
        h = tds.Hash()
        for i = 1, 30000 do h[i] = -i h['k' .. i] = i end
        for i = 1, 30000, 3 do h[i] = nil end
        for i = 1, 30000 do
           assert(h[i] == (i % 3 ~= 1 and -i or nil))
           assert(h['k' .. i] == i)
        end
    """)
    assert tds.eval("#h") == 50000


def test_pairs_visits_each_pair_once(tds: bridge.Lua) -> None:
    assert (
        tds.execute("""
        local h, seen, n = tds.Hash(), {}, 0
        for i = 1, 1000 do h[i] = 2 * i end
        for k, v in pairs(h) do
           assert(v == 2 * k and not seen[k])
           seen[k], n = true, n + 1
        end
        return n
    """)
        == 1000
    )


def test_pairs_may_change_and_remove_what_it_visits(tds: bridge.Lua) -> None:
    assert tds.execute("""
        local h = tds.Hash()
        for i = 1, 100 do h[i] = i end
        for k in pairs(h) do if k % 2 == 0 then h[k] = nil else h[k] = 0 end end
        local sum = 0
        for _, v in pairs(h) do sum = sum + v end
        return #h, sum
    """) == (50, 0)
