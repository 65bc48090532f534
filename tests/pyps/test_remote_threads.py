"""Calls that wait for another node leave Python to other threads, and to other calls that wait."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import pyps
from tests.pyps.cluster import Cluster

pytestmark = pytest.mark.slow

TIMEOUT = 20.0
PAUSE = 0.5  # seconds for which the network is silent
CALLS = ["pull", "push", "set"]


def operate(kv: pyps.Worker, call: str, keys: list[int]) -> float:
    """Return when it has ended."""
    getattr(kv, call)(keys, np.zeros(len(keys), np.int64))
    return time.monotonic()


def wait_until_asked(workers: list[pyps.Worker], before: list[int], keys: int) -> None:
    """Return when each worker has asked the other node for so many keys more than before."""
    end = time.monotonic() + TIMEOUT
    while [kv.stats()["keys_remote"] for kv in workers] != [number + keys for number in before]:
        assert time.monotonic() < end
        time.sleep(0.001)


@pytest.mark.parametrize("call", CALLS)
def test_a_thread_computes_while_another_waits_for_a_node(call: str) -> None:
    with Cluster(2, 10, 1, dtype="int64", slow=True) as cluster, cluster.nodes[0].worker() as kv:
        operate(kv, call, [1])
        before = [kv.stats()["keys_remote"]]
        with ThreadPoolExecutor(1) as pool:
            with cluster.silent():
                waiting = pool.submit(operate, kv, call, [1])
                wait_until_asked([kv], before, 1)
                count, longest, last = 0, 0.0, time.monotonic()
                end = last + PAUSE
                while last < end:
                    now = time.monotonic()
                    longest, last = max(longest, now - last), now
                    count += 1
                assert not waiting.done()
            assert waiting.result(TIMEOUT) >= end
        assert count > 1000
        assert longest < PAUSE / 2


@pytest.mark.parametrize("call", CALLS)
def test_calls_of_two_threads_wait_at_the_same_time(call: str) -> None:
    """Two that waited one after the other would take two pauses, as the second would be sent after the first."""
    with Cluster(2, 10, 1, dtype="int64", slow=True) as cluster:
        workers = [cluster.nodes[0].worker() for _ in range(2)]
        for kv in workers:
            operate(kv, call, [1])
        before = [kv.stats()["keys_remote"] for kv in workers]
        with ThreadPoolExecutor(2) as pool:
            with cluster.silent():
                waiting = [pool.submit(operate, kv, call, [1, 3]) for kv in workers]
                wait_until_asked(workers, before, 2)
                time.sleep(PAUSE)
                assert [kv.stats()["keys_remote"] for kv in workers] == [number + 2 for number in before]
                assert not any(done.done() for done in waiting)
            for done in waiting:
                done.result(TIMEOUT)
        for kv in workers:
            kv.finalize()
