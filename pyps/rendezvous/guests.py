"""The processes of a job that attach to a node (its guests): its creator serves the node until all of them have left.

Each guest keeps a connection open until it shuts its node down, or ends for another reason.
"""

from __future__ import annotations

import select
import socket
import time

from pyps.rendezvous.presence import Reception, read_introduction, say_goodbye, visit

LOOK_EVERY = 0.1  # seconds


class Guests:
    """The creator's side.

    Parameters
    ----------
    cluster, node, num_nodes : int
    expected : int
        How many processes will attach.

    Attributes
    ----------
    place : str
        Where guests connect to, ``address:port``.
    """

    def __init__(self, cluster: int, node: int, num_nodes: int, expected: int) -> None:
        self._cluster, self._node, self._num_nodes = cluster, node, num_nodes
        self._to_come = expected
        self._lines: list[socket.socket] = []
        self._reception = Reception("127.0.0.1")
        self.place = self._reception.place

    def wait_until_all_left(self, timeout: float) -> str | None:
        """Wait until all guests have come and left. If the seconds run out, return a text that says who is missing."""
        deadline = time.monotonic() + timeout
        while self._to_come or self._lines:
            left = deadline - time.monotonic()
            if left <= 0:
                return self._describe()
            self._let_in()
            if self._lines:
                ended, _, _ = select.select(self._lines, [], [], min(left, LOOK_EVERY))
                for line in ended:
                    self._lines.remove(line)
                    line.close()
        return None

    def _let_in(self) -> None:
        while (
            self._to_come and (line := self._reception.accept(0 if self._lines else LOOK_EVERY)) is not None
        ):
            if read_introduction(line, self._cluster, self._num_nodes) == self._node:
                self._to_come -= 1
                self._lines.append(line)
            else:
                line.close()

    def _describe(self) -> str:
        came = f"{len(self._lines)} processes that attached to node {self._node} have not left"
        return f"{came}, {self._to_come} have not come" if self._to_come else came

    def close(self) -> None:
        """Stop waiting for guests. May be called again."""
        self._reception.close()
        for line in self._lines:
            say_goodbye(line)
        self._lines.clear()


def be_guest(place: str, cluster: int, node: int, timeout: float) -> socket.socket:
    """Connect to the creator of this process's node. For the creator the guest leaves when the connection ends."""
    return visit(place, (cluster, node), timeout)
