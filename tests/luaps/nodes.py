"""Clusters that Lua programs work with, and what they hold."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import pyps

NUM_KEYS = 60

Nodes = list[pyps.Server]
Cluster = Callable[..., Nodes]


def values_of(node: pyps.Server) -> np.ndarray[Any, Any]:
    out = np.zeros(node.total_values, node.dtype.name)
    with node.worker() as kv:
        kv.pull(np.arange(node.num_keys), out)
    return out.reshape(node.num_keys, -1)
