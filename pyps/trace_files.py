"""AdaPM's file of traced keys, ``traces.RANK.tsv``: the events of `pyps.Server.trace` in AdaPM's format.

A line has the milliseconds since 1970, the key, the node's rank and the event, separated by tabs.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from pyps.tracing import TraceEvent

# AdaPM's names for the events; it has none for a localize.
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
        Created if it does not exist.
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
        """Append events to the file."""
        with self.path.open("a") as file:
            file.writelines(
                f"{round(event.time * 1000)}\t{event.key}\t{event.node}\t{NAMES[event.event]}\n"
                for event in events
                if event.event in NAMES
            )
