"""A store that a Lua program owns."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import pytest

import bridge
import pyps


def pull_for_seconds(kv: pyps.Worker, seconds: float) -> None:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        kv.pull([0], np.zeros(1, np.float32))


def test_a_program_owns_a_store(start: Any) -> None:
    source = """
    local server = luaps.server{num_keys = 5, value_length = 2}
    local kv, zero = server:worker(), server:worker{base = 0}
    kv:push({1, 5}, ffi.new('float[4]', 1, 2, 3, 4))
    local v = ffi.new('float[4]') zero:pull({4, 0}, v) say(shown(v, 4))
    say(server, server:num_keys(), server:value_length(), server:dtype(), server:is_open())
    server:shutdown() server:shutdown()
    say(server, server:is_open(), pcall(kv.pull, kv, 1, ffi.new('float[2]')))
    """
    values, opened, closed = start(source, "").finish()
    assert values == "3 4 1 2"
    assert opened == "luaps node: 5 keys, value_length 2, float32, open 5 2 float32 true"
    assert closed.startswith("luaps node: 5 keys, value_length 2, float32, shut down false false luaps: ")


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "bfloat16", "int32", "int64"])
@pytest.mark.parametrize("lengths", ["4", "{1, 2, 3}", "ffi.new('int64_t[3]', 1, 2, 3)", "{2}"])
def test_dtypes_and_value_lengths(start: Any, dtype: str, lengths: str) -> None:
    source = f"""
    local server = luaps.server{{num_keys = 3, value_length = {lengths}, dtype = '{dtype}'}}
    local kv = server:worker()
    say(server:dtype(), server:value_length(), kv:get_key_size(1), kv:get_key_size(2), kv:get_key_size(3))
    server:shutdown()
    """
    expected = {"4": "4 4 4 4", "{2}": "2 2 2 2"}.get(lengths, "nil 1 2 3")
    assert start(source, "").finish() == [f"{dtype} {expected}"]


def test_value_lengths_in_a_tensor() -> None:
    with bridge.Lua() as lua:
        source = """
        require 'torch'
        local server = require('luaps').server{num_keys = 3, value_length = torch.Tensor{3, 2, 1}}
        local kv = server:worker()
        return kv:get_key_size(1), kv:get_key_size(3)
        """
        assert lua.execute(source) == (3, 1)


def test_python_attaches_to_a_store_of_a_lua_process(luajit: Any) -> None:
    source = """
    local server = luaps.server{num_keys = 10, value_length = 3, dtype = 'float64', num_workers = 2}
    assert(server:address() == server:address())
    say(server:address())
    local kv, v = server:worker(), ffi.new('double[3]')
    repeat kv:pull(1, v) until v[0] > 0
    kv:push(10, v)
    kv:barrier(30)
    say(shown(v, 3))
    kv:barrier(30)
    server:shutdown()
    """
    program = luajit(source)
    with pyps.attach(program.line()) as node, node.worker() as kv:
        assert (node.num_keys, node.value_length, node.dtype.name) == (10, 3, "float64")
        kv.set([0], np.array([1.0, 2.0, 3.0]))
        kv.barrier(timeout=30)
        out = np.zeros(3)
        kv.pull([9], out)
        assert out.tolist() == [1, 2, 3]
        kv.barrier(timeout=30)
        assert program.finish() == ["1 2 3"]
        assert not node.is_open


def test_a_store_ends_with_the_program_that_owns_it(luajit: Any) -> None:
    program = luajit("""
    local server = luaps.server{num_keys = 10, num_workers = 3}
    say(server:address())
    server:worker():barrier(60)
    """)
    address = program.line()
    with pyps.attach(address) as node, node.worker() as kv:
        program.kill()
        with pytest.raises(pyps.NodeLost):
            pull_for_seconds(kv, 10)
    with pytest.raises(pyps.AttachError):
        pyps.attach(address)


def test_a_forgotten_store_is_collected() -> None:
    with bridge.Lua() as lua:
        lua.execute("local luaps = require 'luaps' address = luaps.server{num_keys = 10}:address()")
        lua.execute("collectgarbage() collectgarbage()")
        with pytest.raises(pyps.AttachError):
            pyps.attach(lua.address)


def test_barriers_wait_for_the_workers_that_were_announced() -> None:
    with bridge.Lua() as lua:
        source = """
        local server = require('luaps').server{num_keys = 1, num_workers = 2}
        local kv = server:worker()
        local alone = pcall(kv.barrier, kv, 0.05)
        server:worker():finalize()
        return alone, (pcall(kv.barrier, kv, 5))
        """
        assert lua.execute(source) == (False, True)
