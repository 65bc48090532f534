"""tds: hashes, vectors and counters in C memory."""

from __future__ import annotations

import resource
import textwrap
from collections.abc import Iterator
from typing import Any

import pytest

import bridge

TYPES = ["Byte", "Char", "Short", "Int", "Long", "Half", "Float", "Double"]


@pytest.fixture
def tds() -> Iterator[bridge.Lua]:
    with bridge.Lua() as state:
        state.execute("torch, tds = require 'torch', require 'tds'")
        yield state


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


@pytest.mark.parametrize("key", ["nil", "0/0"])
def test_nil_and_nan_are_no_keys(tds: bridge.Lua, key: str) -> None:
    with pytest.raises(bridge.LuaError, match=r"a key of a tds\.Hash is not"):
        tds.execute(f"tds.Hash()[{key}] = 1")


@pytest.mark.parametrize("value", ["print", "{}", "io.stdout", "coroutine.create(print)"])
@pytest.mark.parametrize("assign", ["tds.Hash().a =", "tds.Vec()[1] =", "tds.Vec():insert"])
def test_what_is_no_c_type_is_refused(tds: bridge.Lua, value: str, assign: str) -> None:
    with pytest.raises(bridge.LuaError, match="tds holds numbers, strings, booleans, torch tensors"):
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


def test_a_vec_grows_to_the_index_that_is_written(tds: bridge.Lua) -> None:
    assert tds.execute("v = tds.Vec() v[5] = 'x' return #v, v[4], v[5], v[6]") == (5, None, "x", None)


def test_a_vec_holds_nil(tds: bridge.Lua) -> None:
    assert tds.execute("v = tds.Vec(1, nil, 3, nil) return #v, v[2], v[3]") == (4, None, 3)


def test_fractions_of_an_index_are_cut_off(tds: bridge.Lua) -> None:
    assert tds.execute("v = tds.Vec('a', 'b') v[1.9] = 'c' return v[1.5], v[2.99]") == ("c", "b")


@pytest.mark.parametrize("index", ["0", "-1", "0/0", "1e300", "'x'", "true"])
def test_a_vec_is_written_at_positive_numbers(tds: bridge.Lua, index: str) -> None:
    with pytest.raises(bridge.LuaError, match="positive number expected"):
        tds.execute(f"tds.Vec()[{index}] = 1")


@pytest.mark.parametrize("index", ["0", "-1", "0/0", "1e300", "3", "'nothing'"])
def test_a_vec_reads_nil_where_nothing_is(tds: bridge.Lua, index: str) -> None:
    assert tds.eval(f"tds.Vec(1, 2)[{index}]") is None


def test_a_size_that_no_memory_holds_is_an_error_and_changes_nothing(tds: bridge.Lua) -> None:
    tds.execute("v = tds.Vec(1)")
    with pytest.raises(bridge.LuaError, match="not enough memory"):
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


def test_tables_become_vecs_and_hashes(tds: bridge.Lua) -> None:
    tds.execute("h = tds.Hash{list = {1, {2}}, map = {a = 1}, empty = {}}")
    assert tds.eval("torch.type(h.list), torch.type(h.list[2]), torch.type(h.map), torch.type(h.empty)") == (
        "tds.Vec",
        "tds.Vec",
        "tds.Hash",
        "tds.Vec",
    )
    assert tds.eval("h.list[2][1], h.map.a") == (2, 1)


def test_a_vec_takes_several_tables(tds: bridge.Lua) -> None:
    assert tds.execute("v = tds.Vec({1}, {a = 2}) return #v, v[1][1], v[2].a") == (2, 1, 2)


def test_a_vec_of_a_table_with_other_keys_is_an_error(tds: bridge.Lua) -> None:
    with pytest.raises(bridge.LuaError, match="number keys expected, got a"):
        tds.execute("tds.Vec{a = 1}")


def test_types_and_lower_case_names(tds: bridge.Lua) -> None:
    assert tds.eval("type(tds.hash()), torch.type(tds.hash()), torch.typename(tds.vec())") == (
        "cdata",
        "tds.Hash",
        "tds.Vec",
    )
    assert tds.eval("torch.type(tds.AtomicCounter())") == "tds.AtomicCounter"


@pytest.mark.parametrize("name", TYPES)
def test_tensors_share_their_memory(tds: bridge.Lua, name: str) -> None:
    tds.execute(
        f"t = torch.{name}Tensor(3, 2):fill(1) v = tds.Vec(t:t()) t = nil collectgarbage() collectgarbage()"
    )
    tds.execute("again = v[1] again:fill(7)")
    assert tds.eval(
        f"torch.type(v[1]), v[1]:size(1), v[1][2][3], torch.type(v[1]) == 'torch.{name}Tensor'"
    ) == (
        f"torch.{name}Tensor",
        2,
        7,
        True,
    )


@pytest.mark.parametrize("name", TYPES)
def test_storages_share_their_memory(tds: bridge.Lua, name: str) -> None:
    assert tds.execute(
        f"local s = torch.{name}Storage(3):fill(1) local v = tds.Vec(s) v[1][2] = 5 return s[2], v[1] == s"
    ) == (5, True)


def test_the_same_tensor_comes_back_and_is_a_key(tds: bridge.Lua) -> None:
    assert tds.execute("""
        local t, h = torch.rand(3), tds.Hash()
        h[t], h.t = 'found', t
        t:resize(5)
        return rawequal(h.t, t), h[t], h[h.t], h[torch.rand(3)], h.t:size(1)
    """) == (True, "found", "found", None, 5)


def test_nested_objects_are_shared_not_copied(tds: bridge.Lua) -> None:
    assert tds.execute("""
        local inner = tds.Vec(1)
        local outer = tds.Hash{a = inner, b = inner}
        outer.a[2] = 'new'
        return #inner, outer.b[2], outer.a == outer.b, outer == inner
    """) == (2, "new", True, False)


def test_a_million_levels_are_freed(tds: bridge.Lua) -> None:
    tds.execute("local v = tds.Vec() for _ = 1, 3e5 do v = tds.Vec(v) end")
    tds.collect()
    assert tds.eval("#tds.Vec(1)") == 1


def collected_bytes(tds: bridge.Lua) -> int:
    for _ in range(3):  # tensors, then what stood for them, then its memory
        tds.collect()
    return tds.held_bytes


def test_elements_are_freed(tds: bridge.Lua) -> None:
    tds.execute("v = tds.Vec() for i = 1, 10 do v[i] = torch.FloatTensor(1000) end")
    held = collected_bytes(tds)
    assert held >= 40000
    tds.execute("v[1] = nil v:remove() v:resize(5)")
    assert collected_bytes(tds) == held - 6 * 4000
    tds.execute("v = nil")
    assert collected_bytes(tds) == held - 40000


def test_replacing_strings_takes_no_more_memory(tds: bridge.Lua) -> None:
    run = tds.eval(
        "function(n) local h = tds.Hash() for i = 1, n do h[i % 10] = ('x'):rep(100000) .. i end end"
    )
    run(1000)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    run(3000)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 50_000  # KiB; 300 MB went through


def test_a_vec_prints_as_documented(tds: bridge.Lua) -> None:
    text = tds.execute("""
        local d = tds.Vec(4, torch.Tensor{0.25, 0.5}, nil, tds.Hash(), 'hello world')
        d[4].foo = 'bar'
        d[4].stuff = tds.Vec('how', 'are')
        return tostring(d)
    """)
    assert text == textwrap.dedent("""\
        tds.Vec[5]{
            1 : 4
            2 :  0.2500
                 0.5000
                [torch.DoubleTensor of size 2]

            3 : nil
            4 : tds.Hash[2]{
                foo   : bar
                stuff : tds.Vec[2]{
                            1 : how
                            2 : are
                        }
                }
            5 : hello world
        }""")


def test_a_counter_counts_and_gives_the_number_before(tds: bridge.Lua) -> None:
    assert tds.execute("c = tds.AtomicCounter() return c:get(), c:inc(), c:inc(5), c:incBy(-2), c:get()") == (
        0,
        0,
        1,
        6,
        4,
    )
    assert tds.execute("c:set(100) return c:get()") == 100


def test_a_c_type_of_the_program_is_held_and_given_back(tds: bridge.Lua) -> None:
    tds.execute("""
        local ffi, elem = require 'ffi', require 'tds.elem'
        ffi.cdef 'void *malloc(size_t); void free(void *);'
        typeof = elem.type
        local double = ffi.typeof 'double *'
        elem.type = function(x) return ffi.istype(double, x) and 'box' or typeof(x) end
        elem.addctype('box', ffi.C.free,
           function(x)
              local p = ffi.cast(double, ffi.C.malloc(8))
              p[0] = x[0]
              return p, ffi.C.free
           end,
           function(p) return ffi.cast(double, p) end)
        v = tds.Vec(ffi.new('double[1]', 2.5) + 0)
    """)
    assert tds.eval("v[1][0]") == 2.5
    tds.execute("v[1] = nil")
    assert tds.eval("v[1]") is None


def test_the_documented_example_of_a_file(tds: bridge.Lua) -> None:
    tds.execute("""
        d = tds.Vec(4, 5, torch.Tensor{1, 2}, nil, 'hello world', tds.Hash{a = true}, tds.AtomicCounter())
        d[7]:set(9)
        f = torch.MemoryFile('rw')
        f:writeObject(d)
        f:seek(1)
        back = f:readObject()
    """)
    assert tds.eval("torch.type(back), #back, back[1], back[4], back[5], back[6].a, back[7]:get()") == (
        "tds.Vec",
        7,
        4,
        None,
        "hello world",
        True,
        9,
    )
    assert tds.eval("back[3]:totable()") == [1, 2]


@pytest.mark.parametrize("kind", ["Vec", "Hash"])
@pytest.mark.parametrize("quiet", ["f:quiet()", ""])
def test_a_file_that_promises_more_than_it_holds_takes_no_memory(
    tds: bridge.Lua, kind: str, quiet: str
) -> None:
    code = f"""
        local f = torch.MemoryFile()
        f:writeInt(4) f:writeInt(1)
        for _, name in ipairs{{'V 1', 'tds.{kind}'}} do f:writeInt(#name) f:writeString(name) end
        f:writeLong(2^40)
        for i = 1, 4 do f:writeObject(i) end
        f:seek(1)
        {quiet}
        return #f:readObject()
    """
    if quiet:
        assert tds.execute(code) <= 5
    else:
        with pytest.raises(bridge.LuaError, match="read error"):
            tds.execute(code)
