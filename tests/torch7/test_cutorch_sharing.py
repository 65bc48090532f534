"""Memory on a device that several owners share: parts of storages, tds objects, other threads of Lua."""

from __future__ import annotations

import bridge


def test_a_part_of_a_storage_is_the_same_memory(cuda: bridge.Lua) -> None:
    code = """
    local part = torch.CudaStorage(t:storage(), 3, 2)
    part[1] = 50
    local tensor = torch.CudaTensor(part)
    tensor[2] = 60
    local ok, message = pcall(torch.CudaStorage, t:storage(), 5, 3)
    return #part, t:totable(), ok, message:match('out of bounds')
    """
    assert cuda.execute(code) == (2, [[1, 2, 50], [60, 5, 6]], False, "out of bounds")


def test_a_part_outlives_the_whole(cuda: bridge.Lua) -> None:
    code = """
    local part = torch.CudaStorage(t:storage(), 2, 3)
    t = nil
    collectgarbage() collectgarbage()
    return part:totable()
    """
    assert cuda.execute(code) == [2, 3, 4]


def test_tds_keeps_them(there: bridge.Lua) -> None:
    code = """
    local tds = require 'tds'
    local hash = tds.Hash()
    hash.tensor, hash.storage = t, t:storage()
    t:fill(4)
    return torch.type(hash.tensor), hash.tensor:sum(), torch.type(hash.storage), hash.storage[6]
    """
    assert there.execute(code) == ("torch.CudaTensor", 24, "torch.CudaStorage", 4)


def test_threads_share_them(there: bridge.Lua) -> None:
    code = """
    local threads = require 'threads'
    threads.serialization('threads.sharedserialize')
    local pool, there = threads.Threads(1, function() require 'cutorch' end), t
    local kind
    pool:addjob(function() there:mul(2) return torch.type(there) end, function(name) kind = name end)
    pool:terminate()
    return kind, t:totable()
    """
    assert there.execute(code) == ("torch.CudaTensor", [[2, 4, 6], [8, 10, 12]])
