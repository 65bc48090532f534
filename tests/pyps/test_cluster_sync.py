"""Waiting until what is on its way between nodes has arrived; setting up values."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pyps
from tests.pyps.test_cluster_barrier import together

TIMEOUT = 50.0
NUM_KEYS = 40

Start = Callable[..., list[pyps.Server]]
COUNTS = pytest.mark.parametrize("count", [1, 2, 4])


def values(kv: pyps.Worker, keys: Any) -> list[int]:
    out = np.zeros(len(keys), np.int64)
    kv.pull(keys, out)
    return out.tolist()


@COUNTS
def test_after_wait_sync_the_keys_of_intents_that_have_begun_are_local(cluster: Start, count: int) -> None:
    nodes = cluster(count, NUM_KEYS, 1, dtype="int64")
    keys = np.arange(NUM_KEYS)
    for node in nodes:
        with node.worker() as kv:
            kv.intent(keys, 0, 1000)
            kv.wait_sync(TIMEOUT)
            assert kv.pull_if_local(keys, np.zeros(NUM_KEYS, np.int64))


@COUNTS
@pytest.mark.parametrize("techniques", ["all", "replication_only"])
def test_after_wait_sync_others_see_what_was_pushed_to_replicas(
    cluster: Start, count: int, techniques: str
) -> None:
    """Each node pushes into its replica, waits, and lets the next one look after waiting as well."""
    nodes = cluster(count, NUM_KEYS, 1, dtype="int64", techniques=techniques, num_workers=1)
    keys = np.arange(NUM_KEYS)

    def work(node: pyps.Server) -> list[list[int]]:
        seen = []
        with node.worker() as kv:
            kv.intent(keys, 0, 1000)
            kv.wait_sync(TIMEOUT)
            kv.barrier(TIMEOUT)
            for _ in range(20):
                kv.push(keys, np.ones(NUM_KEYS, np.int64))
                kv.wait_sync(TIMEOUT)
                kv.barrier(TIMEOUT)
                kv.wait_sync(TIMEOUT)
                out = np.zeros(NUM_KEYS, np.int64)
                assert kv.pull_if_local(keys, out)
                seen.append(out.tolist())
                kv.barrier(TIMEOUT)
        return seen

    for seen in together(*(lambda node=node: work(node) for node in nodes)):
        assert seen == [[count * (step + 1)] * NUM_KEYS for step in range(20)]


@COUNTS
def test_after_quiesce_everywhere_all_replicas_are_equal(cluster: Start, count: int) -> None:
    nodes = cluster(count, NUM_KEYS, 1, dtype="int64", num_workers=1)
    keys = np.arange(NUM_KEYS)

    def work(node: pyps.Server) -> list[list[int]]:
        random, seen = np.random.default_rng(node.rank), []
        with node.worker() as kv:
            for step in range(1, 11):
                some = random.permutation(NUM_KEYS)[:20]
                kv.intent(some, kv.current_clock(), kv.current_clock() + 3)
                for _ in range(3):
                    kv.push(keys, np.ones(NUM_KEYS, np.int64), asynchronous=True)
                kv.localize(random.permutation(NUM_KEYS)[:5], asynchronous=True)
                kv.barrier(TIMEOUT)
                kv.quiesce(TIMEOUT)
                kv.barrier(TIMEOUT)
                seen.append(values(kv, keys))
                assert seen[-1] == [3 * count * step] * NUM_KEYS
                kv.advance_clock()
                kv.barrier(TIMEOUT)
        return seen

    together(*(lambda node=node: work(node) for node in nodes))


def test_a_wait_for_a_node_that_never_answers_ends(cluster: Start) -> None:
    nodes = [pyps.Server(4, 1, num_nodes=2, rank=rank) for rank in range(2)]
    nodes[0].connect([node.bind("tcp://127.0.0.1:*") for node in nodes])
    try:
        with nodes[0].worker() as kv:
            kv.intent([1], 0, 10)
            for wait in (kv.wait_sync, kv.quiesce):
                with pytest.raises(pyps.WaitTimeoutError, match="the exchange with other nodes"):
                    wait(timeout=0.1)
    finally:
        for node in nodes:
            node.shutdown(timeout=0)


@COUNTS
def test_intents_wait_until_the_setup_ends(cluster: Start, count: int) -> None:
    nodes = cluster(count, NUM_KEYS, 1, dtype="int64", num_workers=1)
    keys = np.arange(NUM_KEYS)

    def work(node: pyps.Server) -> bool:
        with node.worker() as kv:
            kv.begin_setup()
            kv.intent(keys, 0, 1000)
            kv.wait_sync(TIMEOUT)
            managed = kv.pull_if_local(keys, np.zeros(NUM_KEYS, np.int64))
            kv.set(keys[node.rank :: count], keys[node.rank :: count])
            kv.end_setup(TIMEOUT)
            assert kv.stats()["keys_set"] == 0
            out = np.zeros(NUM_KEYS, np.int64)
            assert kv.pull_if_local(keys, out)
            assert out.tolist() == keys.tolist()
            kv.barrier(TIMEOUT)
        return managed

    assert together(*(lambda node=node: work(node) for node in nodes)) == [count == 1] * count


@COUNTS
def test_nobody_leaves_the_setup_before_all_are_done(cluster: Start, count: int) -> None:
    nodes = cluster(count, NUM_KEYS, 1, dtype="int64", num_workers=1)
    done: list[int] = []

    def work(node: pyps.Server) -> int:
        with node.worker() as kv:
            kv.begin_setup()
            time.sleep(0.05 * node.rank)
            done.append(node.rank)
            kv.end_setup(TIMEOUT)
            return len(done)

    assert together(*(lambda node=node: work(node) for node in nodes)) == [count] * count


def test_a_worker_that_ends_has_finished_its_operations(cluster: Start) -> None:
    nodes = cluster(2, 4, 1000, dtype="int64")
    with nodes[1].worker() as other:
        for step in range(1, 21):
            kv = nodes[0].worker()
            for _ in range(50):
                kv.push([1, 3], np.ones((2, 1000), np.int64), asynchronous=True)
            kv.finalize()
            out = np.zeros((2, 1000), np.int64)
            other.pull([1, 3], out)
            assert (out == 50 * step).all()
