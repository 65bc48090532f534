"""What the nodes of a cluster hold, as arrays of numpy: `held` on each of them, `together` where all of it comes back.

Before that, `settle` on each node, and a barrier: a key that is on its way would be missing.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from pyps.checkpoint.rounds import batches
from pyps.checkpoint.rows import sizes

if TYPE_CHECKING:
    from pyps.node import Node
    from pyps.server import Server


@dataclass(frozen=True)
class Parameters:
    """The keys of a table and what they held.

    Attributes
    ----------
    keys : int64 array, shape (n,)
        In ascending order.
    values : array, shape (n, length)
        Or of one dimension, the keys' values one after another, if they differ in length.
    lengths : int64 array, shape (n,)
        Elements of each value.
    """

    keys: NDArray[np.int64]
    values: NDArray[Any]
    lengths: NDArray[np.int64]

    def fill(self, node: Node) -> None:
        """Set these keys of a server or a named table, in a process that has it.

        Raises
        ------
        ValueError
            It lacks a key, or has another length of values.
        """
        with node.worker() as kv:
            kv.set(self.keys, self.values)


def tables(server: Server, timeout: float) -> Iterator[tuple[str, Node]]:
    """Yield the server itself, under the name "", and its named tables."""
    yield "", server
    for name in server.table_names():
        yield name, server.table(name, timeout=timeout)


def settle(server: Server, timeout: float) -> None:
    """Wait until nothing is on its way to or from this node, as a localize that nobody has waited for."""
    for _, table in tables(server, timeout):
        with table.worker() as kv:
            kv.quiesce(timeout)


def held(server: Server, timeout: float) -> Iterator[tuple[str, Parameters]]:
    """Yield what the keys hold that live on this node, in pieces of about as many bytes as a shard of a checkpoint.

    The first piece of each table is empty, so that one without keys is there, too. Keys of a piece come in any order,
    and all values lie one after another. bfloat16 becomes float32.
    """
    for name, table in tables(server, timeout):
        with table.worker() as kv:
            for keys in itertools.chain([np.empty(0, np.int64)], batches(table, kv.keys())):
                lengths, _ = sizes(table, keys)
                values = kv.pull(keys)
                if not isinstance(values, np.ndarray):  # bfloat16, which numpy lacks
                    values = values.float().numpy()
                yield name, Parameters(keys, values.reshape(-1), lengths)


def together(pieces: Sequence[Parameters]) -> Parameters:
    """Return what pieces of a table have, in the order of their keys."""
    keys = np.concatenate([one.keys for one in pieces])
    values = np.concatenate([one.values.reshape(-1) for one in pieces])
    lengths = np.concatenate([one.lengths for one in pieces])
    order = np.argsort(keys)
    if (lengths == lengths[:1]).all():
        length = lengths[0] if len(lengths) else 0
        return Parameters(keys[order], values.reshape(len(keys), length)[order], lengths[order])
    parts = np.split(values, np.cumsum(lengths)[:-1])
    return Parameters(keys[order], np.concatenate([parts[at] for at in order]), lengths[order])
