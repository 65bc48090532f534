"""Named tables, from Lua: beside Python on the same table, in attached processes and on servers of Lua's own."""

from __future__ import annotations

import os
import re
import time
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import bridge
import pyps
from tests.luaps.nodes import Cluster

FAR = 2**50  # a key of any numbers


@pytest.fixture(autouse=True)
def of_the_environment(library: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Lua processes open the ZeroMQ library that is here."""
    monkeypatch.setenv("PYPS_ZMQ", library)


def ints(*rows: list[int]) -> Any:
    return np.array(rows, np.int64)


@pytest.mark.parametrize(("keys", "same"), [({"num_keys": 5}, [0, 4]), ({}, [1, 5])], ids=["range", "any"])
def test_lua_and_python_have_the_same_values(start: Any, keys: dict[str, Any], same: list[int]) -> None:
    """Keys of a range count from 1 in Lua and from 0 in Python; keys that may be any numbers are what they are."""
    source = """
    local users, v = kv:table('users'), ffi.new('int64_t[4]')
    users:pull({1, 5}, v)
    say(shown(v, 4))
    users:push({5, 1}, {30, 40, 100, 200})
    say(kv:num_keys(), users:num_keys(), users:get_key_size(5), users)
    """
    with pyps.Server(10, 3) as server, server.worker() as kv:
        server.table("users", dim=2, dtype="int64", **keys)
        kv.table("users").push(same, ints([1, 2], [3, 4]))
        values, sizes = start(source, server.address).finish()
        assert values == "1 2 3 4"
        shown = keys.get("num_keys")
        assert sizes.startswith(f"10 {shown or 'nil'} 2 luaps.worker ")
        assert sizes.endswith(f" of luaps table 'users': {shown or 'any'} keys, value_length 2, int64, open")
        assert kv.table("users").pull(same).tolist() == [[101, 202], [33, 44]]
        assert not kv.pull([0, 4]).any()


def test_lua_makes_a_table_that_python_waits_for(start: Any) -> None:
    source = """
    local users = kv.node:table('users', {dim = 2, num_keys = 5, dtype = 'float64', memory_limit = 2^24,
       optimizer = {'sgd', lr = 0.5}, initializer = 'constant:value=7'})
    local mine, v = users:worker(), ffi.new('double[2]')
    mine:push(5, {1, 2}) mine:pull(5, v) say(shown(v, 2))
    say(users:optimizer(), users:num_keys(), users:dtype(), table.concat(kv.node:table_names(), ' '))
    """
    options: dict[str, Any] = {
        "num_keys": 5,
        "dtype": "float64",
        "memory_limit": 2**24,
        "optimizer": "sgd:lr=0.5",
        "initializer": pyps.initializers.Constant(7),
    }
    with pyps.Server(10, 3) as server:
        program = start(source, server.address)
        with server.table("users", timeout=30).worker() as kv:
            values, shown = program.finish()
            assert values == "6.5 6"
            assert shown.startswith("sgd:lr=0.5,")
            assert shown.endswith(" 5 float64 users")
            assert server.table("users", dim=2, **options).num_keys == 5
            assert kv.pull([4]).tolist() == [[6.5, 6]]


@pytest.mark.slow
def test_lua_waits_for_a_table_that_python_makes(luajit: Any) -> None:
    with pyps.Server(10, 3) as server:
        program = luajit("say('waits') say(kv:table('users', 30):get_key_size())", server.address)
        assert program.line() == "waits"
        time.sleep(0.3)
        server.table("users", dim=4)
        assert program.finish() == ["4"]


def test_classes_of_keys(start: Any) -> None:
    source = """
    local of, v = luaps.classed_keys, ffi.new('int64_t[3]')
    local texts = kv.node:table('texts', {dim = {2, 1}, capacity = 100, dtype = 'int64'})
    local mine = kv:table('texts')
    mine:push({of(0, 7), of(1, 7)}, {1, 2, 3}) mine:pull({of(1, 7), of(0, 7)}, v)
    say(shown(v, 3), texts:value_length())
    """
    with pyps.Server(10, 3) as server, server.worker() as kv:
        assert start(source, server.address).finish() == ["3 1 2 nil"]
        assert kv.table("texts").pull(pyps.classed_keys(0, [7])).tolist() == [1, 2]


def test_a_worker_has_one_worker_of_each_table(start: Any) -> None:
    source = """
    local users = kv:table('users')
    say(kv:table('users') == users, kv:table('items') == users, kv:table('items') == kv:table('items'))
    local zero, v = luaps.worker{address = select(1, ...), base = 0}, ffi.new('int64_t[2]')
    zero:table('items'):push({0}, {5, 6}) kv:table('items'):pull({1}, v)
    say(shown(v, 2), zero:table('items') == kv:table('items'))
    users:finalize()
    kv:advance_clock()
    say(kv:table('users') == users, kv:table('users'):current_clock())
    """
    with pyps.Server(dtype="int64") as server:
        for name in ("users", "items"):
            server.table(name, dim=2, dtype="int64", num_keys=5)
        assert start(source, server.address).finish() == ["true false true", "5 6 false", "false 1"]


def test_clocks_follow_the_worker(start: Any) -> None:
    source = """
    local users = kv:table('users')
    kv:advance_clock() kv:advance_clock()
    local items = kv:table('items')
    say(users:current_clock(), items:current_clock())
    say(kv:advance_clock(), users:current_clock(), items:current_clock())
    """
    with pyps.Server(10, 3) as server:
        for name in ("users", "items"):
            server.table(name, dim=2)
        assert start(source, server.address).finish() == ["2 2", "3 3 3"]


def test_tables_end_with_the_worker(start: Any) -> None:
    source = """
    local users, items = kv:table('users'), kv:table('items')
    kv:finalize() kv:finalize()
    say(users:id(), items:id(), select(2, pcall(users.pull, users, 1, ffi.new('float[2]'))))
    say(select(2, pcall(kv.table, kv, 'users')))
    """
    with pyps.Server(10, 3) as server:
        tables = [server.table(name, dim=2) for name in ("users", "items")]
        used, opened = start(source, server.address).finish()
        assert used == "0 0 luaps: the worker is finalized (PS_ECLOSED)"
        assert opened == "luaps: the worker is finalized (PS_ECLOSED)"
        assert [table.stats()["workers"] for table in tables] == [0, 0]
        assert [table.stats()["workers_joined"] for table in tables] == [1, 1]
        assert server.table_names() == ["items", "users"]


def test_finalize_waits_for_operations_on_tables(cluster: Cluster, start: Any) -> None:
    nodes = cluster(2, 10, 3)
    table = nodes[0].table("users", dim=10, num_keys=1000)
    source = """
    local keys, v = ffi.new('int64_t[1000]'), ffi.new('float[10000]')
    for i = 0, 999 do keys[i] = i + 1 end
    for i = 0, 9999 do v[i] = 1 end
    for _ = 1, 20 do
       local other = luaps.worker{address = select(1, ...)}
       other:table('users'):push(keys, v, true)
       other:finalize()
    end
    """
    start(source, nodes[0].address).finish()
    with table.worker() as kv:
        assert (kv.pull(np.arange(1000)) == 20).all()


def test_nodes_see_one_table(cluster: Cluster, start: Any) -> None:
    nodes = cluster(2, 10, 3)
    source = """
    local users = kv.node:table('users', {dim = 1, dtype = 'int64'})
    local mine, keys = kv:table('users'), ffi.new('int64_t[100]')
    for i = 0, 99 do keys[i] = i end
    for step = 1, 5 do
       mine:intent(keys, step)
       mine:push(keys, ffi.new('int64_t[100]', 1))
       kv:advance_clock()
       mine:localize({1, 2 + number})
    end
    kv:finalize()
    """
    for program in [start(source, node.address, rank) for rank, node in enumerate(nodes)]:
        assert program.finish() == []
    for node in nodes:
        with node.worker() as kv:
            kv.table("users").quiesce(30)
            assert kv.table("users").pull(np.arange(100)).tolist() == [[10]] * 100


def test_calls_on_a_dropped_table_are_refused_and_the_rest_goes_on(start: Any) -> None:
    source = """
    local users, v = kv:table('users'), ffi.new('float[2]')
    users:push(7, {1, 2})
    kv.node:dropTable('users', 20)
    say(select(2, pcall(users.pull, users, 7, v)))
    say(select(2, pcall(users.push, users, {7}, v, true)))
    say(kv:advance_clock(), #kv.node:tableNames(), select(2, pcall(kv.node.drop_table, kv.node, 'users')))
    kv.node:table('users', {dim = 3})
    local anew = kv:table('users')
    anew:push(7, {1, 2, 3}) say(anew == users, anew:current_clock(), kv.node:table_names()[1])
    users:finalize() kv:advance_clock() kv:finalize()
    """
    with pyps.Server(10, 3) as server:
        server.table("users", dim=2)
        pulled, pushed, dropped, anew = start(source, server.address).finish()
        for line in (pulled, pushed):
            assert line == "luaps: table 'users' was dropped (PS_ECLOSED)"
        assert dropped.startswith("1 0 luaps: there is no table 'users' (PS_ESTATE)")
        assert anew == "false 1 users"
        with server.worker() as kv:
            assert kv.table("users").pull([7]).tolist() == [[1, 2, 3]]


# What is called in a Lua state that is attached to a server with the table 'there' of two float32, and the error.
CALLS = {
    "kv.node:table()": "name must be a string, got nil",
    "kv:table()": "name must be a string, got nil",
    "kv:table(5)": "name must be a string, got 5",
    "kv:table('there\\0not')": r"name 'there\\0not' holds a NUL",
    "kv.node:table('', {dim = 2})": "'' is no name of a table: 1 to 63 letters, digits",
    "kv.node:table(('x'):rep(64), {dim = 2})": "'x+' is no name of a table",
    "kv.node:drop_table('nobody')": r"there is no table 'nobody' \(PS_ESTATE\)",
    "kv.node:drop_table('there', -1)": "timeout is -1; it must be a number of seconds",
    "kv.node:table('t', 4)": r"server:table expects a table of named arguments, like server:table\('users', "
    r"\{dim = 64\}\); got 4",
    "kv.node:table('t', {dims = 2})": "server:table has no argument 'dims'; there are: admission, capacity, dim,",
    "kv.node:table('t', {capacity = 5, dtype = 'int64'})": "capacity, dtype of table 't' need dim, the number of",
    "kv.node:table('t', {dim = 2, dtype = 'float8'})": "dtype 'float8' is not possible; choose one of float32,",
    "kv.node:table('t', {dim = 'two'})": "dim must be a number, a table of numbers",
    "kv.node:table('t', {dim = 0})": r"the value length of length class 0 is 0; it must be in \[1,",
    "kv.node:table('t', {dim = {}})": "0 value lengths were given",
    "kv.node:table('t', {dim = 1.5})": "dim: 1.5 is not a whole number",
    "kv.node:table('t', {dim = {1, 2}, num_keys = 2})": "2 value lengths were given; a table has one",
    "kv.node:table('t', {dim = 2, num_keys = 0})": r"num_keys is 0; it must be in \[1,",
    "kv.node:table('t', {dim = 2, capacity = -1})": r"capacity is -1; it must be in \[1,",
    "kv.node:table('t', {dim = 2, num_keys = 3, capacity = 3})": "num_keys is 3: give one of them",
    "kv.node:table('t', {dim = 2, memory_limit = -1})": "memory_limit is -1",
    "kv.node:table('t', {dim = 2, eviction = 3})": "eviction is 3; it must be 'lru', 'lfu' or 'age', or left out",
    "kv.node:table('t', {dim = {2, 3}, num_keys = 2, eviction = 'lru'})": "2 value lengths were given; a table has one",
    "kv.node:table('t', {dim = 2, optimizer = 3})": "optimizer must be a text like 'adagrad:lr=0.1' or a table",
    "kv.node:table('t', {dim = 2, optimizer = 'adam:lr=-1'})": "lr is -1; it must be in",
    "kv.node:table('t', {dim = 2, initializer = {'normal', std = '1'}})": "std must be a number, got '1'",
    "kv.node:table('t', {dim = 2, num_keys = 2^40})": r"num_keys is 1099511627776; it must be in \[1,",
    "kv.node:table('t', {dim = 900, num_keys = 2^30, memory_limit = 2^20})": "table 't' could not be made: on node 0, ",
    "kv.node:table('t', {dim = 2, timeout = 'x'})": "timeout is 'x'; it must be a number of seconds",
    "kv.node:table('there', {dim = 3})": "table 'there' is there with other options: capacity=1000000 lengths=2 ",
    "kv.node:table('there'):table('t', {dim = 2})": "a table has no tables",
    "kv:table('there'):table('t')": "a table has no tables",
    "kv:table('there'):push(5, {1, 2, 3})": "the buffer has 3 elements, the values of these 1 keys have 2",
    "kv:table('nobody', 0.2)": r"no node has declared table 'nobody' in time \(PS_ETIMEDOUT\)",
    "kv:table('nobody', 0)": r"no node has declared table 'nobody' in time \(PS_ETIMEDOUT\)",
    "kv.node:table('nobody', {timeout = 0.2})": r"no node has declared table 'nobody' in time \(PS_ETIMEDOUT\)",
}


@pytest.mark.parametrize("call", CALLS)
def test_a_bad_call_is_refused_with_the_way_out(server: pyps.Server, lua: bridge.Lua, call: str) -> None:
    server.table("there", dim=2)
    with pytest.raises(bridge.LuaError) as caught:
        lua.execute(f"local _ = {call}", name="=program")
    message = str(caught.value).splitlines()[0]
    assert re.search("^program:1: luaps: .*(" + CALLS[call] + ")", message), message
    assert server.table_names() == ["there"]
    assert lua.execute("return kv:table('there'):push(5, {1, 2})") == -1


def test_tensors_are_read_and_written(server: pyps.Server, lua: bridge.Lua) -> None:
    with server.table("users", dim=3, num_keys=4, dtype="float64").worker() as kv:
        kv.set([2], [[1.0, 2.0, 3.0]])
        pulled = lua.execute("""
        local users, v = kv:table('users'), torch.DoubleTensor(2, 3)
        users:pull(torch.LongTensor{3, 4}, v)
        users:push(torch.LongTensor{4}, v[1])
        return v
        """)
        assert np.asarray(pulled).tolist() == [[1, 2, 3], [0, 0, 0]]
        assert kv.pull([3]).tolist() == [[1, 2, 3]]


@pytest.mark.slow
def test_a_forked_child_has_workers_of_its_own(server: pyps.Server, luajit: Any) -> None:
    source = """
    ffi.cdef 'int fork(void); int waitpid(int pid, int *status, int options);'
    local users = kv:table('users')
    kv:advance_clock()
    local pid = ffi.C.fork()
    users:push(1, {1, 2})
    if pid == 0 then
       assert(kv:table('users') == users and users:current_clock() == 0)
       assert(kv:advance_clock() == 1 and users:current_clock() == 1)
       kv:finalize()
       os.exit(0, true)
    end
    local status = ffi.new('int[1]')
    ffi.C.waitpid(pid, status, 0)
    say(status[0], kv:advance_clock(), users:current_clock())
    users:push(1, {1, 2})
    kv:finalize()
    """
    with server.table("users", dim=2).worker() as kv:
        assert luajit(source, server.address).finish() == ["0 2 2"]
        assert kv.pull([1]).tolist() == [[3, 6]]


@pytest.mark.parametrize("keys", ["num_keys = 10", "capacity = 10"])
def test_a_server_of_lua_has_tables(luajit: Any, keys: str) -> None:
    """Those that it makes, and those that attached processes make."""
    source = f"""
    local server = luaps.server{{{keys}, num_workers = 2}}
    say(server:address())
    local kv, v = server:worker(), ffi.new('int64_t[2]')
    local items = kv:table('items', 30) -- Python makes it
    local users = server:table('users', {{dim = 2, num_keys = 5, dtype = 'int64'}})
    kv:table('users'):push(1, {{1, 2}}) items:push(1, {{3, 4}})
    kv:barrier(30)
    kv:barrier(30)
    kv:table('users'):pull(5, v)
    say(shown(v, 2), table.concat(server:table_names(), ' '))
    say(users, pcall(users.address, users))
    users:shutdown()
    say(users, #server:table_names())
    server:shutdown()
    say(pcall(kv.table, kv, 'users'))
    """
    program = luajit(source)
    with pyps.attach(program.line()) as node, node.worker() as kv:
        node.table("items", dim=2, dtype="int64")
        kv.barrier(timeout=30)
        assert kv.table("users").pull([0]).tolist() == [[1, 2]]
        assert kv.table("items").pull([1]).tolist() == [[3, 4]]
        kv.table("users").push([4], ints([5, 6]))
        kv.barrier(timeout=30)
        values, opened, ended, closed = program.finish()
        with pytest.raises((pyps.ClosedError, pyps.NodeLost)):
            kv.table("users").pull([0])
    assert values == "5 6 items users"
    shown = "luaps table 'users': 5 keys, value_length 2, int64, "
    assert opened.startswith(
        f"{shown}open false luaps: only the process that created the server can let others attach"
    )
    assert ended == f"{shown}shut down 2"
    assert closed.startswith("false luaps: ")
    assert closed.endswith("(PS_ECLOSED)")


def test_without_zeromq_a_server_of_lua_works_and_has_no_tables(
    luajit: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYPS_ZMQ", "/nowhere/libzmq.so.5")
    source = """
    local server = luaps.server{num_keys = 10, num_workers = 2}
    say(server:address())
    server:worker():barrier(30)
    say(pcall(server.table, server, 'users', {dim = 2}))
    """
    program = luajit(source)
    with pyps.attach(program.line()) as node, node.worker() as kv:
        with pytest.raises(
            RuntimeError, match="table 'items' could not be made: on node 0, ZeroMQ has not been"
        ):
            node.table("items", dim=2)
        kv.barrier(timeout=30)
        (refused,) = program.finish()
    assert refused.startswith("false luaps: no ZeroMQ library can be opened at '/nowhere/libzmq.so.5'")


NODE = """
local server = luaps.server{num_keys = 10, num_nodes = 2, rank = number, cluster = 5}
say(pcall(server.table, server, 'users', {dim = 1}))
say(server:bind('tcp://127.0.0.1:*'))
local questions = io.open(select(3, ...))
server:connect{questions:read(), questions:read()}
local users = server:table('users', {dim = 1, num_keys = 10, dtype = 'int64'})
local kv, v = server:worker(), ffi.new('int64_t[10]')
local mine = kv:table('users')
for key = 1, 10 do mine:push(key, {key}) end
mine:quiesce(20)
server:barrier(20)
mine:pull({1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, v)
say(shown(v, 10), users:num_nodes(), users:rank())
server:barrier(20)
kv:finalize()
server:shutdown(20)
"""


@pytest.mark.slow
def test_lua_processes_are_the_nodes_of_a_table(luajit: Any, tmp_path: Path) -> None:
    pipes = [tmp_path / str(rank) for rank in range(2)]
    for pipe in pipes:
        os.mkfifo(pipe)
    programs = [luajit(NODE, "", rank, pipe) for rank, pipe in enumerate(pipes)]
    for program in programs:
        assert program.line() == "false luaps: a node has tables when it is connected (PS_ESTATE)"
    endpoints = [program.line() for program in programs]
    with ExitStack() as stack:
        for pipe in pipes:
            print(*endpoints, sep="\n", file=stack.enter_context(pipe.open("w")), flush=True)
        values = " ".join(str(2 * key) for key in range(1, 11))
        for rank, program in enumerate(programs):
            assert program.finish() == [f"{values} 2 {rank}"]
