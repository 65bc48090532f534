"""AdaPM's file of traced keys, ``traces.RANK.tsv``: what `pyps.Server.trace` tells, in that file's words.

A line has milliseconds since 1970, the key, the node's rank and what happened, with tabs between.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from pyps.tracing import TraceEvent

# What it calls the events; it has none for a localize.
NAMES = {
    "here": "alloc",
    "relocated in": "alloc",
    "relocated out": "dealloc",
    "replica made": "replica_setup",
    "replica ended": "replica_drop",
    "intent begins": "intent_start",
    "intent ends": "intent_stop",
}


class TraceFile:
    """The file of one node, empty at first.

    Parameters
    ----------
    directory : str or Path
        Made if it is not there.
    rank : int

    Raises
    ------
    OSError
        It cannot be written.
    """

    def __init__(self, directory: str | Path, rank: int) -> None:
        self.path = Path(directory) / f"traces.{rank}.tsv"
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.path.write_text("")

    def add(self, events: Sequence[TraceEvent]) -> None:
        """Write events behind those that are there."""
        with self.path.open("a") as file:
            file.writelines(
                f"{round(event.time * 1000)}\t{event.key}\t{event.node}\t{NAMES[event.event]}\n"
                for event in events
                if event.event in NAMES
            )
