"""A reading of a node: what it holds and has counted, at one time, as a value that JSON can carry."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from pyps.errors import Error
from pyps.latencies import LIMITS, OPERATIONS, PLACES, Latencies
from pyps.node import Node

PERCENTILES = (50, 90, 99)
TABLE_TIMEOUT = 2.0  # seconds for a table to be there, which may be dropped just now


@dataclass(frozen=True)
class Reading:
    """A node at one time.

    Attributes
    ----------
    node, num_nodes : int
        Its number, from 0, and how many nodes the cluster has.
    time : float
        Seconds since 1970.
    is_open : bool
        Whether it works; if not, the numbers are its last.
    stats, workers : mapping of str to int
        As `pyps.Node.stats` and `pyps.Node.worker_stats` give them.
    latencies : mapping
        As `pyps.Node.latencies` gives them.
    nodes : sequence of str
        The HTTP endpoints of all nodes by their numbers; empty texts for unknown ones.
    tables : mapping of str to Reading
        The node's part of each named table.
    """

    node: int
    num_nodes: int
    time: float
    is_open: bool
    stats: Mapping[str, int]
    workers: Mapping[str, int]
    latencies: Mapping[tuple[str, str], Latencies]
    nodes: Sequence[str]
    tables: Mapping[str, Reading] = field(default_factory=dict)

    def parts(self) -> dict[str, Reading]:
        """Return this one by an empty name, and those of the tables by theirs."""
        return {"": self, **self.tables}

    def as_json(self) -> dict[str, Any]:
        """Return what `from_json` reads. Percentiles are in seconds, None where nothing was counted."""
        return {
            **{name: value for name, value in vars(self).items() if name not in ("latencies", "tables")},
            "tables": {name: table.as_json() for name, table in self.tables.items()},
            "latencies": {
                operation: {place: _described(self.latencies[operation, place]) for place in PLACES}
                for operation in OPERATIONS
            },
        }

    @classmethod
    def from_json(cls, found: Any) -> Reading:
        """Read what `as_json` wrote.

        Raises
        ------
        ValueError
            It is something else.
        """
        try:
            latencies = {
                (operation, place): Latencies(int(one["total_ns"]), [int(count) for count in one["counts"]])
                for operation, places in found["latencies"].items()
                for place, one in places.items()
            }
            stats, workers = (
                {str(name): int(n) for name, n in found[part].items()} for part in ("stats", "workers")
            )
            read = cls(
                node=int(found["node"]),
                num_nodes=int(found["num_nodes"]),
                time=float(found["time"]),
                is_open=bool(found["is_open"]),
                stats=stats,
                workers=workers,
                latencies=latencies,
                nodes=tuple(map(str, found["nodes"])),
                tables={
                    _named(name): cls.from_json(table) for name, table in found.get("tables", {}).items()
                },
            )
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise ValueError(f"this is no reading of a node: {type(error).__name__} {error}") from None
        wanted = {(operation, place) for operation in OPERATIONS for place in PLACES}
        if latencies.keys() != wanted or any(len(one.counts) != len(LIMITS) for one in latencies.values()):
            raise ValueError("this is a reading of another version of Moontide")
        return read


def read(node: Node) -> Reading:
    """Read a node.

    Raises
    ------
    ClosedError
        This handle of the node was shut down.
    """
    tables = {}
    for name in node.table_names():
        # A table that was dropped meanwhile is left out.
        with suppress(Error, RuntimeError), node.table(name, timeout=TABLE_TIMEOUT) as table:
            tables[name] = _read(table, {})
    return _read(node, tables)


def _read(node: Node, tables: Mapping[str, Reading]) -> Reading:
    return Reading(
        node=node.rank,
        num_nodes=node.num_nodes,
        time=time.time(),
        is_open=node.is_open,
        stats=node.stats(),
        workers=node.worker_stats(),
        latencies=node.latencies(),
        nodes=tuple(node.metrics_addresses()),
        tables=tables,
    )


def _named(name: str) -> str:
    if not name.isprintable():
        raise ValueError(f"{name!r} is no name of a table")
    return name


def _described(one: Latencies) -> dict[str, Any]:
    return {
        "counted": one.counted,
        **{f"p{percent}": one.percentile(percent) for percent in PERCENTILES},
        "total_ns": one.total_ns,
        "counts": list(one.counts),
    }
