"""Keys that are deleted: whether they exist, their rows' memory, what begins anew, and the keys of a node."""

from __future__ import annotations

import threading
from contextlib import ExitStack

import numpy as np
import pytest
import torch

import pyps
from tests.pyps.any_keys import AnyKeys, Numbers, spread
from tests.pyps.cluster import Cluster

TIMEOUT = 50.0


def found(workers: list[pyps.Worker], chunk: int = 70) -> list[int]:
    """Return the keys that all nodes name, in order."""
    return sorted(int(key) for kv in workers for keys in kv.keys(chunk) for key in keys)


def test_keys_exist_from_their_first_use_to_their_end(any_cluster: AnyKeys) -> None:
    kind = any_cluster.kind
    keys, others = kind.keys(500), kind.keys(500, first=501)
    with ExitStack() as stack:
        workers = [stack.enter_context(node.worker()) for node in any_cluster.nodes]
        first, last = workers[0], workers[-1]
        for kv in workers:
            assert not kv.contains(keys, timeout=TIMEOUT).any()
        first.push(keys, kind.values(keys))
        last.localize(keys[:250])
        assert last.contains(np.concatenate([keys, others])).tolist() == [True] * 500 + [False] * 500
        assert found(workers) == sorted(keys.tolist())
        assert first.delete(np.concatenate([keys[:400], others]), timeout=TIMEOUT) == 400
        assert first.delete(keys[:400]) == 0
        for kv in workers:
            assert kv.contains(keys).tolist() == [False] * 400 + [True] * 100
        assert found(workers) == sorted(keys[400:].tolist())
        assert not last.pull(keys[:400]).any()
        assert (first.pull(keys[400:]).reshape(-1) == kind.values(keys[400:])).all()
        assert last.contains(keys).all()


@pytest.mark.slow
def test_replicas_and_what_was_pushed_to_them_go_as_well(any_cluster: AnyKeys) -> None:
    keys = any_cluster.kind.keys(200)
    with ExitStack() as stack:
        workers = [stack.enter_context(node.worker()) for node in any_cluster.nodes]
        for kv in workers:
            kv.intent(keys, 0, 1)
        for kv in workers:
            kv.wait_sync(TIMEOUT)
        for turn in range(3):
            for kv in workers:
                kv.push(keys, any_cluster.kind.values(keys))
            assert workers[turn % len(workers)].delete(keys, timeout=TIMEOUT) == 200
            for kv in workers:
                assert not kv.pull(keys).any()
            for kv in workers:
                kv.push(keys, any_cluster.kind.values(keys))
            for kv in workers:
                kv.wait_sync(TIMEOUT)
            total = any_cluster.kind.values(keys, len(workers))
            assert (workers[0].pull(keys).reshape(-1) == total).all()
        for kv in workers:
            kv.advance_clock()
        for _ in range(2):
            for kv in workers:
                kv.quiesce(TIMEOUT)
        assert workers[-1].delete(keys) == 200
        assert not workers[0].contains(keys).any()


@pytest.mark.parametrize("threads", [1, 3])
def test_a_server_lives_for_ever_with_as_many_keys_as_its_capacity(threads: int) -> None:
    with (
        pyps.Server(value_length=5, capacity=1000, optimizer="adam", server_threads=threads) as server,
        server.worker() as kv,
    ):
        memory = []
        for turn in range(100):
            keys = spread(1000, first=1 + turn * 1000)
            kv.push(keys, np.ones((1000, 5), np.float32))
            assert server.stats()["keys_held"] == 1000
            with pytest.raises(MemoryError):
                kv.pull([12345])
            assert kv.delete(keys) == 1000
            memory.append(server.stats()["committed_bytes"])
        assert server.stats()["keys_held"] == 0
        assert len(set(memory[2:])) == 1


@pytest.mark.slow
def test_so_do_several_whose_keys_move_among_them() -> None:
    """Each node has room for the keys that begin there and those that are brought there, and for no others."""
    with Cluster(2, value_length=3, dtype="int64", capacity=300) as running, ExitStack() as stack:
        workers = [stack.enter_context(node.worker()) for node in running.nodes]
        for turn in range(50):
            keys, kv = spread(200, first=1 + turn * 200), workers[turn % 2]
            kv.localize(keys)
            kv.push(keys, np.ones((200, 3), np.int64))
            workers[1 - turn % 2].push(keys, np.ones((200, 3), np.int64))
            assert (kv.pull(keys) == 2).all()
            assert kv.delete(keys) == 200
        assert sum(node.stats()["keys_held"] for node in running.nodes) == 0


def test_what_the_optimizer_keeps_goes_too_and_the_first_value_comes_again() -> None:
    initializer = pyps.initializers.Uniform(-1, 1, seed=3)
    with (
        pyps.Server(value_length=4, capacity=100, optimizer="adagrad", initializer=initializer) as server,
        server.worker() as kv,
    ):
        first = kv.pull([7, 8])
        lives = []
        for _ in range(2):
            kv.push([7], np.ones((1, 4), np.float32))
            kv.push([7], np.ones((1, 4), np.float32))
            lives.append(kv.pull([7]))
            assert kv.delete([7]) == 1
            assert (kv.pull([7, 8]) == first).all()
        assert (lives[0] == lives[1]).all()


def test_answers_have_the_form_of_the_keys() -> None:
    with pyps.Server(value_length=1, capacity=10) as server, server.worker() as kv:
        kv.push([3], np.ones((1, 1), np.float32))
        there = kv.contains(torch.tensor([[3, 4], [5, 3]]))
        assert isinstance(there, torch.Tensor)
        assert there.dtype == torch.bool
        assert there.tolist() == [[True, False], [False, True]]
        assert kv.contains([3, 4]).dtype == np.bool_
        assert kv.contains([]).tolist() == []
        assert kv.delete([]) == 0
        assert kv.delete([3, 3, 4]) == 1
        with pytest.raises(ValueError, match="key -1 at position 1 is none"):
            kv.contains([3, -1])
        with pytest.raises(ValueError, match="key -1 at position 0 is none"):
            kv.delete([-1])


def test_keys_of_a_range_always_exist() -> None:
    with pyps.Server(num_keys=10, value_length=1) as server, server.worker() as kv:
        assert kv.contains([0, 9]).all()
        assert [keys.tolist() for keys in kv.keys(4)] == [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9]]
        with pytest.raises(ValueError, match="only a server without num_keys can delete keys"):
            kv.delete([3])
        with pytest.raises(ValueError, match="outside"):
            kv.contains([10])
        with pytest.raises(ValueError, match="chunk is 0"):
            next(kv.keys(0))


def test_a_replica_is_no_key_of_its_node() -> None:
    with (
        Cluster(2, num_keys=100, value_length=1, techniques="replication_only") as running,
        running.nodes[0].worker() as here,
        running.nodes[1].worker() as there,
    ):
        here.intent(range(100), 0, 1)
        here.wait_sync(TIMEOUT)
        assert running.nodes[0].stats()["replicas_held"] == 50
        assert found([here, there]) == list(range(100))


def test_asynchronous_pushes_before_it_are_gone_with_it(any_cluster: AnyKeys) -> None:
    keys = any_cluster.kind.keys(300)
    with any_cluster.nodes[0].worker() as kv:
        for _ in range(20):
            for _ in range(3):
                kv.push(keys, any_cluster.kind.values(keys), asynchronous=True)
            kv.delete(keys)
            assert not kv.contains(keys).any()
            kv.push(keys, any_cluster.kind.values(keys), asynchronous=True)
            assert (kv.pull(keys).reshape(-1) == any_cluster.kind.values(keys)).all()


def churn(node: pyps.Node, keys: Numbers, kind_values: Numbers, stop: threading.Event) -> int:
    """Push, delete and pull keys until told to stop; return how many turns there were."""
    turns = 0
    with node.worker() as kv:
        while not stop.is_set():
            turns += 1
            kv.push(keys, kind_values)
            if turns % 3 == 0:
                kv.localize(keys)
            if turns % 2:
                kv.delete(keys, timeout=TIMEOUT)
    return turns


@pytest.mark.slow
def test_others_keep_their_values_while_keys_come_and_go(any_cluster: AnyKeys) -> None:
    kind, nodes = any_cluster.kind, any_cluster.nodes
    staying, stop, turns = kind.keys(1000, first=100_001), threading.Event(), []

    def work(node: pyps.Node) -> None:
        keys = kind.keys(300)
        turns.append(churn(node, keys, kind.values(keys), stop))

    with nodes[0].worker() as kv, ExitStack() as stack:
        workers = [kv, *(stack.enter_context(node.worker()) for node in nodes[1:])]
        kv.push(staying, kind.values(staying))
        threads = [threading.Thread(target=work, args=(node,)) for node in (*nodes, nodes[0])]
        for thread in threads:
            thread.start()
        try:
            for _ in range(20):
                assert (workers[-1].pull(staying).reshape(-1) == kind.values(staying)).all()
                named = found(workers, 128)
                assert [key for key in named if key in set(staying.tolist())] == sorted(staying.tolist())
        finally:
            stop.set()
            for thread in threads:
                thread.join(TIMEOUT)
        assert len(turns) == len(threads)
        assert min(turns) > 0
        kv.delete(kind.keys(300))
        assert found(workers) == sorted(staying.tolist())


def test_a_question_that_nobody_answers_ends_in_time() -> None:
    with Cluster(2, value_length=1, capacity=100) as running, running.nodes[0].worker() as kv:
        keys = spread(50)
        kv.push(keys, np.ones((50, 1), np.float32))

        def delete_for_ever() -> None:  # unless the answer comes too late
            while True:
                kv.delete(keys, timeout=1e-6)

        with pytest.raises(pyps.WaitTimeoutError, match="timeout: 1e-06 s"):
            delete_for_ever()
        assert kv.delete(keys) <= 50
        assert not kv.contains(keys).any()
