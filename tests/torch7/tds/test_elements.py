"""What hashes and vectors are made from and hold: tables, tensors, each other, counters, files."""

from __future__ import annotations

import resource
import textwrap

import pytest

import bridge
from tests.elements import ALL


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


@pytest.mark.parametrize("name", ["Hash", "Vec", "AtomicCounter", "hash", "vec", "atomic_counter"])
def test_what_makes_objects_is_a_table(tds: bridge.Lua, name: str) -> None:
    assert tds.eval("type(tds[...])", name) == "table"


def test_programs_reach_the_metamethods(tds: bridge.Lua) -> None:
    assert tds.eval("tds.Hash.__len(tds.Hash{a = 1}), tds.Vec.__len(tds.Vec(1, 2))") == (1, 2)


def test_a_counter_prints_its_value(tds: bridge.Lua) -> None:
    assert tds.execute("local c = tds.AtomicCounter() c:inc() return tostring(c)") == "tds.AtomicCounter=1"


def test_a_counter_has_no_other_methods(tds: bridge.Lua) -> None:
    with pytest.raises(bridge.LuaError, match="no such method"):
        tds.execute("return tds.AtomicCounter().other")


def test_counters_are_reached_through_the_c_functions(tds: bridge.Lua) -> None:
    code = (
        "local c, C = tds.AtomicCounter(), tds.C C.tds_atomic_set(c, 4) return C.tds_atomic_inc(c), c:get()"
    )
    assert tds.execute(code) == (4, 5)
    assert tds.eval("tds.C.tds_has_atomic()") == 1


def test_a_vec_prints_its_first_twenty_elements(tds: bridge.Lua) -> None:
    lines = tds.execute("local v = tds.Vec() for i = 1, 21 do v[i] = i end return tostring(v)").splitlines()
    assert lines[0] == "tds.Vec[21]{"
    assert lines[20] == "   20 : 20"
    assert lines[21:] == ["...", "}"]


def test_types_and_lower_case_names(tds: bridge.Lua) -> None:
    assert tds.eval("type(tds.hash()), torch.type(tds.hash()), torch.typename(tds.vec())") == (
        "cdata",
        "tds.Hash",
        "tds.Vec",
    )
    assert tds.eval("torch.type(tds.AtomicCounter())") == "tds.AtomicCounter"


@pytest.mark.parametrize("name", ALL)
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


@pytest.mark.parametrize("name", ALL)
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


@pytest.mark.slow
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


@pytest.mark.slow
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
