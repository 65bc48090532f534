"""Lua programs as workers of a cluster, in this process and as plain LuaJIT processes, beside Python workers."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import bridge
import pyps
from pyps import zeromq

NUM_KEYS = 60

Nodes = list[pyps.Server]
Cluster = Callable[..., Nodes]


@pytest.fixture
def cluster() -> Iterator[Cluster]:
    """Start nodes that know each other; with `quiet`, the last one never answers."""
    with ExitStack() as stack:

        def start(count: int, *args: Any, quiet: bool = False, **options: Any) -> Nodes:
            cluster = {"num_nodes": count} if count > 1 else {}
            nodes = [pyps.Server(*args, rank=rank, **cluster, **options) for rank in range(count)]
            for node in nodes:
                stack.callback(node.shutdown, timeout=0)
            endpoints = [node.bind("tcp://127.0.0.1:*") for node in nodes] if cluster else []
            for node in nodes[: -1 if quiet else len(endpoints)]:
                node.connect(endpoints)
            return nodes

        yield start


@pytest.fixture(params=[1, 2])
def nodes(request: pytest.FixtureRequest, cluster: Cluster) -> Nodes:
    """Sixty keys of three int64 on one node or two."""
    return cluster(request.param, NUM_KEYS, 3, dtype="int64")


def numbers(keys: Any, width: int = 3) -> np.ndarray[Any, Any]:
    return np.repeat(np.asarray(keys), width).reshape(-1, width)


def values_of(node: pyps.Server) -> np.ndarray[Any, Any]:
    out = np.zeros(node.total_values, node.dtype.name)
    with node.worker() as kv:
        kv.pull(np.arange(node.num_keys), out)
    return out.reshape(node.num_keys, -1)


def test_python_sees_what_lua_sets_and_pushes(nodes: Nodes, start: Any) -> None:
    source = """
    local keys, v = ffi.new('int64_t[60]'), ffi.new('int64_t[180]')
    for i = 0, 59 do keys[i] = 60 - i for j = 0, 2 do v[3 * i + j] = 59 - i end end
    say(kv:set(keys, v), kv:push(keys, v))
    """
    assert start(source, nodes[0].address).finish() == ["-1 -1"]
    for node in nodes:
        assert (values_of(node) == 2 * numbers(np.arange(NUM_KEYS))).all()


def test_lua_sees_on_every_node_what_python_sets(nodes: Nodes, start: Any) -> None:
    with nodes[-1].worker() as kv:
        kv.set(np.arange(NUM_KEYS), numbers(np.arange(NUM_KEYS)))
    source = "local v = ffi.new('int64_t[9]') kv:pull({60, 2, 1}, v) say(shown(v, 9))"
    for node in nodes:
        assert start(source, node.address).finish() == ["59 59 59 1 1 1 0 0 0"]


def test_values_of_different_lengths_travel(cluster: Cluster, start: Any) -> None:
    nodes = cluster(2, 6, [1, 2, 3, 1, 2, 3])
    source = """
    kv:push({6, 1, 2}, {1, 2, 3, 4, 5, 6})
    local v = {} kv:pull({2, 6}, v) say(table.concat(v, ' '))
    """
    assert start(source, nodes[0].address).finish() == ["5 6 1 2 3"]


def test_asynchronous_operations_take_place_in_their_order(cluster: Cluster, start: Any) -> None:
    source = """
    local v, seen = ffi.new('float[3]'), {}
    for i = 1, 100 do
       v[0] = 1
       kv:push(2, v, true)
       local pulled = kv:pull(2, v, true)
       kv:wait(pulled)
       assert(v[0] == i, v[0])
       local last = kv:set(2, {0, 5, i}, true)
       kv:push(2, {i, 0, 0}, true)
       kv:wait{last, timeout = 20}
    end
    kv:waitall()
    kv:pull(2, v) say(shown(v, 3))
    """
    assert start(source, cluster(2, 10, 3)[0].address).finish() == ["100 5 100"]


def test_an_operation_is_also_a_future(nodes: Nodes, start: Any) -> None:
    source = """
    local v = {}
    kv:push(2, {1, 2, 3})
    local pulled = kv:future(kv:pull({2}, v, true))
    pulled:wait(20)
    say(pulled:done(), table.concat(v, ' '))
    say(tostring(pulled):match('^luaps.future %-?%d of luaps.worker 1 of luaps node'))
    say(select(2, pcall(kv.future, kv, 99)))
    """
    done, text, error = start(source, nodes[0].address).finish()
    assert done == "true 1 2 3"
    assert text.startswith("luaps.future")
    assert error.startswith("luaps: timestamp 99 was not returned by an operation of this worker")


def test_what_is_pulled_asynchronously_into_a_tensor_arrives_when_it_is_waited_for(cluster: Cluster) -> None:
    nodes = cluster(2, 10, 3)
    with nodes[0].worker() as kv:
        kv.set([1], np.array([1, 2, 3], np.float32))
    with bridge.Lua() as lua:
        lua.execute(
            """
            require 'torch'
            kv = require('luaps').worker{address = ...}
            one, columns = torch.FloatTensor(3), torch.FloatTensor(3, 2):zero()
            kv:wait(kv:pull(2, one, true), kv:pull(2, columns:select(2, 2), true))
            moved = torch.FloatTensor(3)
            local first = kv:pull(2, moved, true)
            moved:resize(3000):resize(3) -- to other memory and back
            collectgarbage() collectgarbage()
            kv:wait(first)
            smaller = torch.FloatTensor(3)
            local second = kv:pull(2, smaller, true)
            smaller:resize(2)
            message = select(2, pcall(kv.wait, kv, second))
            kv:finalize()
            """,
            nodes[0].address,
        )
        assert lua.one.tolist() == lua.moved.tolist() == [1, 2, 3]
        assert lua.columns.tolist() == [[0, 1], [0, 2], [0, 3]]
        assert "has 2 elements, and had 3 when the pull began" in lua.message


def test_a_forgotten_buffer_lives_until_its_pull_has_ended(cluster: Cluster, start: Any) -> None:
    source = """
    for i = 1, 300 do
       kv:pull({2, 4}, ffi.new('float[2000]'), true)
       kv:pull({2, 4}, {}, true)
       if i % 10 == 0 then collectgarbage() end
    end
    kv:waitall(20) say('done')
    """
    assert start(source, cluster(2, 10, 1000)[0].address).finish() == ["done"]


def test_localized_keys_are_local(nodes: Nodes, start: Any) -> None:
    source = """
    local v = ffi.new('int64_t[6]')
    local before = kv:pull_if_local({2, 4}, v)
    kv:push({2, 4}, ffi.new('int64_t[6]', 1, 2, 3, 4, 5, 6))
    say(before, kv:localize({2, 4}), kv:pull_if_local({2, 4}, v), shown(v, 6))
    kv:wait(kv:localize({6, 8}, true))
    say(kv:pull_if_local({6, 8}, v))
    """
    first = "true" if len(nodes) == 1 else "false"
    assert start(source, nodes[0].address).finish() == [f"{first} -1 true 1 2 3 4 5 6", "true"]


def test_an_intent_brings_the_keys(cluster: Cluster, start: Any) -> None:
    source = """
    local v = ffi.new('float[6]')
    kv:intent({2, 4}, 1, 3)
    kv:advance_clock()
    local clock = os.time()
    while not kv:pull_if_local({2, 4}, v) and os.time() < clock + 20 do end
    say(kv:pull_if_local({2, 4}, v), kv:current_clock())
    """
    assert start(source, cluster(2, 10, 3)[0].address).finish() == ["true 1"]


def test_statistics_tell_what_was_local(cluster: Cluster, start: Any) -> None:
    source = """
    kv:pull({1, 2, 3, 4}, {}) local stats = kv:stats()
    say(stats.keys_pulled, stats.keys_local, kv.node:stats().keys_held, kv.node:num_nodes(), kv.node:rank())
    """
    assert start(source, cluster(2, 10, 3)[1].address).finish() == ["4 2 5 2 1"]


def test_methods_have_the_names_of_torch_too(nodes: Nodes, start: Any) -> None:
    source = """
    local v = ffi.new('int64_t[3]')
    say(kv:pullIfLocal(1, v), kv:isFinished(-1), kv:waitAll(), kv:advanceClock(), kv:currentClock())
    say(kv:getKeySize(1), kv:numKeys(), kv.node:numKeys(), kv.node:valueLength(), kv.node:isOpen())
    """
    assert start(source, nodes[0].address).finish() == ["true true nil 1 1", "3 60 60 3 true"]


MIXED = """
local random = require 'math'.random
math.randomseed(number)
local seen = 0
for step = 1, 150 do
   local keys, v = {}, {}
   for i = 1, 5 do keys[i] = math.random(1, 8) v[2 * i - 1], v[2 * i] = 1, number end
   local last = kv:push(keys, v, step % 2 == 0)
   if step % 7 == 0 then kv:localize({keys[1], keys[2]}, step % 3 == 0) end
   if step % 5 == 0 then kv:intent({keys[3]}, kv:current_clock() + 1, kv:current_clock() + 3) end
   kv:advance_clock()
   local total, out = 0, ffi.new('int64_t[16]')
   kv:pull({1, 2, 3, 4, 5, 6, 7, 8}, out, step % 2 == 0)
   kv:waitall(40)
   for i = 0, 7 do total = total + tonumber(out[2 * i]) end
   assert(total >= 5 * step)
end
say('done')
"""


def python_worker(node: pyps.Server, number: int) -> None:
    random = np.random.default_rng(number)
    with node.worker() as kv:
        for step in range(1, 151):
            keys = random.integers(0, 8, 5)
            kv.push(keys, np.tile([1, number], 5), asynchronous=step % 2 == 0)
            if step % 7 == 0:
                kv.localize(keys[:2], asynchronous=step % 3 == 0)
            if step % 5 == 0:
                kv.intent(keys[2:3], kv.current_clock() + 1, kv.current_clock() + 3)
            kv.advance_clock()
        kv.waitall(40)


@pytest.mark.parametrize("count", [1, 2])
def test_lua_and_python_workers_sum_exactly_while_keys_move(
    cluster: Cluster, luajit: Any, count: int
) -> None:
    nodes = cluster(count, 8, 2, dtype="int64")
    processes = [luajit(MIXED, node.address, 10 + rank) for rank, node in enumerate(nodes)]
    with ExitStack() as stack, ThreadPoolExecutor(2 * count) as pool:
        states = [stack.enter_context(bridge.Lua()) for _ in nodes]
        work = [pool.submit(python_worker, node, 100 + rank) for rank, node in enumerate(nodes)]
        for rank, state in enumerate(states):
            said: list[str] = []
            state.say = said.append
            state.execute(
                "ffi, luaps = require 'ffi', require 'luaps' kv = luaps.worker{address = ...}",
                nodes[rank].address,
            )
            state.number = 1000 + rank
            work.append(pool.submit(state.execute, MIXED))
        for process in processes:
            assert process.finish() == ["done"]
        for done in work:
            done.result(50)
        for state in states:
            state.execute("kv:finalize()")
    writers = [base + rank for base in (10, 100, 1000) for rank in range(count)]
    expected = [750 * len(writers), 750 * sum(writers)]
    end = time.monotonic() + 30
    while values_of(nodes[0]).sum(0).tolist() != expected and time.monotonic() < end:
        time.sleep(0.01)  # what replicas still have is on its way
    assert values_of(nodes[0]).sum(0).tolist() == expected


def test_a_barrier_spans_the_workers_of_all_nodes(cluster: Cluster, luajit: Any) -> None:
    nodes = cluster(2, 10, 1, num_workers=2)
    source = """
    local v = {}
    for step = 1, 20 do
       kv:push({1, 2}, {1, 1}) kv:barrier(30)
       kv:pull({1, 2}, v) assert(v[1] == 4 * step and v[2] == 4 * step) kv:barrier(30)
    end
    say('done')
    """
    programs = [luajit(source, node.address) for node in nodes]
    with ThreadPoolExecutor(2) as pool:

        def work(node: pyps.Server) -> None:
            out = np.zeros(2, np.float32)
            with node.worker() as kv:
                for step in range(1, 21):
                    kv.push([0, 1], np.ones(2, np.float32))
                    kv.barrier(30)
                    kv.pull([0, 1], out)
                    assert out.tolist() == [4 * step] * 2
                    kv.barrier(30)

        list(pool.map(work, nodes, timeout=50))
    assert [program.finish() for program in programs] == [["done"]] * 2


def test_values_that_were_set_up_are_seen_by_all(cluster: Cluster, luajit: Any) -> None:
    nodes = cluster(2, 10, 1, num_workers=1)
    source = """
    kv:begin_setup()
    kv:set({1 + number, 3 + number}, {5, 6}, true)
    kv:endSetup(30)
    local v = {}
    kv:pull({1, 2, 3, 4}, v) say(table.concat(v, ' '), kv:stats().sets)
    kv:intent({1, 2}, 0, 5) kv:waitSync(30)
    say(kv:pull_if_local({1, 2}, {}))
    kv:push({1, 2}, {1, 1}) kv:barrier(30) kv:quiesce(30) kv:barrier(30) kv:quiesce(30)
    local w = {} kv:pull({1, 2}, w) say(w[1], w[2])
    kv:barrier(30)
    """
    programs = [luajit(source, node.address, rank) for rank, node in enumerate(nodes)]
    for program in programs:
        assert program.finish() == ["5 5 6 6 0", "true", "7 7"]


def test_a_wait_for_nodes_that_never_answer_ends_with_its_timeout(cluster: Cluster, start: Any) -> None:
    source = """
    kv:intent({2}, 0, 10)
    for _, name in ipairs{'wait_sync', 'quiesce', 'endSetup'} do say(pcall(kv[name], kv, 0.3)) end
    kv:pull(2, {}, true)
    say(pcall(kv.waitSync, kv, 0.2))
    """
    exchange = "false luaps: the exchange with other nodes has not finished in time (PS_ETIMEDOUT)"
    operations = "false luaps: the operations on their way have not finished in time (PS_ETIMEDOUT)"
    assert start(source, cluster(2, 10, 1, quiet=True)[0].address).finish() == [exchange] * 3 + [operations]


def test_lua_waits_until_what_it_intends_to_use_is_here_and_what_it_pushed_is_everywhere(
    nodes: Nodes, start: Any
) -> None:
    source = """
    local keys, v = {}, {}
    for i = 1, 60 do keys[i] = i end
    kv:intent(keys, 0, 100) kv:wait_sync(20)
    say(kv:pull_if_local(keys, v))
    kv:push({1, 2}, {1, 1, 1, 2, 2, 2}, true)
    kv:intent(keys, 100, 101)
    kv:quiesce(20)
    say(kv:stats().keys_remote, kv:stats().keys_pushed_local)
    kv:beginSetup()
    kv:set({3}, {9, 9, 9})
    say(kv:stats().sets)
    kv:endSetup(20)
    say(kv:stats().sets)
    """
    assert start(source, nodes[0].address).finish() == ["true", "0 2", "1", "0"]
    for node in nodes:
        assert values_of(node)[:3, 0].tolist() == [1, 2, 9]
    moved = NUM_KEYS - NUM_KEYS // len(nodes)
    assert [node.stats()["relocations_in"] for node in nodes] == [moved, *[0] * (len(nodes) - 1)]


@pytest.mark.parametrize("call", ["barrier", "end_setup"])
def test_an_interrupted_barrier_is_left(cluster: Cluster, luajit: Any, call: str) -> None:
    nodes = cluster(2, 10, 1)
    source = f"""
    say('ready')
    local ok, message = pcall(kv.{call}, kv, 50)
    say(ok, message:match('interrupted!'))
    os.execute('sleep 1')
    kv:{call}(30) say('together')
    """
    with nodes[1].worker() as kv:
        program = luajit(source, nodes[0].address)
        assert program.line() == "ready"
        time.sleep(0.1)
        program.process.send_signal(signal.SIGINT)
        assert program.line() == "false interrupted!"
        with pytest.raises(pyps.WaitTimeoutError):
            getattr(kv, call)(0.2)
        getattr(kv, call)(30)
        assert program.finish() == ["together"]


def test_waits_end_with_their_timeout(cluster: Cluster, start: Any) -> None:
    source = """
    local v = ffi.new('float[1]')
    local pulled = kv:pull(2, v, true)
    say(kv:is_finished(pulled), pcall(kv.wait, kv, {pulled, timeout = 0.3}))
    say(pcall(kv.waitall, kv, 0.2))
    say(kv:future(pulled):done())
    """
    first, second, third = start(source, cluster(2, 10, 1, quiet=True)[0].address).finish()
    assert first == (
        "false false luaps: the operation with timestamp 0 has not ended within 0.3 s (PS_ETIMEDOUT)"
    )
    assert second == "false luaps: the operations on their way have not ended within 0.2 s (PS_ETIMEDOUT)"
    assert third == "false"


CALLS = [
    "kv:wait(pulled)",
    "kv:waitall()",
    "kv:localize({4})",
    "kv:wait_sync()",
    "kv:quiesce()",
    "kv:end_setup()",
]


@pytest.mark.parametrize("call", CALLS)
def test_ctrl_c_ends_a_wait(cluster: Cluster, luajit: Any, call: str) -> None:
    source = f"local pulled = kv:pull(2, ffi.new('float[1]'), true) say('ready') {call}"
    program = luajit(source, cluster(2, 10, 1, quiet=True)[0].address)
    assert program.line() == "ready"
    time.sleep(0.15)
    program.process.send_signal(signal.SIGINT)
    _, errors = program.process.communicate(timeout=30)
    assert "interrupted!" in errors


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


@pytest.fixture
def library() -> str:
    """The path of a ZeroMQ library."""
    zeromq.load()
    for line in Path("/proc/self/maps").read_text().splitlines():
        if "libzmq" in line:
            return line.split()[-1]
    raise AssertionError("no libzmq is loaded")


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


def test_lua_processes_are_nodes_themselves(
    luajit: Any, library: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYPS_ZMQ", library)
    pipes = [tmp_path / str(rank) for rank in range(2)]
    for pipe in pipes:
        os.mkfifo(pipe)
    programs = [luajit(NODE, "", rank, pipe) for rank, pipe in enumerate(pipes)]
    endpoints = [program.line() for program in programs]
    with ExitStack() as stack:
        answers = [stack.enter_context(pipe.open("w")) for pipe in pipes]
        for answer in answers:
            print(*endpoints, sep="\n", file=answer, flush=True)
        addresses = [program.line() for program in programs]
        assert [program.line() for program in programs] == ["2 0 true 0", "2 1 true 0"]
        with pyps.attach(addresses[1]) as node:
            assert values_of(node)[:2].tolist() == [[2, 2], [1, 1]]
            assert (node.num_nodes, node.rank) == (2, 1)
    for program in programs:
        assert program.finish() == ["false luaps: the worker is finalized (PS_ECLOSED)"]
