"""Servers whose keys are any numbers, of one length or several: values, moves, replicas, killed workers and nodes."""

from __future__ import annotations

import signal
import threading
import time
from contextlib import ExitStack
from typing import Any

import numpy as np
import pytest
import torch

import pyps
from pyps import classed_keys
from tests.pyps.any_keys import CAPACITY, LENGTH, ONE_LENGTH, REACHED, AnyKeys, Numbers, name, spread, values
from tests.pyps.cluster import Cluster
from tests.pyps.nodes import Cluster as Processes

TIMEOUT = 50.0


def pulled(kv: pyps.Worker, keys: Numbers) -> Numbers:
    """The elements of all values, one after the other."""
    found: Numbers = kv.pull(keys).reshape(-1)
    return found


def test_keys_begin_with_zeros_and_keep_what_is_done_to_them(any_cluster: AnyKeys) -> None:
    kind = any_cluster.kind
    first, second, ends, new = (
        kind.keys(1000),
        kind.keys(1000, first=1001),
        kind.ends,
        kind.keys(2, first=9001),
    )
    keys = np.concatenate([first, ends])
    with ExitStack() as stack:
        workers = [stack.enter_context(node.worker()) for node in any_cluster.nodes]
        assert pulled(workers[0], keys).tolist() == [0] * kind.lengths_of(keys).sum()
        for kv in workers:
            kv.push(keys, kind.values(keys))
        count = len(workers)
        workers[-1].push(np.concatenate([first, second]), kind.values(np.concatenate([first, second])))
        workers[-1].set(first[:8], kind.values(first[:8], 9))
        workers[-1].set(new[:1], kind.values(new[:1], 9))
        for kv in workers:
            assert (pulled(kv, first[8:]) == kind.values(first[8:], count + 1)).all()
            assert (pulled(kv, second) == kind.values(second)).all()
            assert (pulled(kv, ends) == kind.values(ends, count)).all()
            for was_set in (first[:8], new[:1]):
                assert (pulled(kv, was_set) == kind.values(was_set, 9)).all()
            assert (pulled(kv, new[1:]) == 0).all()
            for number, length in enumerate(kind.lengths):
                assert kv.get_key_size(classed_keys(number, 12345)) == length
    held = [node.stats() for node in any_cluster.nodes]
    used = np.concatenate([keys, second, new])
    assert sum(stats["keys_held"] for stats in held) == len(used)
    assert sum(stats["value_bytes"] for stats in held) == kind.lengths_of(used).sum() * 8


def test_a_key_that_comes_twice_in_a_call_counts_twice(any_cluster: AnyKeys) -> None:
    kind, some = any_cluster.kind, any_cluster.kind.keys(100)
    keys = np.concatenate([np.repeat(some[:50], 2), some, some[:7]])
    with any_cluster.nodes[-1].worker() as kv:
        kv.push(keys, kind.values(keys))
        assert (pulled(kv, some[:7]) == kind.values(some[:7], 4)).all()
        assert (pulled(kv, some[7:50]) == kind.values(some[7:50], 3)).all()
        assert (pulled(kv, some[50:]) == kind.values(some[50:])).all()


@pytest.mark.slow
@pytest.mark.parametrize("count", [1, 2])
def test_a_pull_of_keys_that_are_just_being_made_sees_what_was_pushed(count: int) -> None:
    """A key has its first value for a moment before what was pushed to it."""
    many, rounds, pulls = 100, 1000, 100
    with (
        Cluster(count, value_length=1, capacity=2 * many * rounds, dtype="int64") as cluster,
        cluster.nodes[0].worker() as kv,
    ):
        for first in range(0, many * rounds, many):
            keys, seen = np.arange(first, first + many), np.zeros((pulls, 1), np.int64)
            kv.push(keys, np.ones(many, np.int64), asynchronous=True)
            for out in seen:
                kv.pull(keys[-1:], out, asynchronous=True)
            kv.waitall()
            assert seen.sum() == pulls


@pytest.mark.slow
def test_asynchronous_calls_are_waited_for(any_cluster: AnyKeys) -> None:
    kind, keys = any_cluster.kind, any_cluster.kind.keys(500)
    with any_cluster.nodes[0].worker() as kv:
        for _ in range(3):
            kv.push(keys, kind.values(keys), asynchronous=True)
        kv.wait_sync()
        out = kind.values(keys, 0)
        kv.wait(kv.pull(keys, out, asynchronous=True))
        assert (out == kind.values(keys, 3)).all()
        assert (kv.pull(keys, asynchronous=True).wait().reshape(-1) == out).all()
        kv.staggered_push(keys, kind.values(keys), group=33)
        assert (kv.pull(torch.from_numpy(keys)).numpy().reshape(-1) == kind.values(keys, 4)).all()


def test_many_workers_at_once_lose_nothing(any_cluster: AnyKeys) -> None:
    kind, keys, rounds = any_cluster.kind, any_cluster.kind.keys(3000), 15

    def work(kv: pyps.Worker, number: int) -> None:
        random = np.random.default_rng(number)
        for _ in range(rounds):
            some = random.permutation(keys)
            kv.push(some, kind.values(some))

    any_cluster.run(work)
    with any_cluster.nodes[0].worker() as kv:
        assert (pulled(kv, keys) == kind.values(keys, rounds * 2 * len(any_cluster))).all()


@pytest.mark.slow
def test_what_was_used_is_local_on_one_node_and_at_homes_on_several(any_cluster: AnyKeys) -> None:
    kind, keys = any_cluster.kind, any_cluster.kind.keys(4000)
    with any_cluster.nodes[0].worker() as kv:
        kv.push(keys, kind.values(keys))
        local = sum(kv.pull_if_local([key], kind.values([key])) for key in keys.tolist())
    count = len(any_cluster.nodes)
    assert abs(local - 4000 / count) < 200
    assert local == 4000 or count > 1


def test_keys_move_to_who_localizes_them_and_are_pulled_if_they_are_local(any_cluster: AnyKeys) -> None:
    kind, keys, unused = any_cluster.kind, any_cluster.kind.keys(1000), any_cluster.kind.keys(1, first=5000)
    with ExitStack() as stack:
        workers = [stack.enter_context(node.worker()) for node in any_cluster.nodes]
        for kv in workers:
            kv.localize(keys)  # the first one's are new
            kv.push(keys, kind.values(keys))
            assert kv.pull_if_local(keys, kind.values(keys)) or len(workers) > 1
        assert workers[-1].pull_if_local(keys, kind.values(keys))
        for kv in workers:
            assert (pulled(kv, keys) == kind.values(keys, len(workers))).all()
            assert not kv.pull_if_local(unused, kind.values(unused))
    assert any_cluster.nodes[-1].stats()["keys_held"] == 1000


@pytest.mark.slow
def test_intents_bring_keys_and_replicas(any_cluster: AnyKeys) -> None:
    kind, keys = any_cluster.kind, any_cluster.kind.keys(300)
    with ExitStack() as stack:
        workers = [stack.enter_context(node.worker()) for node in any_cluster.nodes]
        for kv in workers:
            kv.intent(keys, 0, 2)
        end = time.monotonic() + TIMEOUT
        while len(workers) > 1 and not all(kv.pull_if_local(keys, kind.values(keys)) for kv in workers):
            assert time.monotonic() < end
            time.sleep(0.01)
        for kv in workers:
            kv.push(keys, kind.values(keys))
        for _ in range(2):
            for kv in workers:
                kv.wait_sync()
        for kv in workers:
            assert (pulled(kv, keys) == kind.values(keys, len(workers))).all()
            kv.advance_clock()
            kv.advance_clock()
        for kv in workers:
            kv.wait_sync()
            kv.push(keys, kind.values(keys))
        for kv in workers:
            kv.wait_sync()
        assert (pulled(workers[0], keys) == kind.values(keys, 2 * len(workers))).all()


OF_KIND = """
from tests.pyps.any_keys import Kind
kind = Kind(tuple(json.loads(sys.argv[2])))
node = pyps.attach(sys.argv[1])
kv = node.worker()
"""


@pytest.mark.slow
@pytest.mark.parametrize("any_cluster", REACHED, indirect=True, ids=name)
def test_attached_processes_are_workers_like_others(any_cluster: AnyKeys, program: Any) -> None:
    source = """
keys = kind.keys(200)
assert node.num_keys is None and node.value_length == (kind.value_length if len(kind.lengths) == 1 else None)
kv.push(keys, kind.values(keys))
assert (kv.pull(keys).reshape(-1) >= kind.values(keys)).all()
kv.finalize()
"""
    kind, keys = any_cluster.kind, any_cluster.kind.keys(200)
    lengths = str(list(kind.lengths))
    running = [program(OF_KIND + source, node.address, lengths) for node in any_cluster.nodes]
    for process in running:
        process.communicate(timeout=TIMEOUT)
        assert process.returncode == 0
    with any_cluster.nodes[0].worker() as kv:
        assert (pulled(kv, keys) == kind.values(keys, len(running))).all()


@pytest.mark.long
@pytest.mark.parametrize("any_cluster", REACHED, indirect=True, ids=name)
def test_killed_workers_leave_whole_values(any_cluster: AnyKeys, program: Any) -> None:
    source = """
print("ready", flush=True)
while True:
    keys = np.random.permutation(kind.keys(2000))[:200]
    kv.push(keys, kind.values(keys))
"""
    kind, keys = any_cluster.kind, any_cluster.kind.keys(2000)
    starts = np.concatenate([[0], np.cumsum(kind.lengths_of(keys))[:-1]])
    for turn in range(6):
        node = any_cluster.nodes[turn % len(any_cluster.nodes)]
        process = program(OF_KIND + source, node.address, str(list(kind.lengths)))
        assert process.stdout.readline() == "ready\n"
        time.sleep(0.05 + 0.02 * turn)
        process.send_signal(signal.SIGKILL)
        process.wait(TIMEOUT)
        with any_cluster.nodes[0].worker() as kv:
            found = pulled(kv, keys)
        times = found[starts] // kind.values(keys)[starts]
        assert (found == kind.values(keys) * np.repeat(times, kind.lengths_of(keys))).all()
    with any_cluster.nodes[-1].worker() as kv:
        before = pulled(kv, keys)
        kv.push(keys, kind.values(keys))
        assert (pulled(kv, keys) == before + kind.values(keys)).all()


@pytest.mark.slow
@pytest.mark.parametrize(("lengths", "number"), [(3, 0), ([3, 2], 1)], ids=["one length", "two lengths"])
def test_keys_that_began_on_a_lost_node_are_lost_and_the_others_go_on(lengths: Any, number: int) -> None:
    width = (3, 2)[number]
    with Processes(3, on_loss="continue", capacity=CAPACITY, lengths=lengths) as processes:
        used = classed_keys(number, np.arange(100, 200)).tolist()
        unused = classed_keys(number, np.arange(1000, 1100)).tolist()
        ones = f"np.ones({width * len(used)}, np.int64)"
        assert processes.nodes[0].value(f"kv.push({used}, {ones})") is None
        processes.nodes[2].kill()
        kinds: dict[str | None, int] = {}
        processes.nodes[0].until(f"kv.pull({used})", "NodeLost", TIMEOUT)
        time.sleep(0.5)  # operations on their way raise once, also for keys that live
        for keys, value in ((used, 1), (unused, 0)):
            for key in keys:
                report = processes.nodes[0].do(f"kv.pull([{key}]).reshape(-1)")
                assert report.get("value", [value] * width) == [value] * width
                kinds[report.get("error")] = kinds.get(report.get("error"), 0) + 1
        assert set(kinds) == {None, "NodeLost"}
        assert abs(kinds["NodeLost"] - 200 / 3) < 35
        assert processes.nodes[0].value("node.is_open")


def test_a_trace_begins_with_the_first_use() -> None:
    with pyps.Server(value_length=LENGTH, dtype="int64", trace_keys=[5, -6]) as server, server.worker() as kv:
        kv.push([4, 5], values(2))
        assert [(event.key, event.event) for event in server.trace()] == [(5, "here")]
        kv.push([-6, 5], values(2))
        assert [(event.key, event.event) for event in server.trace()] == [(-6, "here")]


def test_what_does_not_fit_such_a_server_is_refused() -> None:
    with pytest.raises(ValueError, match="give one of them"):
        pyps.Server(10, capacity=10)
    with pytest.raises(ValueError, match=r"capacity is 4294967296; it must be in \[1, 4294967295\]"):
        pyps.Server(capacity=2**32)
    with pytest.raises(ValueError, match="must be above 0"):
        pyps.Server(capacity=0)
    with pyps.Server(value_length=LENGTH, dtype="int64") as server, server.worker() as kv:
        assert "any keys" in repr(server)
        assert server.num_keys is None
        assert kv.num_keys is None
        assert server.total_values == 0
        for call in (kv.pull, kv.localize):
            with pytest.raises(
                ValueError, match="key -1 at position 1 is none: keys are any 64-bit numbers but -1"
            ):
                call([3, -1])
        with pytest.raises(ValueError, match="may be any numbers: give it num_keys"):
            server.enable_sampling_support("naive", True, "uniform", 0, 10)
        assert server.stats()["keys_held"] == 0


def test_the_only_node_waits_for_its_workers_at_barriers() -> None:
    with pyps.Server(value_length=LENGTH, dtype="int64", num_workers=2) as server:
        found = []

        def work() -> None:
            with server.worker() as kv:
                kv.push(spread(10), values(10))
                kv.barrier(TIMEOUT)
                found.append(int(kv.pull(spread(10)).min()))
                kv.barrier(TIMEOUT)

        threads = [threading.Thread(target=work) for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(TIMEOUT)
        assert found == [2, 2]


def test_a_curve_pair_is_taken_by_the_only_node() -> None:
    import zmq

    pair = tuple(key.decode() for key in zmq.curve_keypair())
    with (
        pyps.Server(value_length=LENGTH, dtype="int64", curve=(pair[0], pair[1])) as server,
        server.worker() as kv,
    ):
        kv.push([3], values(1))
        assert kv.pull([3]).tolist() == [[1] * LENGTH]


def test_nodes_that_meet_need_not_say_how_many_keys_there_are() -> None:
    store, found = torch.distributed.HashStore(), []

    def run(rank: int) -> None:
        place = {"rendezvous": store, "num_nodes": 2, "rank": rank, "timeout": TIMEOUT}
        with (
            pyps.init(value_length=LENGTH, dtype="int64", capacity=1000, **place) as node,
            node.worker() as kv,
        ):
            kv.push(spread(50), values(50))
            kv.barrier(TIMEOUT)
            found.append(int(kv.pull(spread(50)).min()))
            kv.barrier(TIMEOUT)

    threads = [threading.Thread(target=run, args=(rank,)) for rank in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(TIMEOUT)
    assert found == [2, 2]


def test_a_node_that_is_alone_need_not_say_how_many_keys_there_are() -> None:
    with pyps.init(value_length=LENGTH, dtype="int64") as node, node.worker() as kv:
        kv.push(ONE_LENGTH.ends, values(len(ONE_LENGTH.ends)))
        assert (kv.pull(ONE_LENGTH.ends) == 1).all()
