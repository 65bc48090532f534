"""What happened to chosen keys on a node: `pyps.Server(trace_keys=...)` keeps it, `Server.trace` tells it."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, NamedTuple

from numpy.typing import ArrayLike

from pyps.arrays import as_keys

if TYPE_CHECKING:
    from pyps._core import Node

logger = logging.getLogger(__name__)

# By their numbers in ps.h.
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
        Seconds since 1970, of the host's clock.
    node : int
        Where it happened.
    key : int
    event : str
        "here": the key lives on the node as the trace begins. "relocated in", "relocated out": it lives there from now
        on, or leaves, for the node `to`. "replica made", "replica ended": of a key that lives elsewhere; it also ends
        when the key itself comes. "intent begins", "intent ends": the first one of the node's workers for this key,
        and the last one; it begins when the server acts on it, a little before its clock comes. "localize": a worker
        of the node asked for the key, which did not live there.
    to : int or None
    """

    time: float
    node: int
    key: int
    event: str
    to: int | None


def begin_trace(node: Node, keys: ArrayLike | str) -> None:
    """Let a node keep what happens to these keys, or to "all"."""
    if isinstance(keys, str):
        if keys != "all":
            raise ValueError(f"trace_keys is {keys!r}; it must be keys or 'all'")
        node.begin_trace(as_keys(()))
        return
    chosen = as_keys(keys)
    if chosen.size:
        node.begin_trace(chosen)


def take_trace(node: Node) -> list[TraceEvent]:
    """Return the events that nobody took yet, in their order; the node keeps 1048576, and tells if some were forgotten.

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
