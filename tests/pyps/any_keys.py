"""Keys that are any numbers, for tests of servers that take them."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

import pyps
from tests.pyps.cluster import Cluster

LENGTH = 3
CAPACITY = 20_000

Numbers = NDArray[np.int64]


class Kind(NamedTuple):
    """Servers whose keys are any numbers: all values have one length, or a key's topmost byte says which it has."""

    lengths: tuple[int, ...]

    @property
    def value_length(self) -> int | list[int]:
        """As a server takes it."""
        return self.lengths[0] if len(self.lengths) == 1 else list(self.lengths)

    @property
    def ends(self) -> Numbers:
        """The first and last keys, and others whose bits are special."""
        if len(self.lengths) == 1:
            return np.array([0, 1, -2, 2**63 - 1, -(2**63), 2**32, -(2**32)])
        classes = range(len(self.lengths))
        return np.array(
            [pyps.classed_keys(number, key) for number in classes for key in (0, 2**32, 2**56 - 1)]
        )

    def keys(self, count: int, first: int = 1) -> Numbers:
        """Keys of all lengths in turn, without any order, as hashes have."""
        numbers = np.arange(first, first + count, dtype=np.uint64)
        hashed: NDArray[np.uint64] = numbers * np.uint64(0x9E3779B97F4A7C15)
        if len(self.lengths) == 1:
            return hashed.view(np.int64)
        return (hashed >> np.uint64(8)).view(np.int64) | (numbers.view(np.int64) % len(self.lengths)) << 56

    def lengths_of(self, keys: ArrayLike) -> Numbers:
        classes = np.asarray(keys) >> 56
        return np.array(self.lengths)[classes if len(self.lengths) > 1 else classes * 0]

    def values(self, keys: ArrayLike, number: int = 1) -> Numbers:
        """Values that tell whose they are: multiples of a number between 1 and 1000 that belongs to the key."""
        return np.repeat((np.asarray(keys) % 1000 + 1) * number, self.lengths_of(keys))


ONE_LENGTH, LENGTHS = Kind((LENGTH,)), Kind((3, 1, 40, 3))


class AnyKeys(Cluster):
    """Nodes of one kind."""

    def __init__(self, kind: Kind, count: int, server_threads: int, transport: str = "tcp") -> None:
        self.kind = kind
        super().__init__(
            count,
            transport=transport,
            value_length=kind.value_length,
            dtype="int64",
            capacity=CAPACITY,
            server_threads=server_threads,
        )


def _rows(kind: Kind) -> list[tuple[Any, ...]]:
    return [(kind, count, threads) for count in (1, 2, 4) for threads in (1, 3)]


# What a test is parametrized by, for `AnyKeys`: all that workers in other processes reach, those with several lengths,
# and all.
REACHED = _rows(ONE_LENGTH) + _rows(LENGTHS)
CLASSED = [*_rows(LENGTHS), (LENGTHS, 2, 1, "memory"), (LENGTHS, 4, 3, "memory")]
ALL = _rows(ONE_LENGTH) + CLASSED


def name(row: tuple[Any, ...]) -> str:
    """Return a row as the names of tests have it."""
    kind, *others = row
    return "-".join([f"{len(kind.lengths)} lengths", *map(str, others)])


def spread(count: int, first: int = 1) -> Numbers:
    """Keys without any order, for values of one length."""
    return ONE_LENGTH.keys(count, first)


def values(count: int, number: int = 1) -> Numbers:
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
