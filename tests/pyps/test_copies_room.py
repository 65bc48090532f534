"""The copies of other nodes' keys that a node keeps count for its memory limit, and are never refused themselves."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import numpy as np
import pytest

import pyps
from tests.pyps.any_keys import Numbers, spread
from tests.pyps.cluster import TIMEOUT, Cluster

LENGTH = 250  # a value takes a kilobyte
VALUE = 1000  # bytes
SLACK = 3_000_000  # slabs, and what is on its way from another node at the moment


@contextmanager
def nodes(*limits: int) -> Iterator[list[pyps.Server]]:
    """Two nodes with memory limits of their own, each of which keeps copies of the other's keys."""
    with ExitStack() as stack:
        made = [
            stack.enter_context(
                pyps.Server(
                    value_length=LENGTH,
                    capacity=10**6,
                    memory_limit=limit,
                    max_workers=4,
                    num_nodes=2,
                    rank=rank,
                    replicas=1,
                )
            )
            for rank, limit in enumerate(limits)
        ]
        endpoints = [node.bind("tcp://127.0.0.1:*") for node in made]
        for node in made:
            node.connect(endpoints)
        yield made


@pytest.fixture(scope="module")
def by_home() -> list[Numbers]:
    """Keys that begin on the first of two nodes, and on the second one."""
    with Cluster(2, capacity=100_000) as cluster, cluster.nodes[0].worker() as kv:
        kv.pull(spread(40_000))
        found = []
        for node in cluster.nodes:
            with node.worker() as there:
                found.append(np.concatenate(list(there.keys())))
    return found


def used(node: pyps.Node) -> int:
    stats = node.stats()
    return stats["committed_bytes"] + stats["copy_bytes"]


def wait_until_copied(node: pyps.Node, count: int) -> None:
    end = time.monotonic() + TIMEOUT
    while node.stats()["copy_bytes"] < count * VALUE:
        assert time.monotonic() < end


def push(kv: pyps.Worker, keys: Numbers) -> None:
    kv.push(keys, np.ones((len(keys), LENGTH), np.float32))


def push_until_refused(kv: pyps.Worker, keys: Numbers) -> Numbers:
    """Return the keys of the calls before the one that was refused."""
    for done in range(0, len(keys), 20):
        try:
            push(kv, keys[done : done + 20])
        except MemoryError:
            return keys[:done]
    raise AssertionError("nothing was refused")


def test_own_keys_and_copies_share_the_limit() -> None:
    limit = 16_000_000
    with nodes(limit, limit) as both, both[0].worker() as kv, both[1].worker() as other:
        done = push_until_refused(kv, spread(40_000))
        for worker in (kv, other):
            assert (worker.pull(done) == 1).all()
        for node in both:
            stats = node.stats()
            assert stats["copy_bytes"] > limit // 4
            assert stats["keys_held"] * VALUE > limit // 4
            assert used(node) < limit + SLACK


def test_copies_are_never_refused_but_leave_no_room_for_new_keys(by_home: list[Numbers]) -> None:
    limit = 8_000_000
    first, second = by_home
    with nodes(40_000_000, limit) as both, both[0].worker() as kv, both[1].worker() as other:
        mine, others = second[:20], first[:15_000]
        push(other, mine)
        for keys in np.split(others, 150):
            push(kv, keys)
        wait_until_copied(both[1], len(others))
        assert len(others) * VALUE > limit
        with pytest.raises(MemoryError, match="has no room"):
            push(other, second[20:40])
        with pytest.raises(MemoryError, match="has no room"):
            push(kv, second[20:40])
        push(kv, others[:100])
        push(other, mine)  # keys that are there need no room
        assert (other.pull(others[:100]) == 2).all()
        assert (kv.pull(mine) == 2).all()


def test_a_node_that_is_full_of_copies_localizes_no_keys(by_home: list[Numbers]) -> None:
    limit = 8_000_000
    keys = by_home[0][:15_000]
    with nodes(40_000_000, limit) as both, both[0].worker() as kv, both[1].worker() as other:
        for some in np.split(keys, 150):
            push(kv, some)
        wait_until_copied(both[1], len(keys))
        with pytest.raises(MemoryError, match="no room"):
            other.localize(keys[:100])
        assert (other.pull(keys[:100]) == 1).all()
        assert both[1].stats()["keys_held"] == 0
