"""What an actor does: it is a node of the server, and calls functions with it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import ray.util

from pyps.parameters import Parameters, held, together
from pyps.rendezvous.interfaces import at_port, find_address
from pyps.server import Server

if TYPE_CHECKING:
    from ray.data import DataIterator


class Member:
    """An actor's object."""

    _server: Server

    def start(self, interface: str | None, options: dict[str, Any]) -> str:
        """Make the server; return where it listens, or nothing if it is the only node."""
        self._server = Server(**options)
        if self._server.num_nodes == 1:
            return ""
        address = find_address(interface or ray.util.get_node_ip_address())
        return self._server.bind(f"tcp://{at_port(address, '*')}")

    def connect(self, endpoints: Sequence[str]) -> None:
        """Connect the node to all others."""
        if self._server.num_nodes > 1:
            self._server.connect(endpoints)

    def call(self, fn: Callable[..., Any], rows: DataIterator | None, batch_size: int, *args: Any) -> Any:
        """Call a function with the server, with batches of rows if there are some, and with the arguments."""
        if rows is None:
            return fn(self._server, *args)
        return fn(self._server, rows.iter_batches(batch_size=batch_size, batch_format="numpy"), *args)

    def close(self, timeout: float) -> None:
        """End the node, together with the others."""
        self._server.shutdown(timeout=timeout)


def held_here(server: Server, timeout: float) -> dict[str, Parameters]:
    """Return what the keys hold that live on this node, by the names of tables."""
    pieces: dict[str, list[Parameters]] = {}
    for name, piece in held(server, timeout):
        pieces.setdefault(name, []).append(piece)
    return {name: together(found) for name, found in pieces.items()}
