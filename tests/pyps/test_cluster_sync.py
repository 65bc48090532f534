"""Waiting until what is on its way between nodes has arrived; setting up values."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from typing import Any

import numpy as np
import pytest

import pyps
from tests.pyps.conftest import Start
from tests.pyps.test_cluster_barrier import together

TIMEOUT = 50.0
NUM_KEYS = 40

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
@pytest.mark.parametrize("behind", [1, 3])
def test_owners_lack_at_most_so_many_exchanges(cluster: Start, count: int, behind: int) -> None:
    """Each node pushes into its replicas and goes on; the first one, whose workers use all keys, owns these."""
    nodes = cluster(count, NUM_KEYS, 1, dtype="int64", num_workers=1)
    keys = np.arange(NUM_KEYS)
    with ExitStack() as stack:
        workers = [stack.enter_context(node.worker()) for node in nodes]
        for kv in workers:
            kv.localize(keys) if kv is workers[0] else None
            kv.intent(keys, 0, 1000)
            kv.wait_sync(TIMEOUT)
        for step in range(1, 50):
            for kv in workers:
                kv.push(keys, np.ones(NUM_KEYS, np.int64))
                kv.wait_sync(TIMEOUT, behind=behind)
            seen = values(workers[0], keys)
            assert count * (step - behind) <= min(seen) <= max(seen) <= count * step
        for kv in workers:
            kv.wait_sync(TIMEOUT)
        assert values(workers[0], keys) == [count * 49] * NUM_KEYS


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


@pytest.fixture
def alone() -> Iterator[tuple[pyps.Server, Callable[[], None]]]:
    """A node whose only other one does not answer before the function is called."""
    nodes = [pyps.Server(4, 1, num_nodes=2, rank=rank) for rank in range(2)]
    endpoints = [node.bind("tcp://127.0.0.1:*") for node in nodes]
    nodes[0].connect(endpoints)
    yield nodes[0], lambda: nodes[1].connect(endpoints)
    for node in nodes:
        node.shutdown(timeout=0)


WAITS = pytest.mark.parametrize("wait", ["wait_sync", "quiesce", "end_setup"])


@pytest.mark.slow
@WAITS
def test_a_wait_for_a_node_that_never_answers_ends(alone: Any, wait: str) -> None:
    with alone[0].worker() as kv:
        kv.intent([1], 0, 10)
        with pytest.raises(pyps.WaitTimeoutError, match="the exchange with other nodes has not finished"):
            getattr(kv, wait)(timeout=0.1)
        kv.pull([1], np.zeros(1, np.float32), asynchronous=True)
        with pytest.raises(pyps.WaitTimeoutError, match="the operations on their way have not finished"):
            getattr(kv, wait)(timeout=0.1)
        kv.finalize(0)


@pytest.mark.slow
@WAITS
def test_a_wait_that_a_signal_ended_can_be_begun_again(alone: Any, wait: str) -> None:
    class Interrupted(Exception):
        pass

    def interrupt(number: int, frame: object) -> None:
        raise Interrupted

    node, answer = alone
    former = signal.signal(signal.SIGUSR1, interrupt)
    timer = threading.Timer(0.15, signal.raise_signal, (signal.SIGUSR1,))
    with node.worker() as kv:
        kv.intent([1], 0, 10)
        try:
            timer.start()
            with pytest.raises(Interrupted):
                getattr(kv, wait)(TIMEOUT)
        finally:
            timer.join()
            signal.signal(signal.SIGUSR1, former)
        answer()
        getattr(kv, wait)(TIMEOUT)
        assert kv.pull_if_local([1], np.zeros(1, np.float32))


@pytest.mark.slow
def test_a_wait_goes_on_for_longer_than_it_looks_for_signals(alone: Any) -> None:
    node, answer = alone
    with node.worker() as kv, ThreadPoolExecutor(1) as pool:
        kv.intent([1], 0, 10)
        waiting = pool.submit(kv.wait_sync, TIMEOUT)
        time.sleep(0.5)
        assert not waiting.done()
        with pytest.raises(ValueError, match="another thread waits with this worker"):
            kv.barrier(TIMEOUT)
        answer()
        waiting.result(TIMEOUT)
        assert kv.pull_if_local([1], np.zeros(1, np.float32))


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
