"""Servers whose keys are any numbers: values, moves, replicas, killed workers and nodes, errors."""

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
from tests.pyps.any_keys import CAPACITY, LENGTH, spread, values
from tests.pyps.cluster import Cluster
from tests.pyps.nodes import Cluster as Processes

TIMEOUT = 50.0
ENDS = [0, 1, -2, 2**63 - 1, -(2**63), 2**32, -(2**32)]


def test_keys_begin_with_zeros_and_keep_what_is_done_to_them(any_cluster: Cluster) -> None:
    keys = np.concatenate([spread(1000), ENDS])
    with ExitStack() as stack:
        workers = [stack.enter_context(node.worker()) for node in any_cluster.nodes]
        assert (workers[0].pull(keys) == 0).all()
        for kv in workers:
            kv.push(keys, values(len(keys)))
        count = len(workers)
        workers[-1].push(spread(2000), values(2000))  # half of them are new
        workers[-1].set([7], values(1, 9))
        for kv in workers:
            assert (kv.pull(spread(1000)) == count + 1).all()
            assert (kv.pull(spread(1000, first=1001)) == 1).all()
            assert (kv.pull(ENDS) == count).all()
            assert kv.pull([7, 8])[:, 0].tolist() == [9, 0]
    used = len(ENDS) + 2000 + 2
    assert sum(node.stats()["keys_held"] for node in any_cluster.nodes) == used
    assert sum(node.stats()["refused"] for node in any_cluster.nodes) == 0


def test_a_key_that_comes_twice_in_a_call_counts_twice(any_cluster: Cluster) -> None:
    with any_cluster.nodes[0].worker() as kv:
        keys = np.repeat(spread(100), 2)
        kv.push(keys, values(200))
        assert (kv.pull(keys) == 2).all()


def test_asynchronous_calls_are_waited_for(any_cluster: Cluster) -> None:
    with any_cluster.nodes[0].worker() as kv:
        for _ in range(3):
            kv.push(spread(500), values(500), asynchronous=True)
        kv.wait_sync()
        out = values(500, 0)
        kv.wait(kv.pull(spread(500), out, asynchronous=True))
        assert (out == 3).all()


def test_many_workers_at_once_lose_nothing(any_cluster: Cluster) -> None:
    keys, rounds = spread(3000), 20

    def work(node: pyps.Node, seed: int) -> None:
        random = np.random.default_rng(seed)
        with node.worker() as kv:
            for _ in range(rounds):
                kv.push(random.permutation(keys), values(len(keys)))

    threads = [
        threading.Thread(target=work, args=(node, 2 * rank + number))
        for rank, node in enumerate(any_cluster.nodes)
        for number in range(2)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(TIMEOUT)
        assert not thread.is_alive()
    with any_cluster.nodes[0].worker() as kv:
        assert (kv.pull(keys) == rounds * len(threads)).all()


def test_what_was_used_is_local_on_one_node_and_at_homes_on_several(any_cluster: Cluster) -> None:
    keys = spread(4000)
    with any_cluster.nodes[0].worker() as kv:
        kv.push(keys, values(4000))
        local = sum(kv.pull_if_local([key], values(1)) for key in keys.tolist())
    count = len(any_cluster.nodes)
    assert abs(local - 4000 / count) < 200
    assert local == 4000 or count > 1


def test_keys_move_to_who_localizes_them(any_cluster: Cluster) -> None:
    keys = spread(1000)
    with ExitStack() as stack:
        workers = [stack.enter_context(node.worker()) for node in any_cluster.nodes]
        for kv in workers:
            kv.localize(keys)  # the first one's are new
            kv.push(keys, values(1000))
            assert kv.pull_if_local(keys, values(1000)) or len(workers) > 1
        assert workers[-1].pull_if_local(keys, values(1000))
        for kv in workers:
            assert (kv.pull(keys) == len(workers)).all()
    assert any_cluster.nodes[-1].stats()["keys_held"] == 1000


def test_intents_bring_keys_and_replicas(any_cluster: Cluster) -> None:
    keys = spread(300)
    with ExitStack() as stack:
        workers = [stack.enter_context(node.worker()) for node in any_cluster.nodes]
        for kv in workers:
            kv.intent(keys, 0, 2)
        end = time.monotonic() + TIMEOUT
        while not all(kv.pull_if_local(keys, values(300)) for kv in workers):
            assert time.monotonic() < end or len(workers) == 1
            if len(workers) == 1:
                kv.pull(keys)  # nothing has to come to the only node
            time.sleep(0.01)
        for kv in workers:
            kv.push(keys, values(300))
        for _ in range(2):
            for kv in workers:
                kv.wait_sync()
        for kv in workers:
            assert (kv.pull(keys) == len(workers)).all()
            kv.advance_clock()
            kv.advance_clock()
        for kv in workers:
            kv.wait_sync()
            kv.push(keys, values(300))
        for kv in workers:
            kv.wait_sync()
        assert (workers[0].pull(keys) == 2 * len(workers)).all()


@pytest.mark.slow
def test_attached_processes_are_workers_like_others(any_cluster: Cluster, program: Any) -> None:
    source = """
        keys = np.array(json.loads(sys.argv[1]))
        node = pyps.attach(sys.argv[2])
        assert node.num_keys is None and node.value_length == 3
        with node.worker() as kv:
            kv.push(keys, np.ones((len(keys), 3), np.int64))
            print(kv.pull(keys).min(), flush=True)
    """
    source = "\n".join(line[8:] for line in source.splitlines())
    keys = spread(200)
    running = [program(source, str(keys.tolist()), node.address) for node in any_cluster.nodes]
    for process in running:
        assert int(process.communicate(timeout=TIMEOUT)[0]) >= 1
        assert process.returncode == 0
    with any_cluster.nodes[0].worker() as kv:
        assert (kv.pull(keys) == len(running)).all()


@pytest.mark.slow
def test_killed_workers_leave_whole_values(any_cluster: Cluster, program: Any) -> None:
    source = """
node = pyps.attach(sys.argv[1])
kv = node.worker()
keys = (np.arange(1, 2001, dtype=np.uint64) * np.uint64(0x9e3779b97f4a7c15)).view(np.int64)
print("ready", flush=True)
while True:
    kv.push(np.random.permutation(keys)[:200], np.ones((200, 3), np.int64))
"""
    keys = spread(2000)
    for turn in range(6):
        process = program(source, any_cluster.nodes[turn % len(any_cluster.nodes)].address)
        assert process.stdout.readline() == "ready\n"
        time.sleep(0.05 + 0.02 * turn)
        process.send_signal(signal.SIGKILL)
        process.wait(TIMEOUT)
        with any_cluster.nodes[0].worker() as kv:
            found = kv.pull(keys)
        assert (found == found[:, :1]).all()
    with any_cluster.nodes[-1].worker() as kv:
        before = kv.pull(keys)
        kv.push(keys, values(2000))
        assert (kv.pull(keys) == before + 1).all()


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


@pytest.mark.slow
def test_keys_that_began_on_a_lost_node_are_lost_and_the_others_go_on() -> None:
    with Processes(3, on_loss="continue", capacity=CAPACITY) as processes:
        used, unused = list(range(100, 200)), list(range(1000, 1100))
        assert processes.nodes[0].value(f"kv.push({used}, values({used}))") is None
        processes.nodes[2].kill()
        kinds: dict[str | None, int] = {}
        processes.nodes[0].until(f"pull({used})", "NodeLost", TIMEOUT)
        time.sleep(0.5)  # operations on their way raise once, also for keys that live
        for keys, number in ((used, 1), (unused, 0)):
            for key in keys:
                report = processes.nodes[0].do(f"pull([{key}])")
                assert report.get("value", [number]) == [number]
                kinds[report.get("error")] = kinds.get(report.get("error"), 0) + 1
        assert set(kinds) == {None, "NodeLost"}
        assert abs(kinds["NodeLost"] - 200 / 3) < 35
        assert processes.nodes[0].value("node.is_open")


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
        kv.push(ENDS, values(len(ENDS)))
        assert (kv.pull(ENDS) == 1).all()
