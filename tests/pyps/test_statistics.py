"""What nodes and workers count: where keys were, how they came there, and how long other nodes took."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import pytest

import pyps
from tests.pyps.conftest import Start

TIMEOUT = 50.0
NUM_KEYS = 40

HOME = [np.arange(rank, NUM_KEYS, 2) for rank in range(2)]  # by node, of two


def counted(node: pyps.Server | pyps.Worker, *names: str) -> list[int]:
    stats = node.stats()
    return [stats[name] for name in names]


def ones(keys: Any) -> np.ndarray[Any, Any]:
    return np.ones(len(keys), np.int64)


@pytest.fixture
def pair(cluster: Start) -> list[pyps.Server]:
    """Two nodes, each the home of every other key of one int64."""
    return cluster(2, NUM_KEYS, 1, dtype="int64")


MOVES = "relocations_in", "relocations_out", "replicas_held", "replicas_made"


def test_a_localized_key_is_counted_where_it_came_from_and_where_it_went(pair: list[pyps.Server]) -> None:
    with pair[0].worker() as kv:
        kv.localize(HOME[1][:7])
        kv.localize(HOME[1][:9])
        kv.localize(HOME[0])  # they are here
    assert counted(pair[0], "keys_held", *MOVES) == [29, 9, 0, 0, 0]
    assert counted(pair[1], "keys_held", *MOVES) == [11, 0, 9, 0, 0]


def test_a_key_that_comes_back_is_counted_twice(pair: list[pyps.Server]) -> None:
    with pair[0].worker() as kv, pair[1].worker() as other:
        for worker in (kv, other, kv):
            worker.localize([1])
    assert [counted(node, *MOVES) for node in pair] == [[2, 1, 0, 0], [1, 2, 0, 0]]


def test_a_key_moves_by_the_intent_of_its_only_user(pair: list[pyps.Server]) -> None:
    with pair[0].worker() as kv:
        kv.intent(HOME[1][:5], 0, 100)
        kv.wait_sync(TIMEOUT)
    assert [counted(node, *MOVES) for node in pair] == [[5, 0, 0, 0], [0, 5, 0, 0]]


def test_replicas_are_counted_while_they_are_there_and_for_ever(cluster: Start) -> None:
    first, second = cluster(2, NUM_KEYS, 1, dtype="int64", techniques="replication_only")
    with first.worker() as kv:
        for round_number in range(1, 3):
            kv.intent(HOME[1][:6], kv.current_clock(), kv.current_clock() + 1)
            kv.wait_sync(TIMEOUT)
            assert counted(first, *MOVES) == [0, 0, 6, 6 * round_number]
            kv.advance_clock()
            kv.quiesce(TIMEOUT)
            assert counted(first, *MOVES) == [0, 0, 0, 6 * round_number]
    assert counted(second, *MOVES) == [0] * 4


def test_intents_are_counted_by_whether_their_clock_has_come(pair: list[pyps.Server]) -> None:
    names = "intents_active", "intents_waiting"
    with pair[0].worker() as kv:
        kv.intent([1, 3], 0, 2)
        kv.intent([5], 0, 1)
        kv.intent([7, 9, 11], 1000, 1001)
        kv.wait_sync(TIMEOUT)
        assert counted(pair[0], *names) == [2, 1]
        kv.advance_clock()
        kv.wait_sync(TIMEOUT)
        assert counted(pair[0], *names) == [1, 1]
        kv.begin_setup()
        kv.intent([5], 0, 500)
        kv.wait_sync(TIMEOUT)
        assert counted(pair[0], *names) == [1, 2]
    end = time.monotonic() + TIMEOUT
    while counted(pair[0], *names) != [0, 0] and time.monotonic() < end:
        time.sleep(0.01)  # they end with their worker
    assert counted(pair[0], *names) == [0, 0]
    assert counted(pair[1], *names) == [0, 0]


def test_a_node_counts_the_keys_whose_requests_it_passes_on(cluster: Start) -> None:
    """Key 0 to 27 by threes have the first node as their home, which alone knows where they went."""
    nodes = cluster(3, 30, 1, dtype="int64")
    keys = np.arange(0, 30, 3)
    with nodes[1].worker() as other, nodes[2].worker() as kv:
        kv.pull(keys, ones(keys))
        assert [node.stats()["requests_forwarded"] for node in nodes] == [0, 0, 0]
        other.localize(keys)
        kv.pull(keys, ones(keys))
        kv.push(keys[:4], ones(keys[:4]))  # who answered is asked
        kv.set(keys[:1], ones(keys[:1]))
    assert [node.stats()["requests_forwarded"] for node in nodes] == [10, 0, 0]


def test_a_request_is_a_message_to_the_node_that_serves_it(pair: list[pyps.Server]) -> None:
    with pair[0].worker() as kv:
        kv.push(HOME[1], ones(HOME[1]))
        before = pair[1].stats()["messages_received"]
        for _ in range(20):
            kv.push(HOME[1], ones(HOME[1]))
        assert pair[1].stats()["messages_received"] - before >= 20


def test_a_worker_counts_the_keys_that_lived_here_and_elsewhere_by_operation(pair: list[pyps.Server]) -> None:
    keys = np.arange(10)
    with pair[0].worker() as kv:
        kv.pull(keys, ones(keys))
        kv.push(keys[:7], ones(keys[:7]))
        kv.set(keys[:3], ones(keys[:3]))
        kv.set(keys[:1], ones(keys[:1]))
        assert counted(kv, "keys_pulled", "keys_pushed", "keys_set") == [10, 7, 4]
        assert counted(kv, "keys_pulled_local", "keys_pushed_local", "keys_set_local") == [5, 4, 3]
        assert counted(kv, "keys_local", "keys_remote") == [12, 9]


def test_what_is_done_on_a_replica_is_local(cluster: Start) -> None:
    first, _ = cluster(2, NUM_KEYS, 1, dtype="int64", techniques="replication_only")
    with first.worker() as kv:
        kv.intent(HOME[1], 0, 100)
        kv.wait_sync(TIMEOUT)
        kv.push(HOME[1], ones(HOME[1]))
        kv.set(HOME[1][:1], ones(HOME[1][:1]))  # the owner's alone
        names = "keys_pushed_local", "keys_set_local", "keys_remote", "remote_operations"
        assert counted(kv, *names) == [len(HOME[1]), 0, 1, 1]


REMOTE = "remote_operations", "remote_wait_ns", "longest_remote_ns"


def test_what_is_local_asks_no_other_node(pair: list[pyps.Server]) -> None:
    with pair[0].worker() as kv:
        kv.push(HOME[0], ones(HOME[0]))
        kv.localize(HOME[0])
        assert counted(kv, *REMOTE) == [0, 0, 0]


def test_remote_operations_are_counted_with_their_time_when_they_have_ended(pair: list[pyps.Server]) -> None:
    with pair[0].worker() as kv:
        start = time.monotonic_ns()
        for _ in range(10):
            kv.pull([1, 3, 0], np.zeros(3, np.int64))
        kv.localize([1])
        took = time.monotonic_ns() - start
        count, total, longest = counted(kv, *REMOTE)
        assert count == 11
        assert 0 < total <= took
        assert total / count <= longest <= total


def test_an_asynchronous_operation_takes_until_its_worker_sees_the_answer(pair: list[pyps.Server]) -> None:
    with pair[0].worker() as kv:
        pushed = kv.push([1], np.ones(1, np.int64), asynchronous=True)
        assert counted(kv, *REMOTE) == [0, 0, 0]
        time.sleep(0.05)
        kv.wait(pushed)
        count, total, longest = counted(kv, *REMOTE)
        assert count == 1
        assert total == longest >= 50_000_000


def test_a_setup_counts_nothing(pair: list[pyps.Server]) -> None:
    with pair[0].worker() as kv:
        kv.pull([0, 1], np.zeros(2, np.int64))
        before = kv.stats()
        kv.begin_setup()
        kv.set(np.arange(NUM_KEYS), ones(range(NUM_KEYS)))
        assert kv.stats()["keys_remote"] == 21
        kv.end_setup(TIMEOUT)
        assert kv.stats() == before


def test_a_new_worker_starts_from_zero(pair: list[pyps.Server]) -> None:
    with pair[0].worker() as kv:
        kv.push(HOME[1], ones(HOME[1]))
    with pair[0].worker() as kv:
        assert set(kv.stats().values()) == {0}
