"""A connection between each node and the host of the rendezvous, by which each notices the end of the other.

Only two messages go over it: at first a node introduces itself, and a side that ends normally says goodbye. If the
connection ends without a goodbye, the other side has died. The host needs no thread for it: the system keeps new
connections until they are accepted.
"""

from __future__ import annotations

import contextlib
import select
import socket
import struct

from pyps.rendezvous.inheritance import keep_from_children
from pyps.rendezvous.interfaces import at_port, listen

INTRODUCTION = struct.Struct("<4sQI")  # magic, cluster, node
MAGIC = b"pyps"
GOODBYE = b"!"
# Seconds after which the system asks a silent other side whether its machine still runs, seconds between two
# such questions, and after how many without an answer the connection ends.
KEEPALIVE = (10, 5, 3)


class Reception:
    """The host's side, to which nodes connect.

    Parameters
    ----------
    address : str
        An address of this host.

    Attributes
    ----------
    place : str
        ``address:port``, for the nodes.
    """

    def __init__(self, address: str) -> None:
        self._listening = listen(address, 0)
        keep_from_children(self._listening)
        self._listening.setblocking(False)
        self.place = at_port(*self._listening.getsockname()[:2])

    def accept(self, timeout: float) -> socket.socket | None:
        """Return the next connection, or None if there is none within the timeout, in seconds."""
        ready, _, _ = select.select([self._listening], [], [], timeout)
        if not ready:
            return None
        try:
            line, _ = self._listening.accept()
        except OSError:  # the other side has closed it again
            return None
        _watch_over(line)
        return line

    def close(self) -> None:
        """Say goodbye to connections that were not accepted, and stop listening. May be called again."""
        if self._listening.fileno() < 0:
            return
        while (line := self.accept(0)) is not None:
            say_goodbye(line)
        self._listening.close()


def visit(place: str, introduction: tuple[int, int] | None, timeout: float) -> socket.socket:
    """Connect to a host.

    Parameters
    ----------
    place : str
        The `place` of a reception, or ``address:port`` of any server that accepts silent connections.
    introduction : tuple of int, optional
        The numbers of the cluster and the node, if it is a reception.
    timeout : float
        Seconds.
    """
    host, port = place.rsplit(":", 1)
    line = socket.create_connection((host.strip("[]"), int(port)), timeout)
    _watch_over(line)
    if introduction is not None:
        line.sendall(INTRODUCTION.pack(MAGIC, *introduction))
    return line


def read_introduction(line: socket.socket, cluster: int, num_nodes: int) -> int | None:
    """Return the node that has connected; None if it is no node of this cluster."""
    line.settimeout(1.0)
    try:
        magic, theirs, node = INTRODUCTION.unpack(line.recv(INTRODUCTION.size, socket.MSG_WAITALL))
    except (OSError, struct.error):
        return None
    line.settimeout(0)
    return int(node) if (magic, theirs) == (MAGIC, cluster) and node < num_nodes else None


def left_in_order(line: socket.socket) -> bool:
    """Read from a connection that has ended; return whether the other side said goodbye."""
    try:
        return line.recv(1) == GOODBYE
    except OSError:
        return False


def say_goodbye(line: socket.socket) -> None:
    """Say goodbye and close; never fails."""
    with contextlib.suppress(OSError):  # the other side may be gone
        line.send(GOODBYE)
    line.close()


def _watch_over(line: socket.socket) -> None:
    keep_from_children(line)  # its end must be noticed although a child lives
    idle, interval, count = KEEPALIVE
    line.settimeout(0)
    line.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    line.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPIDLE, idle)
    line.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPINTVL, interval)
    line.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPCNT, count)
