"""What comes back from Spark's tasks: the parameters that the server held."""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from pyps.parameters import Parameters, together

if TYPE_CHECKING:
    from pyspark.sql import Row


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
        [results[rank] for rank in sorted(results)], {name: together(found) for name, found in pieces.items()}
    )
