"""Keys beyond a node's memory limit: a worker that asks for them gets an error, and no other notices."""

from __future__ import annotations

import time
from collections.abc import Iterator

import numpy as np
import pytest

from tests.pyps.cluster import Cluster

NUM_KEYS, LENGTH = 20_000, 100  # 4 MB of values on each of two nodes
LIMIT = 7_000_000
HERE, THERE = np.arange(0, NUM_KEYS, 2), np.arange(1, NUM_KEYS, 2)
TIMEOUT = 30.0


@pytest.fixture
def cluster() -> Iterator[Cluster]:
    with Cluster(2, NUM_KEYS, LENGTH, memory_limit=LIMIT) as running:
        with running.nodes[0].worker() as kv:
            kv.set(np.arange(NUM_KEYS), np.repeat(np.arange(NUM_KEYS, dtype=np.float32), LENGTH))
        yield running


def check_whole(cluster: Cluster) -> None:
    """Every key has its value, wherever it lives, and no node takes more than it may."""
    out = np.zeros((NUM_KEYS, LENGTH), np.float32)
    for node in cluster.nodes:
        with node.worker() as kv:
            kv.pull(np.arange(NUM_KEYS), out)
        assert (out == np.arange(NUM_KEYS)[:, None]).all()
        assert node.stats()["committed_bytes"] <= LIMIT
    assert sum(node.stats()["keys_held"] for node in cluster.nodes) == NUM_KEYS


@pytest.mark.parametrize("asynchronous", [False, True])
def test_localize_beyond_the_limit_is_refused(cluster: Cluster, asynchronous: bool) -> None:
    with cluster.nodes[0].worker() as kv:
        with pytest.raises(MemoryError, match=f"no room on this node .* memory_limit is {LIMIT} bytes"):
            kv.localize(THERE, asynchronous=asynchronous).wait(TIMEOUT)
        kv.localize(THERE[:1000])
        assert cluster.nodes[0].stats()["keys_held"] == NUM_KEYS // 2 + 1000
    check_whole(cluster)


def test_what_is_given_away_is_room(cluster: Cluster) -> None:
    with cluster.nodes[0].worker() as kv, cluster.nodes[1].worker() as other:
        for begin in range(0, 10_000, 1000):
            kv.localize(THERE[begin : begin + 1000])
            other.localize(HERE[begin : begin + 1000])
        assert cluster.nodes[0].stats()["relocations_in"] == NUM_KEYS // 2
    check_whole(cluster)


def test_many_that_localize_at_once_get_what_there_is_room_for(cluster: Cluster) -> None:
    with cluster.nodes[0].worker() as kv:
        waiting = [
            kv.localize(THERE[begin : begin + 500], asynchronous=True) for begin in range(0, 10_000, 500)
        ]
        refused = 0
        for one in waiting:
            try:
                one.wait(TIMEOUT)
            except MemoryError:
                refused += 1
        assert 0 < refused < len(waiting)
        came = cluster.nodes[0].stats()["keys_held"] - NUM_KEYS // 2
        assert came == 500 * (len(waiting) - refused)
    check_whole(cluster)


def test_an_intent_beyond_the_limit_is_refused(cluster: Cluster) -> None:
    with cluster.nodes[0].worker() as kv:
        with pytest.raises(MemoryError, match=f"take 4000000 bytes, and .* of {LIMIT}, its"):
            kv.intent(THERE, 0, 10)
        kv.intent(THERE[:100], 0, 10)
        kv.wait_sync(TIMEOUT)
        assert cluster.nodes[0].stats()["keys_held"] == NUM_KEYS // 2 + 100
    check_whole(cluster)


@pytest.mark.parametrize("techniques", ["all", "replication_only"])
def test_intents_that_no_longer_fit_leave_their_keys_where_they_are(techniques: str) -> None:
    options = {"memory_limit": LIMIT, "techniques": techniques}
    with Cluster(2, NUM_KEYS, LENGTH, **options) as cluster:
        with cluster.nodes[0].worker() as kv:
            kv.set(np.arange(NUM_KEYS), np.repeat(np.arange(NUM_KEYS, dtype=np.float32), LENGTH))
            for begin in range(0, 10_000, 500):  # each fits by itself
                kv.intent(THERE[begin : begin + 500], 5, 10)
            for _ in range(5):
                kv.advance_clock()
            kv.wait_sync(TIMEOUT)
            stats = cluster.nodes[0].stats()
            assert 0 < stats["keys_without_room"] < NUM_KEYS // 2
            came = stats["keys_held"] - NUM_KEYS // 2 + stats["replicas_held"]
            assert came > 0
            if techniques == "all":  # else the other node has no room for its side of more replicas
                assert came + stats["keys_without_room"] == NUM_KEYS // 2
            check_whole(cluster)
            for _ in range(10):
                kv.advance_clock()
            kv.quiesce(TIMEOUT)
            assert cluster.nodes[0].stats()["replicas_held"] == 0
        check_whole(cluster)


def test_nobody_else_notices(cluster: Cluster) -> None:
    """Another worker of the node goes on, and so does one of the other."""
    with cluster.nodes[0].worker() as first, cluster.nodes[0].worker() as second:
        with cluster.nodes[1].worker() as other:
            refusals = [first.localize(THERE, asynchronous=True) for _ in range(20)]
            began = time.monotonic()
            for kv in (second, other):
                kv.push([0, 1], np.zeros((2, LENGTH), np.float32))
                kv.localize([4] if kv is other else [5])
            assert time.monotonic() - began < TIMEOUT
        for one in refusals:
            with pytest.raises(MemoryError):
                one.wait(TIMEOUT)
    check_whole(cluster)
