"""Tables of several kinds for tests of checkpoints, and what they have."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

import pyps
from pyps.checkpoint.stored import Stored
from tests.pyps.any_keys import spread
from tests.pyps.checkpoint.stores import content, train

KEYS = 30
OPTIONS: dict[str, dict[str, Any]] = {
    "items": {"dim": 3, "num_keys": KEYS, "dtype": "float64", "optimizer": "adam:lr=0.1"},
    "users": {"dim": 4, "optimizer": "adagrad:lr=0.5", "initializer": "constant:value=7"},
    "words": {"dim": [1, 2], "capacity": 500},
}


def keys_of(name: str) -> Any:
    if name == "users":
        return spread(KEYS)
    if name == "words":
        return np.concatenate([pyps.classed_keys(number, np.arange(KEYS // 2)) for number in range(2)])
    return np.arange(KEYS)


def declare(nodes: Sequence[pyps.Node], *names: str) -> None:
    for name in names or OPTIONS:
        for node in nodes:
            node.table(name, **OPTIONS[name])


def contents(nodes: Sequence[pyps.Node]) -> dict[str, dict[int, bytes]]:
    """All rows of a server's own keys and of its tables."""
    found = {"": content(nodes, keys_of(""))}
    for name in nodes[0].table_names():
        found[name] = content([node.table(name) for node in nodes], keys_of(name))
    return found


def train_all(node: pyps.Node, seed: int = 1) -> None:
    with node.worker() as kv:
        for name in ("", *node.table_names()):
            worker, keys = kv.table(name) if name else kv, keys_of(name)
            worker.pull(keys)  # all exist
            train(worker, keys, seed=seed)
            worker.localize(keys[::3])


def shards_here(path: object) -> dict[str, int]:
    """How many rows the files of a checkpoint have of each table, without those of earlier ones."""
    tables = Stored(str(path)).manifest.tables
    return {table.name: sum(shard.rows for shard in table.shards if not shard.checkpoint) for table in tables}
