"""Keys that are any numbers, for tests of servers that take them."""

from __future__ import annotations

from typing import Any

import numpy as np

import pyps

LENGTH = 3
CAPACITY = 20_000
NODES_AND_THREADS = [(1, 1), (1, 3), (2, 1), (2, 3), (4, 1), (4, 3)]


def spread(count: int, first: int = 1) -> np.ndarray[Any, np.dtype[np.int64]]:
    """Keys without any order, as hashes have."""
    return (np.arange(first, first + count, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)).view(np.int64)


def values(count: int, number: int = 1) -> np.ndarray[Any, np.dtype[np.int64]]:
    return np.full((count, LENGTH), number, np.int64)


def used_until_full(node: pyps.Node, keys: list[int]) -> list[int]:
    """Push keys one by one; return those before the first that has no room."""
    with node.worker() as kv:
        for count, key in enumerate(keys):
            try:
                kv.push([key], np.ones((1, kv.get_key_size()), np.int64))
            except MemoryError:
                return keys[:count]
    raise AssertionError("all keys had room")
