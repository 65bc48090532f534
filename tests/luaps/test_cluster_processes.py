"""LuaJIT processes of a cluster: how they leave it, the ZeroMQ library they open, and nodes of their own."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, TextIO

import numpy as np
import pytest

import pyps
from tests.luaps.nodes import Cluster, values_of


def test_a_worker_may_leave_while_its_operations_are_on_their_way(cluster: Cluster, start: Any) -> None:
    nodes = cluster(2, 10, 1, quiet=True)
    source = """
    for i = 1, 50 do kv:pull(2, {}, true) kv:pull(4, ffi.new('float[1]'), true) end
    say(pcall(kv.finalize, kv, 0.1)) say(kv:id(), pcall(kv.finalize, kv, 5))
    """
    first, second = start(source, nodes[0].address).finish()
    assert first == "false luaps: the operations on their way have not ended within 0.1 s (PS_ETIMEDOUT)"
    assert second == "0 true"


def test_a_worker_that_leaves_has_pushed_everything(cluster: Cluster, start: Any) -> None:
    nodes = cluster(2, 1000, 10)
    source = """
    local keys, v = ffi.new('int64_t[1000]'), ffi.new('float[10000]')
    for i = 0, 999 do keys[i] = i + 1 end
    for i = 0, 9999 do v[i] = 1 end
    for _ = 1, 20 do
       local other = luaps.worker{address = select(1, ...)}
       other:push(keys, v, true)
       other:finalize()
    end
    """
    start(source, nodes[0].address).finish()
    assert (values_of(nodes[0]) == 20).all()


@pytest.mark.slow
def test_a_killed_lua_worker_of_a_cluster_harms_nobody(cluster: Cluster, luajit: Any) -> None:
    nodes = cluster(2, 20, 200)
    source = """
    local keys, v = ffi.new('int64_t[20]'), ffi.new('float[4000]')
    for i = 0, 19 do keys[i] = i + 1 end
    for i = 0, 3999 do v[i] = 1 end
    say('ready')
    while true do kv:push(keys, v, true) kv:localize({2, 3}, true) end
    """
    for round_number in range(5):
        program = luajit(source, nodes[0].address)
        assert program.line() == "ready"
        time.sleep(0.01 * round_number)
        program.kill()
    for node in nodes:
        with node.worker() as kv:
            kv.localize(np.arange(20))
        values = values_of(node)
        assert (values == values[:, :1]).all()


LIBRARY = """
kv:pull({1, 2}, {})
local found
for line in io.lines('/proc/self/maps') do
   assert(not line:match('libpython') and not line:match('_zmq'), line)
   found = found or line:match('(/.*libzmq.*)')
end
say(found)
"""


def test_a_luajit_process_opens_the_zeromq_library_of_its_node(
    cluster: Cluster, luajit: Any, library: str
) -> None:
    assert luajit(LIBRARY, cluster(2, 10, 1)[0].address).finish() == [library]


def test_the_environment_names_another_zeromq_library(
    cluster: Cluster, luajit: Any, library: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    nodes = cluster(2, 10, 1)
    monkeypatch.setenv("PYPS_ZMQ", "/nowhere/libzmq.so.5")
    (line,) = luajit("say(pcall(kv.pull, kv, {1, 2}, {}))", nodes[0].address).finish()
    assert line.startswith(
        "false luaps: no ZeroMQ library can be opened at '/nowhere/libzmq.so.5'; name one by PYPS_ZMQ"
    )
    monkeypatch.setenv("PYPS_ZMQ", library)
    assert luajit(LIBRARY, nodes[0].address).finish() == [library]


def test_a_library_that_is_none_of_zeromq_is_refused(
    cluster: Cluster, luajit: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYPS_ZMQ", "libm.so.6")
    (line,) = luajit("say(pcall(kv.pull, kv, {1, 2}, {}))", cluster(2, 10, 1)[0].address).finish()
    assert line.startswith("false luaps: libm.so.6 is no ZeroMQ library: it has no zmq_ctx_new")


FORKED = """
ffi.cdef 'int fork(void); int waitpid(int pid, int *status, int options);'
kv:push({1, 2}, {1, 1})
local pid = ffi.C.fork()
if pid == 0 then
   kv = nil
   collectgarbage()
   collectgarbage()
   os.exit(0, true)
end
local status = ffi.new('int[1]')
ffi.C.waitpid(pid, status, 0)
kv:push({1, 2}, {1, 1})
kv:finalize()
say(status[0])
"""


def test_a_forked_child_ends_that_inherited_a_worker(cluster: Cluster, luajit: Any) -> None:
    nodes = cluster(2, 10, 1)
    assert luajit(FORKED, nodes[0].address).finish() == ["0"]
    assert values_of(nodes[0])[:2].tolist() == [[2], [2]]


NODE = """
local server = luaps.server{num_keys = 10, value_length = 2, dtype = 'int64', num_nodes = 2, rank = number,
   techniques = 'relocation_only', cluster = 5}
say(server:bind('tcp://127.0.0.1:*'))
local questions = io.open(select(3, ...))
server:connect{questions:read(), questions:read()}
say(server:address())
local kv = server:worker()
kv:push({1, 2}, {1, 1, number, number}) kv:localize({3, 4})
server:barrier(20)
say(server:num_nodes(), server:rank(), server:first_refusal() == '', server:stats().refused)
questions:read()
kv:finalize()
server:shutdown(20)
say(pcall(kv.current_clock, kv))
"""


@pytest.fixture
def pipes(library: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """Return named pipes by which two nodes are told something."""
    monkeypatch.setenv("PYPS_ZMQ", library)
    found = [tmp_path / str(rank) for rank in range(2)]
    for pipe in found:
        os.mkfifo(pipe)
    return found


@contextmanager
def met(programs: list[Any], pipes: list[Path]) -> Iterator[list[TextIO]]:
    """Tell each node where all of them are; give what they read from."""
    endpoints = [program.line() for program in programs]
    with ExitStack() as stack:
        answers = [stack.enter_context(pipe.open("w")) for pipe in pipes]
        for answer in answers:
            print(*endpoints, sep="\n", file=answer, flush=True)
        yield answers


def test_lua_processes_are_nodes_themselves(luajit: Any, pipes: list[Path]) -> None:
    programs = [luajit(NODE, "", rank, pipe) for rank, pipe in enumerate(pipes)]
    with met(programs, pipes):
        addresses = [program.line() for program in programs]
        assert [program.line() for program in programs] == ["2 0 true 0", "2 1 true 0"]
        with pyps.attach(addresses[1]) as node:
            assert values_of(node)[:2].tolist() == [[2, 2], [1, 1]]
            assert (node.num_nodes, node.rank) == (2, 1)
    for program in programs:
        assert program.finish() == ["false luaps: the worker is finalized (PS_ECLOSED)"]


WITH_REPLICAS = """
local server = luaps.server{num_keys = 10, value_length = 2, dtype = 'int64', num_nodes = 2, rank = number,
   cluster = 5, heartbeat = 0.1, lost_after = 1, replicas = 1}
say(server:bind('tcp://127.0.0.1:*'))
local questions = io.open(select(3, ...))
server:connect{questions:read(), questions:read()}
local kv, found = server:worker(), {}
kv:push({1, 2}, {1, 1, number, number})
server:barrier(20)
say('pushed')
"""

LASTING = """
questions:read()
kv:pull({1, 2}, found)
say(table.concat(found, ' '))
kv:finalize()
server:shutdown(20)
"""


def test_with_replicas_the_keys_of_a_killed_lua_node_go_on(luajit: Any, pipes: list[Path]) -> None:
    programs = [luajit(WITH_REPLICAS + LASTING, "", rank, pipe) for rank, pipe in enumerate(pipes)]
    with met(programs, pipes) as answers:
        assert [program.line() for program in programs] == ["pushed", "pushed"]
        programs[1].kill()
        print("go on", file=answers[0], flush=True)
        assert programs[0].line() == "2 2 1 1"
        assert programs[0].finish() == []


LEAVING = """
if questions:read() == 'leave' then
   server:leave(20)
   say('left ' .. tostring(server:is_open()) .. ' ' .. select(2, pcall(kv.pull, kv, {1}, found)))
else
   kv:pull({1, 2}, found)
   say(table.concat(found, ' '))
   say(select(2, pcall(server.leave, server)))
   server:shutdown(20)
end
"""


def test_a_lua_node_leaves_with_replicas(luajit: Any, pipes: list[Path]) -> None:
    programs = [luajit(WITH_REPLICAS + LEAVING, "", rank, pipe) for rank, pipe in enumerate(pipes)]
    with met(programs, pipes) as answers:
        assert [program.line() for program in programs] == ["pushed", "pushed"]
        print("leave", file=answers[1], flush=True)
        assert programs[1].line() == "left false luaps: the node was shut down (PS_ECLOSED)"
        assert programs[1].finish() == []
        print("go on", file=answers[0], flush=True)
        assert programs[0].line() == "2 2 1 1"
        assert "no other node is left" in programs[0].line()
        assert programs[0].finish() == []
