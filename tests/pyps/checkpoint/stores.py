"""Stores of all kinds for tests of checkpoints: their keys, and all that they have for these."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

import pyps
from pyps import checkpoint
from pyps.checkpoint.rows import Rows, sizes
from tests.pyps.any_keys import spread
from tests.pyps.cluster import TIMEOUT

COUNT = 60
ROOM = {"capacity": 1000}
STORES: dict[str, dict[str, Any]] = {
    "range": {"num_keys": COUNT, "value_length": 5},
    "lengths": {"num_keys": COUNT, "value_length": [1 + key % 3 for key in range(COUNT)]},
    "any": {**ROOM, "value_length": 5},
    "classes": {**ROOM, "value_length": [3, 1, 8]},
}


def keys_of(store: str) -> Any:
    if store == "any":
        return spread(COUNT)
    if store == "classes":
        return np.concatenate([pyps.classed_keys(number, np.arange(COUNT // 3)) for number in range(3)])
    return np.arange(COUNT)


def train(kv: pyps.Worker, keys: Any, rounds: int = 3, seed: int = 1) -> None:
    """Push to random halves of the keys."""
    random = np.random.default_rng(seed)
    for _ in range(rounds):
        some = np.sort(random.choice(keys, len(keys) // 2, replace=False))
        elements = kv.node.total_length(some)
        values = random.integers(-50, 50, elements) / (1 if kv.node.dtype.is_integer else 8)
        kv.push(some, values.astype(kv.node.dtype.name))


def content(nodes: Sequence[pyps.Node], keys: Any) -> dict[int, bytes]:
    """Every key's row, from the node that has it."""
    found: dict[int, bytes] = {}
    for node in nodes:
        _, nbytes = sizes(node, keys)
        buffer = np.empty(nbytes.sum(), np.uint8)
        with Rows(node) as rows:
            here = rows.read_rows(keys, buffer)
        for key, is_here, row in zip(keys, here, np.split(buffer, np.cumsum(nbytes)[:-1]), strict=True):
            if is_here:
                assert int(key) not in found
                found[int(key)] = row.tobytes()
    assert len(found) == len(keys)
    return found


def save(directory: str | Path, nodes: Sequence[pyps.Node], **options: Any) -> Path | str:
    """Save as all nodes do; each returns the same."""
    futures = [
        checkpoint.save(directory, node, background=True, timeout=TIMEOUT, **options) for node in nodes
    ]
    saved = {future.result(TIMEOUT) for future in futures}
    assert len(saved) == 1
    return saved.pop()


def load(directory: str | Path, nodes: Sequence[pyps.Node], **options: Any) -> None:
    with ThreadPoolExecutor(len(nodes)) as pool:
        for one in [
            pool.submit(checkpoint.load, directory, node, timeout=TIMEOUT, **options) for node in nodes
        ]:
            one.result(TIMEOUT)
