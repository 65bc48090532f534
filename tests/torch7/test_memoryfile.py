"""torch.MemoryFile: a file in the memory of a storage."""

from __future__ import annotations

import bridge


def test_the_storage_of_a_memory_file_ends_with_a_zero(f: bridge.Lua) -> None:
    assert f.execute("f:writeString('ab') return f:storage():totable()") == [97, 98, 0]


def test_a_memory_file_reads_and_changes_a_storage(lua: bridge.Lua) -> None:
    code = """
        local s = torch.CharStorage():string('12 34\\0')
        local f = torch.MemoryFile(s, 'rw')
        local a, b = f:readInt(), f:readInt()
        f:seek(1) f:writeString('9')
        return a, b, s[1]
    """
    assert lua.execute(code) == (12, 34, ord("9"))


def test_a_storage_that_shrinks_under_its_file_is_safe(f: bridge.Lua) -> None:
    code = """
        f:binary() f:writeInt(torch.IntStorage(1000):fill(1))
        f:storage():resize(1) collectgarbage()
        f:quiet():seek(1)
        local n = f:readInt(1000):size()
        f:seek(1) f:writeInt(torch.IntStorage(1000):fill(2)) f:seek(1)
        return n, f:readInt(1000)[1000]
    """
    n, last = f.execute(code)
    assert n <= 1
    assert last == 2
