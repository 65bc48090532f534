"""Events of chosen keys on a node: `pyps.Server(trace_keys=...)` records them, `Server.trace` returns them."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, NamedTuple

from numpy.typing import ArrayLike

from pyps.arrays import as_keys

if TYPE_CHECKING:
    from pyps._core import Node

logger = logging.getLogger(__name__)

# The index of an event is its number in ps.h.
EVENTS = (
    "here",
    "relocated in",
    "relocated out",
    "replica made",
    "replica ended",
    "intent begins",
    "intent ends",
    "localize",
)


class TraceEvent(NamedTuple):
    """What happened to a key on a node.

    Attributes
    ----------
    time : float
        Seconds since 1970, by the host's clock.
    node : int
        The node where it happened.
    key : int
    event : str
        "here": the key lives on the node when the trace begins. "relocated in": it has come to live there. "relocated
        out": it leaves for the node `to`. "replica made", "replica ended": a replica of a key that lives elsewhere; it
        also ends when the key itself comes. "intent begins": the first intent of the node's workers for the key, when
        the server acts on it, which is a little before the worker's clock reaches the intent's start. "intent ends":
        the last one. "localize": a worker of the node asked for the key, which did not live there.
    to : int or None
        For "relocated out", else None.
    """

    time: float
    node: int
    key: int
    event: str
    to: int | None


def begin_trace(node: Node, keys: ArrayLike | str) -> None:
    """Let a node record the events of these keys, or of "all"."""
    if isinstance(keys, str):
        if keys != "all":
            raise ValueError(f"trace_keys is {keys!r}; it must be keys or 'all'")
        node.begin_trace(as_keys(()))
        return
    chosen = as_keys(keys)
    if chosen.size:
        node.begin_trace(chosen)


def take_trace(node: Node) -> list[TraceEvent]:
    """Return the events since the last call, oldest first. The node keeps 1048576; it logs how many it has dropped.

    Raises
    ------
    ValueError
        The node was made without `trace_keys`, or in another process.
    """
    events, forgotten = node.take_trace()
    if forgotten:
        logger.warning(
            "node %d forgot the oldest %d events of its trace: take it more often, or trace fewer keys",
            node.rank,
            forgotten,
        )
    return [
        TraceEvent(time / 1e9, node.rank, key, EVENTS[kind], None if to < 0 else to)
        for time, key, kind, to in events
    ]
