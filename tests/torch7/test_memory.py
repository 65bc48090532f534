"""Memory of tensors: counted, collected in time, kept while it is used, refused when there is not enough."""

from __future__ import annotations

import os
import resource
import threading
from pathlib import Path

import pytest

import bridge

MIB = 2**20


def resident() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()


@pytest.mark.slow
def test_a_gigabyte_of_temporaries_does_not_grow_the_process(lua: bridge.Lua) -> None:
    lua.execute("for i = 1, 16 do local t = torch.Tensor(2^20):fill(i) end")
    before = resident()
    lua.execute("for i = 1, 128 do local t = torch.Tensor(2^20):fill(i) end")
    assert resident() - before < 128 * MIB


@pytest.mark.slow
def test_many_small_temporaries_do_not_grow_the_process(lua: bridge.Lua) -> None:
    lua.execute("for i = 1, 200000 do local t = torch.Tensor(10):fill(i) end")
    before = resident()
    lua.execute("for i = 1, 1000000 do local t = torch.Tensor(10):fill(i) end")
    assert resident() - before < 64 * MIB


def test_what_is_held_is_counted_and_given_back(lua: bridge.Lua) -> None:
    lua.execute("heap = require('bridge.native').heap; collectgarbage(); before = tonumber(heap.held)")
    lua.execute("t = torch.ByteTensor(10 * 2^20)")
    assert lua.eval("tonumber(heap.held) - before") == 10 * MIB
    lua.execute("t = nil; collectgarbage()")
    assert lua.eval("tonumber(heap.held) - before") == 0


def test_more_memory_than_there_is_raises_and_changes_nothing(lua: bridge.Lua) -> None:
    lua.execute("t = torch.range(1, 3)")
    with pytest.raises(bridge.LuaError, match="memory"):
        lua.execute("t:resize(2^45)")
    with pytest.raises(bridge.LuaError, match="memory"):
        lua.execute("torch.DoubleStorage(2^45)")
    assert lua.eval("t:storage():size()") == 3


ADDRESS = "function address(t) return tonumber(require('ffi').cast('intptr_t', t:data())) end"


@pytest.mark.parametrize("size", [2 * MIB, 3 * MIB - 1, 3 * MIB, 3 * MIB + 1, 100_000_001])
def test_a_large_block_begins_at_a_large_page(lua: bridge.Lua, size: int) -> None:
    lua.execute(ADDRESS)
    assert lua.eval("address(torch.ByteTensor(...):fill(7))", size) % (2 * MIB) == 0


def test_a_large_block_is_used_again(lua: bridge.Lua) -> None:
    lua.execute(ADDRESS)
    lua.execute("t = torch.ByteTensor(...) was = address(t) t = nil collectgarbage()", 5 * MIB)
    assert lua.eval("address(torch.ByteTensor(...)) == was", 5 * MIB)


@pytest.mark.slow
def test_large_blocks_of_many_sizes_give_their_memory_back(lua: bridge.Lua) -> None:
    """As many sizes as this, 1.3 GB in all, could never be kept."""
    before = resident()
    for size in range(3, 53):
        lua.execute("torch.ByteTensor(...):fill(1)", size * MIB)
    lua.execute("collectgarbage()")
    assert resident() - before < 256 * MIB


@pytest.mark.slow
def test_a_block_too_large_to_be_kept_gives_its_memory_back(lua: bridge.Lua) -> None:
    lua.execute("t = torch.ByteTensor(...):fill(1)", 200 * MIB)
    before = resident()
    lua.execute("t = nil collectgarbage()")
    assert before - resident() > 150 * MIB


@pytest.mark.slow
def test_large_blocks_come_and_go_in_several_threads() -> None:
    failed: list[Exception] = []

    def work(number: int) -> None:
        program = """
           require 'torch'
           local number = ...
           for i = 1, 40 do
              local a = torch.IntTensor(2^19 + i % 3 * 2^18):fill(number)
              local b = torch.IntTensor(2^19):fill(-number)
              assert(a:min() == number and a:max() == number and b:min() == -number and b:max() == -number)
              if i % 5 == 0 then collectgarbage() end
           end
        """
        try:
            with bridge.Lua() as lua:
                lua.execute(program, number)
        except Exception as error:
            failed.append(error)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(1, 5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=60)
    assert not failed


def test_a_forked_process_has_its_own_large_blocks(lua: bridge.Lua) -> None:
    lua.execute("t = torch.IntTensor(2^20):fill(1) torch.IntTensor(2^20):fill(2) collectgarbage()")
    if (child := os.fork()) == 0:
        lua.execute("t:fill(3) u = torch.IntTensor(2^20):fill(4)")
        os._exit(lua.eval("t:max() == 3 and u:min() == 4") is not True)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert lua.eval("t:min() == 1 and t:max() == 1")


# Tensors of a file share memory, which goes when the last of them goes.
MANY = "for i = 1, 300 do made[i] = torch.IntTensor(10000 + 100 * i):fill(i) end"


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["binary", "ascii", "b32"])
def test_one_of_many_tensors_of_a_file_outlives_the_others(
    lua: bridge.Lua, tmp_path: Path, mode: str
) -> None:
    lua.execute(f"made = {{}} {MANY} torch.save(..., made, '{mode}')", str(tmp_path / "many.t7"))
    lua.execute(f"t = torch.load(..., '{mode}')[150] collectgarbage()", str(tmp_path / "many.t7"))
    lua.execute("for i = 1, 8 do torch.IntTensor(2^21):fill(-1) end collectgarbage()")
    assert lua.eval("t:size(1), t:min(), t:max()") == (25000, 150, 150)


def test_tensors_of_a_file_grow_alone(lua: bridge.Lua, tmp_path: Path) -> None:
    lua.execute(f"made = {{}} {MANY} torch.save(..., made)", str(tmp_path / "many.t7"))
    lua.execute("all = torch.load(...) all[7]:resize(2^20):fill(0)", str(tmp_path / "many.t7"))
    assert lua.eval("all[6]:min(), all[6]:max(), all[8]:min(), all[8]:max()") == (6, 6, 8, 8)


@pytest.mark.slow
def test_files_loaded_and_forgotten_do_not_grow_the_process(lua: bridge.Lua, tmp_path: Path) -> None:
    lua.execute(f"made = {{}} {MANY} torch.save(..., made) made = nil", str(tmp_path / "many.t7"))
    lua.execute("for i = 1, 5 do torch.load(...) end", str(tmp_path / "many.t7"))
    before = resident()
    lua.execute("for i = 1, 40 do torch.load(...) end", str(tmp_path / "many.t7"))
    assert resident() - before < 64 * MIB


# Operands that are temporaries, in loops that LuaJIT compiles, with a collection before every allocation.
@pytest.mark.slow
@pytest.mark.parametrize(
    "expression",
    [
        "torch.add(torch.ones(50), torch.zeros(50))",
        "torch.ones(5, 10):index(1, torch.LongTensor{1, 2, 3, 4, 5})",
        "torch.ones(5, 10):t():clone()",
        "torch.ones(5, 10):narrow(1, 1, 5)",
        "torch.ones(5, 10):view(50)",
        "torch.ones(5, 2):mm(torch.Tensor(5, 10):fill(0.1), torch.ones(10, 2)):repeatTensor(1, 5)",
        "torch.cat(torch.ones(25), torch.ones(25))",
        "torch.ones(60)[torch.ones(60):narrow(1, 1, 60):cumsum():le(50)]",
        "torch.sort(torch.ones(50))",
        "torch.ones(100):unfold(1, 2, 2):sum(2):mul(0.5)",
        "torch.ones(1, 10):expand(5, 10):contiguous()",
        "torch.ones(5, 2, 5):transpose(1, 3):reshape(50)",
        "torch.sigmoid(torch.zeros(100)):resize(50):mul(2)",
    ],
)
def test_operands_live_until_the_operation_is_done(lua: bridge.Lua, expression: str) -> None:
    lua.execute("heap = require('bridge.native').heap")
    lua.execute(f"""
       for i = 1, 300 do
          heap.limit = 0
          local s = ({expression}):sum()
          assert(math.abs(s - 50) < 1e-9, s)
       end
    """)


@pytest.mark.parametrize("share", ["torch.DoubleStorage(s, 11, 10)", "keep(torch.Tensor(s, 11, 10))"])
def test_the_owner_of_memory_is_kept_as_long_as_somebody_shares_it(lua: bridge.Lua, share: str) -> None:
    kept = []
    lua.keep = kept.append
    code = f"""
    local ffi = require 'ffi'
    local gone = false
    local memory = ffi.gc(ffi.new('double[1000]', 0), function() gone = true end)
    local s = torch.DoubleStorage(1000, memory)
    memory = nil
    part = {share}
    s = nil
    local function sweep()
       collectgarbage() collectgarbage()
       torch.DoubleStorage(1, ffi.new('double[1]'))
       collectgarbage() collectgarbage()
       return gone
    end
    return sweep
    """
    sweep = lua.execute(code)
    assert sweep() is False
    lua.execute("part = nil")
    kept.clear()
    assert sweep() is True
