"""Any numbers as keys beyond the capacity or the memory limit: the worker that asks gets an error, no other notices."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import ExitStack

import numpy as np
import pytest

import pyps
from tests.pyps.any_keys import CAPACITY, LENGTH, AnyKeys, spread, used_until_full, values
from tests.pyps.cluster import Cluster

TIMEOUT = 50.0


@pytest.mark.slow
def test_beyond_the_capacity_the_caller_alone_is_told(any_cluster: AnyKeys) -> None:
    kind, keys, count = any_cluster.kind, any_cluster.kind.keys(1000), len(any_cluster.nodes)
    with ExitStack() as stack:
        workers = [stack.enter_context(node.worker()) for node in any_cluster.nodes]
        workers[0].push(keys, kind.values(keys))
        for operation in ("push", "pull", "set"):
            many = kind.keys(CAPACITY * count * 2, first=10_000)
            with pytest.raises(MemoryError, match=f"capacity is {CAPACITY} keys"):
                getattr(workers[-1], operation)(many, kind.values(many))
        assert (workers[0].pull(keys).reshape(-1) == kind.values(keys)).all()
        workers[-1].push(keys, kind.values(keys))
        assert (workers[0].pull(keys).reshape(-1) == kind.values(keys, 2)).all()
    for node in any_cluster.nodes:
        assert node.is_open
        assert node.stats()["keys_held"] <= CAPACITY


def test_what_is_refused_takes_no_room() -> None:
    with pyps.Server(value_length=LENGTH, dtype="int64", capacity=100) as server, server.worker() as kv:
        for _ in range(3):
            with pytest.raises(MemoryError):
                kv.push(spread(101), values(101))
        assert server.stats()["keys_held"] == 0
        kv.push(spread(100), values(100))
        with pytest.raises(MemoryError):
            kv.pull([12345])
        assert (kv.pull(spread(100)) == 1).all()


@pytest.fixture(params=[1, 3])
def full(request: pytest.FixtureRequest) -> Iterator[tuple[pyps.Node, pyps.Node, list[int], int]]:
    """Two nodes, of which the first has no room for more keys; the used ones, and one that would begin there."""
    with Cluster(
        2, value_length=LENGTH, dtype="int64", capacity=100, server_threads=request.param
    ) as running:
        used = used_until_full(running.nodes[0], spread(400).tolist())
        nodes = sorted(running.nodes, key=lambda node: -node.stats()["keys_held"])
        assert [node.stats()["keys_held"] == 100 for node in nodes] == [True, False]
        yield nodes[0], nodes[1], used, spread(1, first=len(used) + 1).tolist()[0]


def test_what_has_no_room_at_its_home_is_refused_to_another_node_at_once(
    full: tuple[pyps.Node, pyps.Node, list[int], int],
) -> None:
    home, other, used, unused = full
    with other.worker() as kv, other.worker() as neighbour, home.worker() as far:
        began = time.monotonic()
        for _ in range(3):
            with pytest.raises(MemoryError, match="its capacity is 100 keys"):
                kv.localize([unused])
            with pytest.raises(MemoryError, match="its capacity is 100 keys"):
                kv.wait(kv.localize([used[0], unused], asynchronous=True))
        kv.intent([unused], 0, 10)
        kv.wait_sync()
        assert other.stats()["keys_without_room"] == 1
        with pytest.raises(MemoryError, match="its capacity is 100 keys"):
            neighbour.pull([unused])
        assert time.monotonic() - began < 5
        assert kv.pull_if_local(used[:1], values(1))  # it came
        for worker in (kv, neighbour, far):
            worker.push(used, values(len(used)))
        assert (far.pull(used) == 4).all()
        while kv.advance_clock() < 10:
            pass
        kv.wait_sync()  # the intent has ended
        for _ in range(5):  # one that begins while the key is waited for
            timestamp = kv.localize([unused], asynchronous=True)
            kv.intent([unused], kv.current_clock(), kv.current_clock() + 1)
            with pytest.raises(MemoryError):
                kv.wait(timestamp)
            kv.quiesce(TIMEOUT)
            kv.advance_clock()
    for node in (home, other):
        assert node.is_open
        assert node.stats()["refused"] == 0


def test_the_memory_limit_is_kept_and_the_caller_told() -> None:
    limit = 8_000_000
    with (
        pyps.Server(value_length=100, capacity=10**9, memory_limit=limit, max_workers=2) as server,
        server.worker() as kv,
    ):

        def push_all() -> None:
            for first in range(1, 10**6, 1000):
                kv.push(spread(1000, first), np.ones((1000, 100), np.float32))

        with pytest.raises(MemoryError, match=f"memory_limit {limit} bytes"):
            push_all()
        done = server.stats()["keys_held"]
        assert done >= 5000
        assert (kv.pull(spread(done)) == 1).all()
        assert server.stats()["committed_bytes"] <= limit


@pytest.mark.parametrize("count", [1, 2])
def test_keys_that_nobody_uses_take_no_memory(count: int) -> None:
    with Cluster(count, value_length=LENGTH, capacity=2_000_000_000) as any_cluster:
        for node in any_cluster.nodes:
            assert node.stats()["committed_bytes"] < 16_000_000
