"""What comes back from Spark's tasks: the parameters that the server held."""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from pyspark.sql import Row

    from pyps.node import Node


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


@dataclass(frozen=True)
class Trained:
    """A model that was trained inside Spark.

    Attributes
    ----------
    results : list
        What the function returned in each task, by the nodes' ranks.
    tables : dict of str to Parameters
        Of each named table, and under ``""`` of the server's own keys. Empty if there is a checkpoint.
    """

    results: list[Any]
    tables: dict[str, Parameters]

    @property
    def own(self) -> Parameters:
        """The server's own keys."""
        return self.tables[""]


def read(rows: Sequence[Row]) -> Trained:
    """Read what tasks have yielded."""
    results: dict[int, Any] = {}
    pieces: dict[str, list[Parameters]] = {}
    for row in rows:
        if row["table"] is None:
            results[row["rank"]] = pickle.loads(row["result"])  # of this program's own tasks
            continue
        values = np.frombuffer(row["elements"], row["dtype"])
        keys, lengths = np.frombuffer(row["keys"], np.int64), np.frombuffer(row["lengths"], np.int64)
        pieces.setdefault(row["table"], []).append(Parameters(keys, values, lengths))
    return Trained(
        [results[rank] for rank in sorted(results)], {name: _joined(found) for name, found in pieces.items()}
    )


def _joined(found: list[Parameters]) -> Parameters:
    keys = np.concatenate([one.keys for one in found])
    values = np.concatenate([one.values for one in found])
    lengths = np.concatenate([one.lengths for one in found])
    order = np.argsort(keys)
    if (lengths == lengths[0]).all():
        return Parameters(keys[order], values.reshape(len(keys), -1)[order], lengths[order])
    parts = np.split(values, np.cumsum(lengths)[:-1])
    return Parameters(keys[order], np.concatenate([parts[at] for at in order]), lengths[order])
