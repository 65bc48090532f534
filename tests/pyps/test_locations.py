"""Where workers look for keys that have moved: who answered last is asked first, and need not be right."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import pyps
from tests.pyps.conftest import Start

NUM_KEYS = 40
HOME = np.arange(0, NUM_KEYS, 4)  # keys whose home is the first of four nodes


@pytest.fixture
def nodes(cluster: Start) -> list[pyps.Server]:
    return cluster(4, NUM_KEYS, 1, dtype="int64")


def forwarded(nodes: list[pyps.Server]) -> list[int]:
    return [node.stats()["requests_forwarded"] for node in nodes]


def move(to: pyps.Server, keys: object = HOME) -> None:
    with to.worker() as worker:
        worker.localize(keys)


@pytest.mark.slow
@pytest.mark.parametrize("operation", ["pull", "push", "set"])
def test_the_home_is_asked_once_for_a_key_that_has_moved(nodes: list[pyps.Server], operation: str) -> None:
    move(nodes[1])
    with nodes[3].worker() as kv:
        for _ in range(5):
            getattr(kv, operation)(HOME, np.ones(len(HOME), np.int64))
    assert forwarded(nodes) == [len(HOME), 0, 0, 0]


def test_all_workers_of_a_node_know_what_one_was_told(nodes: list[pyps.Server]) -> None:
    move(nodes[1])
    for _ in range(3):
        with nodes[3].worker() as kv:
            kv.pull(HOME, np.empty(len(HOME), np.int64))
    assert forwarded(nodes) == [len(HOME), 0, 0, 0]


def test_a_former_owner_sends_on_by_the_home_what_it_no_longer_has(nodes: list[pyps.Server]) -> None:
    move(nodes[1])
    with nodes[3].worker() as kv:
        values = np.empty(len(HOME), np.int64)
        kv.push(HOME, HOME)
        move(nodes[2])
        for _ in range(3):
            kv.pull(HOME, values)
            assert values.tolist() == HOME.tolist()
    assert forwarded(nodes) == [2 * len(HOME), len(HOME), 0, 0]


def test_keys_of_one_operation_are_remembered_each_for_itself(nodes: list[pyps.Server]) -> None:
    move(nodes[1], HOME[::2])
    move(nodes[2], HOME[1::2])
    with nodes[3].worker() as kv:
        values = np.empty(NUM_KEYS, np.int64)
        for _ in range(3):
            kv.pull(np.arange(NUM_KEYS), values)
    assert forwarded(nodes) == [len(HOME), 0, 0, 0]


def test_values_are_right_wherever_keys_go(nodes: list[pyps.Server]) -> None:
    with nodes[3].worker() as kv:
        values = np.empty(len(HOME), np.int64)
        for count, owner in enumerate(itertools.islice(itertools.cycle([1, 0, 2, 3, 1]), 20), start=1):
            kv.push(HOME, np.ones(len(HOME), np.int64))
            move(nodes[owner])
            kv.pull(HOME, values)
            assert values.tolist() == [count] * len(HOME)
