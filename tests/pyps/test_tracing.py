"""What a node tells of chosen keys: where they were, who had a replica, who intended to use them."""

from __future__ import annotations

import logging
import random
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

import pyps
from pyps.tracing import TraceEvent
from tests.pyps.cluster import Cluster
from tests.pyps.conftest import Start

TIMEOUT = 50.0
NUM_KEYS = 40
TRACED = [1, 5, 8]


def told(node: pyps.Server, key: int) -> list[tuple[str, int | None]]:
    """What happened to a key on a node since the last call, without the rest."""
    return [(event.event, event.to) for event in node.trace() if event.key == key]


def move_about(kv: pyps.Worker, number: int, *, rounds: int) -> None:
    """Take keys from each other."""
    chance = random.Random(number)
    for _ in range(rounds):
        kv.localize(chance.sample(TRACED, chance.randint(1, len(TRACED))))


def use_with_intent(kv: pyps.Worker, number: int, *, rounds: int) -> None:
    chance = random.Random(number)
    for _ in range(rounds):
        keys = chance.sample(TRACED, 2)
        clock = kv.current_clock()
        kv.intent(keys, clock + 1, clock + 1 + chance.randint(1, 3))
        kv.advance_clock()
        kv.push(keys, np.ones(2, np.int64))


def path_of(events: list[TraceEvent], key: int, num_nodes: int) -> int:
    """Check that a key's relocations make one path, each told by giver and by taker; return where it ends."""
    moves = [
        event
        for event in sorted(events)
        if event.key == key and event.event in ("relocated in", "relocated out")
    ]
    given = [(event.node, event.to) for event in moves if event.event == "relocated out"]
    taken = [event.node for event in moves if event.event == "relocated in"]
    at, going = key % num_nodes, None
    for event in moves:
        if event.event == "relocated out":
            assert (event.node, going) == (at, None)
            going = event.to
        else:
            assert event.node == going
            at, going = event.node, None
    assert going is None
    assert [to for _, to in given] == taken
    return at


@pytest.mark.slow
@pytest.mark.parametrize("slow", [False, True], ids=["direct", "slow"])
@pytest.mark.parametrize("count", [2, 4])
@pytest.mark.parametrize("work", [move_about, use_with_intent])
def test_the_relocations_of_a_key_make_one_path_told_by_giver_and_taker(
    work: Any, count: int, slow: bool
) -> None:
    options = {"trace_keys": TRACED, "slow": slow, "lost_after": 30.0}
    with Cluster(count, NUM_KEYS, 1, dtype="int64", **options) as cluster:
        cluster.run(work, workers=1, rounds=20 if slow else 100)
        workers = [node.worker() for node in cluster.nodes]
        for kv in workers:
            kv.quiesce(TIMEOUT)
        events = [event for node in cluster.nodes for event in node.trace()]
        assert {event.key for event in events} == set(TRACED)
        for key in TRACED:
            owner = path_of(events, key, count)
            assert workers[owner].pull_if_local([key], np.empty(1, np.int64))
        relocated = sum(event.event == "relocated in" for event in events)
        for kv in workers:
            kv.finalize()
    assert relocated > 0


@pytest.fixture
def pair(cluster: Start) -> list[pyps.Server]:
    """Two nodes that trace some keys."""
    return cluster(2, NUM_KEYS, 1, dtype="int64", trace_keys=TRACED)


def test_it_begins_with_where_the_keys_live(pair: list[pyps.Server]) -> None:
    begun = [[(event.key, event.event) for event in node.trace()] for node in pair]
    assert begun == [[(8, "here")], [(1, "here"), (5, "here")]]


def test_a_localized_key_is_asked_for_leaves_and_comes(pair: list[pyps.Server]) -> None:
    with pair[0].worker() as kv:
        kv.localize([1, 3])
        kv.localize([1])  # it is here
        kv.quiesce(TIMEOUT)
    assert told(pair[1], 1) == [("here", None), ("relocated out", 0)]
    events = pair[0].trace()
    assert [(event.key, event.event, event.node) for event in events] == [
        (8, "here", 0),
        (1, "localize", 0),
        (1, "relocated in", 0),
    ]
    assert all(before.time <= after.time for before, after in pairwise(events))


def test_the_only_node_with_an_intent_gets_the_key(pair: list[pyps.Server]) -> None:
    with pair[0].worker() as kv:
        kv.intent([1], 0, 1)
        kv.wait_sync(TIMEOUT)
        kv.advance_clock()
        kv.quiesce(TIMEOUT)
    assert told(pair[0], 1) == [("intent begins", None), ("relocated in", None), ("intent ends", None)]
    assert told(pair[1], 1) == [("here", None), ("relocated out", 0)]


def test_a_replica_is_made_for_an_intent_and_ends_with_it(cluster: Start) -> None:
    first, second = cluster(
        2, NUM_KEYS, 1, dtype="int64", techniques="replication_only", trace_keys=np.array(TRACED)
    )
    with first.worker() as kv:
        for _ in range(2):
            clock = kv.current_clock()
            kv.intent([1], clock, clock + 1)
            kv.wait_sync(TIMEOUT)
            kv.advance_clock()
            kv.quiesce(TIMEOUT)
    once = ["intent begins", "replica made", "intent ends", "replica ended"]
    assert [event for event, _ in told(first, 1)] == 2 * once
    assert told(second, 1) == [("here", None)]


def test_a_replica_ends_when_the_key_itself_comes(pair: list[pyps.Server]) -> None:
    """The owner uses the key as well; when it does not any more, the other node is the only one that does."""
    with pair[0].worker() as kv, pair[1].worker() as owner:
        owner.intent([1], 0, 1)
        owner.wait_sync(TIMEOUT)
        kv.intent([1], 0, 100)
        kv.wait_sync(TIMEOUT)
        owner.advance_clock()
        owner.quiesce(TIMEOUT)
        kv.quiesce(TIMEOUT)
    events = [event for event, _ in told(pair[0], 1)]
    assert events[:4] == ["intent begins", "replica made", "replica ended", "relocated in"]


def test_all_keys_are_traced_by_name(cluster: Start) -> None:
    first, second = cluster(2, NUM_KEYS, 1, trace_keys="all")
    with first.worker() as kv:
        kv.localize(np.arange(NUM_KEYS))
    assert {event.key for event in first.trace()} == set(range(NUM_KEYS))
    assert sum(event.event == "relocated out" for event in second.trace()) == NUM_KEYS // 2


def test_an_event_is_told_once_and_also_after_the_end() -> None:
    with Cluster(2, NUM_KEYS, 1, trace_keys=[1]) as cluster:
        first, second = cluster.nodes
        with first.worker() as kv:
            kv.localize([1])
            kv.quiesce(TIMEOUT)
        assert [event for event, _ in told(first, 1)] == ["localize", "relocated in"]
        assert first.trace() == []
    assert told(second, 1) == [("here", None), ("relocated out", 0)]


@pytest.mark.slow
def test_beyond_a_million_events_the_oldest_are_forgotten_with_a_warning(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with pyps.Server(2**20 + 3, 1, trace_keys="all") as node, caplog.at_level(logging.WARNING):
        events = node.trace()
        assert (len(events), events[0].key, events[-1].key) == (2**20, 3, 2**20 + 2)
        assert node.trace() == []
    assert [record.getMessage() for record in caplog.records] == [
        "node 0 forgot the oldest 3 events of its trace: take it more often, or trace fewer keys"
    ]


def test_nothing_is_kept_that_nobody_asked_for() -> None:
    with (
        pyps.Server(10, 1, trace_keys=[]) as node,
        pytest.raises(ValueError, match="this node has no trace"),
    ):
        node.trace()


@pytest.mark.parametrize(
    ("keys", "error", "message"),
    [
        ([3, 10], ValueError, "key 10 at position 1 is outside"),
        ([-1], ValueError, "key -1 at position 0 is outside"),
        ("some", ValueError, "trace_keys is 'some'; it must be keys or 'all'"),
        ([0.5], TypeError, "keys"),
    ],
)
def test_keys_that_are_none_are_refused(keys: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        pyps.Server(10, 1, trace_keys=keys)
