"""Checkpoints of clusters that have lost a node, with replicas."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pyps
from pyps import checkpoint
from tests.pyps.any_keys import spread
from tests.waiting import wait_until

OPTIONS: dict[str, Any] = {"value_length": 4, "replicas": 1, "heartbeat": 0.1, "lost_after": 1.0}
SHAPES: dict[str, dict[str, Any]] = {
    "a range": {"num_keys": 600},
    "any numbers": {"capacity": 600},
    "two threads": {"num_keys": 600, "server_threads": 2},
    "places": {"capacity": 600, "places": 5},
}
KEYS = np.arange(1, 600, 3)


@contextmanager
def three_nodes(**shape: Any) -> Iterator[list[pyps.Server]]:
    with ExitStack() as stack:
        nodes = [
            stack.enter_context(pyps.Server(num_nodes=3, rank=rank, **OPTIONS, **shape)) for rank in range(3)
        ]
        endpoints = [node.bind("tcp://127.0.0.1:*") for node in nodes]
        for node in nodes:
            node.connect(endpoints)
        yield nodes


def push(node: pyps.Node, keys: Any) -> None:
    with node.worker() as kv:
        kv.push(keys, np.repeat(np.arange(1, len(keys) + 1, dtype=np.float32), 4).reshape(-1, 4))


def lose(nodes: list[pyps.Server], lost: int) -> list[pyps.Server]:
    """Let a node end without a word to the others; return these when they know it."""
    nodes[lost].shutdown(0)
    others = [node for node in nodes if node.rank != lost]
    wait_until(lambda: all(lost not in node.members for node in others))
    return others


def save_all(path: Path, nodes: list[pyps.Server], timeout: float = 20) -> list[Future[Path]]:
    with ThreadPoolExecutor() as pool:
        return [pool.submit(checkpoint.save, path, node, timeout=timeout) for node in nodes]


def check(path: Path, shape: dict[str, Any], keys: Any) -> None:
    alone = {name: value for name, value in shape.items() if name != "places"}
    with pyps.Server(value_length=4, **alone) as server, server.worker() as kv:
        checkpoint.load(path, server)
        np.testing.assert_array_equal(kv.pull(keys)[:, 0], np.arange(1, len(keys) + 1))


@pytest.mark.slow
@pytest.mark.parametrize("lost", [0, 2])
@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
def test_the_others_save_and_load_everything(shape: dict[str, Any], lost: int, tmp_path: Path) -> None:
    with three_nodes(**shape) as nodes:
        push(nodes[1], KEYS)
        push(nodes[0].table("users", dim=4, capacity=600), KEYS)
        others = lose(nodes, lost)
        saved = {future.result().name for future in save_all(tmp_path, others)}
        assert saved == {"checkpoint-00000001"}
        with others[0].worker() as kv:
            kv.set(KEYS, np.zeros((len(KEYS), 4), np.float32))
        with ThreadPoolExecutor() as pool:
            list(pool.map(lambda node: checkpoint.load(tmp_path, node, timeout=20), others))
        with others[1].worker() as kv:
            np.testing.assert_array_equal(kv.pull(KEYS)[:, 0], np.arange(1, len(KEYS) + 1))
            np.testing.assert_array_equal(kv.table("users").pull(KEYS)[:, 0], np.arange(1, len(KEYS) + 1))
    check(tmp_path, shape, KEYS)


@pytest.mark.slow
def test_many_keys_that_are_just_taken_over_are_in_it(tmp_path: Path) -> None:
    """It is written at once when the loss is known, in the middle of the copies that it causes."""
    shape, keys = {"capacity": 30_000}, spread(20_000)
    with three_nodes(**shape) as nodes:
        push(nodes[0], keys)
        others = lose(nodes, 1)
        for future in save_all(tmp_path, others):
            future.result()
    check(tmp_path, shape, keys)


def failures(
    nodes: list[pyps.Server], path: Path, meanwhile: Callable[[], object]
) -> list[BaseException | None]:
    """What these raise if something happens while they wait for a node that does not call."""
    with ThreadPoolExecutor() as pool:
        futures = [pool.submit(checkpoint.save, path, node, timeout=50) for node in nodes]
        wait_until(lambda: any(path.glob(".meeting-*/taken-1")))  # both are there
        began = time.monotonic()
        meanwhile()
        raised = [future.exception() for future in futures]
    assert time.monotonic() - began < 20
    return raised


@pytest.mark.slow
@pytest.mark.parametrize("places", [3, 5])
def test_a_loss_meanwhile_is_named_at_once(places: int, tmp_path: Path) -> None:
    with three_nodes(num_keys=600, places=places) as nodes:
        raised = failures(nodes[:2], tmp_path, lambda: nodes[2].shutdown(0))
        assert all("node 2 was lost" in str(error) for error in raised)
        assert any(isinstance(error, pyps.NodeLost) and error.node == 2 for error in raised)
        for future in save_all(tmp_path, nodes[:2]):
            assert future.result().name == "checkpoint-00000001"


@pytest.mark.slow
def test_a_node_that_joins_meanwhile_is_named_at_once(tmp_path: Path) -> None:
    with three_nodes(num_keys=600, places=4) as nodes, ExitStack() as stack:

        def join() -> None:
            fourth = pyps.Server(num_nodes=3, places=4, rank=3, num_keys=600, **OPTIONS)
            stack.enter_context(fourth).bind("tcp://127.0.0.1:*")
            fourth.join(nodes[0].endpoints())

        raised = failures(nodes[:2], tmp_path, join)
        assert all("node 3 has joined" in str(error) for error in raised)


@pytest.mark.slow
def test_keys_for_which_there_is_no_room_are_not_left_out(tmp_path: Path) -> None:
    keys = spread(250)
    with three_nodes(capacity=100) as nodes:
        push(nodes[0], keys)
        others = lose(nodes, 2)
        raised = [future.exception() for future in save_all(tmp_path, others, timeout=1)]
        waiting = sum(node.stats()["keys_to_take_over"] for node in others)
        assert waiting == 250 - sum(node.stats()["keys_held"] for node in others) > 0
        assert all(isinstance(error, pyps.CheckpointError) for error in raised)
        assert all("has no room for" in str(error) for error in raised)
        with others[0].worker() as kv:
            with pytest.raises(MemoryError, match="has no room"):
                kv.pull(keys)
            kv.delete(keys[:100])
            wait_until(lambda: not any(node.stats()["keys_to_take_over"] for node in others))
            kv.set(keys[100:], kv.pull(keys[100:]) - 100)
        for future in save_all(tmp_path, others):
            future.result()
    check(tmp_path, {"capacity": 150}, keys[100:])
