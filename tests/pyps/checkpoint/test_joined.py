"""Checkpoints of clusters to which nodes have joined, and from which nodes have gone."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pyps
from pyps import checkpoint

KEYS = np.arange(0, 3000, 3)
OPTIONS: dict[str, Any] = {"replicas": 1, "heartbeat": 0.1, "lost_after": 1.0}
SHAPES: dict[str, dict[str, Any]] = {"a range": {"num_keys": 3000}, "any numbers": {"capacity": 5000}}


def push(node: pyps.Node, keys: Any) -> None:
    with node.worker() as kv:
        kv.push(keys, np.repeat(keys.astype(np.float32), 4).reshape(-1, 4))


def save(path: Path, nodes: list[pyps.Node]) -> None:
    with ThreadPoolExecutor() as pool:
        assert len(set(pool.map(lambda node: str(checkpoint.save(path, node, timeout=20)), nodes))) == 1


def check(path: Path, shape: dict[str, Any]) -> None:
    with pyps.Server(value_length=4, **shape) as server, server.worker() as kv:
        checkpoint.load(path, server)
        np.testing.assert_array_equal(kv.pull(KEYS)[:, 0], KEYS)
        assert server.table_names() == ["users"]
        np.testing.assert_array_equal(kv.table("users").pull(KEYS)[:, 0], KEYS)


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
def test_nodes_save_together_with_one_that_has_joined(shape: dict[str, Any], tmp_path: Path) -> None:
    """Half of the keys begin before it has joined, and half of them afterwards, on it too."""
    with pyps.init(value_length=4, places=3, **OPTIONS, **shape) as first:
        push(first, KEYS[::2])
        second = pyps.init(value_length=4, join=first.invitation, **OPTIONS, **shape)
        push(second, KEYS[1::2])
        push(first.table("users", dim=4, capacity=5000), KEYS)
        nodes = [first, second]
        save(tmp_path / "both", nodes)
        check(tmp_path / "both", shape)
        with ThreadPoolExecutor() as pool:  # each of them takes a part of it
            list(pool.map(lambda node: checkpoint.load(tmp_path / "both", node, timeout=20), nodes))
        first.leave()
        save(tmp_path / "second", [second])
        check(tmp_path / "second", shape)
        second.shutdown(0)
