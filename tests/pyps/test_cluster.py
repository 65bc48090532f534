"""Several nodes in one process: values are the same from everywhere, whatever moves meanwhile."""

from __future__ import annotations

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from typing import Any

import numpy as np
import pytest

import pyps

TIMEOUT = 50.0
NUM_KEYS = 60

Nodes = list[pyps.Server]


def start(stack: ExitStack, count: int, *args: Any, **options: Any) -> Nodes:
    nodes = [
        stack.enter_context(pyps.Server(*args, num_nodes=count, rank=rank, cluster=11, **options))
        for rank in range(count)
    ]
    endpoints = [node.bind("tcp://127.0.0.1:*") for node in nodes]
    for node in nodes:
        node.connect(endpoints)
    return nodes


@pytest.fixture(params=[2, 4])
def nodes(request: pytest.FixtureRequest) -> Iterator[Nodes]:
    """Sixty keys of three int64 on two or four nodes."""
    with ExitStack() as stack:
        yield start(stack, request.param, NUM_KEYS, 3, dtype="int64")


def numbers(keys: Any, width: int = 3) -> np.ndarray[Any, Any]:
    return np.repeat(np.asarray(keys), width).reshape(-1, width)


def test_every_node_holds_its_share(nodes: Nodes) -> None:
    assert [node.stats()["keys_held"] for node in nodes] == [NUM_KEYS // len(nodes)] * len(nodes)


def test_a_value_is_the_same_from_every_node(nodes: Nodes) -> None:
    keys = np.arange(NUM_KEYS)
    with nodes[0].worker() as kv:
        kv.set(keys, numbers(keys))
        kv.push(keys[::-1].copy(), numbers(keys[::-1]))
    for node in nodes:
        out = np.zeros((NUM_KEYS, 3), np.int64)
        with node.worker() as kv:
            assert kv.pull(keys, out) == -1
        assert (out == 2 * numbers(keys)).all()


def test_repeated_keys_of_other_nodes_get_every_push(nodes: Nodes) -> None:
    with nodes[0].worker() as kv:
        kv.push([1, 0, 1, 1], np.ones((4, 3), np.int64))
        out = np.zeros((3, 3), np.int64)
        kv.pull([1, 0, 1], out)
    assert out[:, 0].tolist() == [3, 1, 3]


def test_values_of_different_lengths_travel(nodes: Nodes) -> None:
    lengths = np.arange(20) % 7 + 1
    keys = np.array([19, 4, 3, 0])
    values = np.arange(lengths[keys].sum(), dtype=np.float32)
    with ExitStack() as stack:
        several = start(stack, len(nodes), 20, lengths)
        with several[0].worker() as kv, several[1].worker() as other:
            kv.set(keys, values)
            out = np.zeros(lengths[keys[1:]].sum(), np.float32)
            other.pull(keys[1:], out)
    assert out.tolist() == values[lengths[19] :].tolist()


def test_an_asynchronous_pull_ends_when_it_is_waited_for(nodes: Nodes) -> None:
    with nodes[0].worker() as kv:
        kv.push([1], np.ones((1, 3), np.int64))
        out = np.zeros((1, 6), np.int64)
        pulled = kv.pull([1], out[:, ::2], asynchronous=True)
        assert pulled >= 0
        pulled.wait(TIMEOUT)
        assert pulled.done()
        assert out.tolist() == [[1, 0, 1, 0, 1, 0]]


def test_a_pull_sees_the_asynchronous_pushes_before_it(nodes: Nodes) -> None:
    with nodes[0].worker() as kv:
        out = np.zeros(3, np.int64)
        for number in range(1, 200):
            kv.push([1], np.ones(3, np.int64), **{"async": True})
            kv.pull([1], out)
            assert out.tolist() == [number] * 3


def test_a_localized_key_is_local(nodes: Nodes) -> None:
    keys = np.arange(NUM_KEYS)
    with nodes[0].worker() as kv:
        kv.push(keys, numbers(keys))
        out = np.zeros((NUM_KEYS, 3), np.int64)
        assert not kv.pull_if_local(keys, out)
        assert kv.localize(keys) == -1
        assert kv.pull_if_local(keys, out)
        assert (out == numbers(keys)).all()
    assert [node.stats()["keys_held"] for node in nodes] == [NUM_KEYS] + [0] * (len(nodes) - 1)


def test_an_unknown_timestamp_is_refused(nodes: Nodes) -> None:
    with nodes[0].worker() as kv, pytest.raises(ValueError, match="timestamp 7 was not returned"):
        kv.wait(7)


def test_a_node_without_the_others_says_so() -> None:
    with (
        pyps.Server(10, 1, num_nodes=2) as node,
        node.worker() as kv,
        pytest.raises(ValueError, match="not connected to the others"),
    ):
        kv.push([1], np.ones(1, np.float32))


def settled(kv: pyps.Worker, expected: np.ndarray[Any, Any]) -> bool:
    """Whether the values become what they should be, and stay so: what replicas still have is on its way."""
    keys = np.arange(len(expected))
    out = np.zeros_like(expected)
    end = time.monotonic() + TIMEOUT / 2
    while time.monotonic() < end:
        kv.pull(keys, out)
        if (out == expected).all():
            time.sleep(0.05)
            kv.pull(keys, out)
            return bool((out == expected).all())
        time.sleep(0.005)
    return False


def move_and_count(node: pyps.Server, seed: int, rounds: int, pushed: np.ndarray[Any, Any]) -> None:
    """Push ones and pull, while keys are localized and intended all the time; count the pushes."""
    random = np.random.default_rng(seed)
    num_keys, width = len(pushed), 3
    seen = np.zeros((num_keys, width), np.int64)
    with node.worker() as kv:
        for _ in range(rounds):
            keys = random.permutation(num_keys)[: random.integers(1, num_keys)]
            kv.push(keys, np.ones((len(keys), width), np.int64), asynchronous=bool(random.integers(2)))
            pushed[keys] += 1
            out = np.zeros_like(seen)
            kv.pull(np.arange(num_keys), out)
            assert (out >= seen).all(), "reads go back"
            assert (out >= pushed[:, None]).all(), "a worker's own pushes are missing"
            seen = out
            kv.intent(random.permutation(num_keys)[:2], kv.current_clock() + 1, kv.current_clock() + 3)
            if random.integers(4) == 0:
                kv.localize(random.permutation(num_keys)[:2], asynchronous=bool(random.integers(2)))
            kv.advance_clock()
        kv.waitall(TIMEOUT)


@pytest.mark.parametrize("techniques", ["all", "replication_only", "relocation_only"])
@pytest.mark.parametrize("count", [2, 4])
def test_sums_are_exact_while_keys_move(count: int, techniques: str) -> None:
    """Two workers per node, four keys."""
    with ExitStack() as stack:
        nodes = start(stack, count, 4, 3, dtype="int64", techniques=techniques)
        pushed = np.zeros((2 * count, 4), np.int64)
        with ThreadPoolExecutor(2 * count) as pool:
            work = [
                pool.submit(move_and_count, node, seed, 100, pushed[seed])
                for node in nodes
                for seed in (2 * node.rank, 2 * node.rank + 1)
            ]
            for done in work:
                done.result(TIMEOUT)
        with nodes[0].worker() as kv:
            assert settled(kv, numbers(pushed.sum(0)))
