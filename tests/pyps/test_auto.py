"""techniques="auto": short intents are skipped where workers' clocks advance faster without them."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import ExitStack

import numpy as np
import pytest

import pyps
from tests.pyps.test_cluster_barrier import together

pytestmark = pytest.mark.long

NUM_KEYS = 20_000
SECONDS = 4.0

Cluster = Callable[[str], list[pyps.Server]]
Announce = Callable[
    [int], tuple[np.ndarray, np.ndarray]
]  # of a node: keys of an intent, and those that are used


@pytest.fixture
def cluster() -> Iterator[Cluster]:
    """Connect two nodes at such endpoints, which choose by themselves, as they do by default."""
    with ExitStack() as stack:

        def start(endpoint: str) -> list[pyps.Server]:
            nodes = [pyps.Server(NUM_KEYS, 1, num_nodes=2, rank=rank) for rank in range(2)]
            for node in nodes:
                stack.callback(node.shutdown, timeout=0)
            endpoints = [node.bind(endpoint) for node in nodes]
            for node in nodes:
                node.connect(endpoints)
            return nodes

        yield start


def skipped(node: pyps.Server, seconds: float, announce: Announce, ahead: int, lasting: int = 1) -> float:
    """Announce keys and use some of them so many clocks later; return which part of the intents was skipped."""
    before, end = node.stats()["intents_skipped"], time.monotonic() + seconds
    to_come: deque[np.ndarray] = deque()
    with node.worker() as kv:
        while time.monotonic() < end:
            clock = kv.current_clock()
            keys, used = announce(node.rank)
            kv.intent(keys, clock + ahead, clock + ahead + lasting)
            to_come.append(used)
            if len(to_come) > ahead:
                used = to_come.popleft()
                kv.push(used, kv.pull(used))
            kv.advance_clock()
        return (node.stats()["intents_skipped"] - before) / kv.current_clock()


def test_intents_that_only_cost_are_skipped_and_long_ones_are_not(cluster: Cluster) -> None:
    nodes = cluster("tcp://127.0.0.1:*")

    def announce(rank: int) -> tuple[np.ndarray, np.ndarray]:
        return np.arange(1 - rank, NUM_KEYS, 2), np.empty(
            0, np.int64
        )  # keys of the other node, which it does not use

    together(*(lambda node=node: skipped(node, SECONDS, announce, 4) for node in nodes))
    assert min(together(*(lambda node=node: skipped(node, SECONDS, announce, 4) for node in nodes))) > 0.6
    assert together(*(lambda node=node: skipped(node, 1.0, announce, 4, 9) for node in nodes)) == [0, 0]


def test_intents_that_save_round_trips_are_acted_on(cluster: Cluster) -> None:
    nodes = cluster("memory://*?delay=0.005")
    random = np.random.default_rng(1)

    def announce(rank: int) -> tuple[np.ndarray, np.ndarray]:
        keys = random.choice(200, 20, replace=False)  # which the other node uses as well
        return keys, keys

    together(*(lambda node=node: skipped(node, SECONDS, announce, 30) for node in nodes))
    assert max(together(*(lambda node=node: skipped(node, SECONDS, announce, 30) for node in nodes))) < 0.4
