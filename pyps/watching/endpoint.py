"""A node's HTTP endpoint."""

from __future__ import annotations

import operator
import weakref
from http import HTTPStatus

from pyps.answering import Answering
from pyps.errors import ClosedError
from pyps.node import Node
from pyps.watching.reading import Reading, read
from pyps.watching.requests import answer, encode

HEAD_END = b"\r\n\r\n"


class Endpoint(Answering):
    """The endpoint of a node, from now on until it is closed.

    Parameters
    ----------
    node : Node
    port : int
        0 takes a free one.
    interface : str, optional
        An interface, an address or a name of this host, by default the loopback.

    Attributes
    ----------
    address : str
        ``http://host:port``

    Raises
    ------
    ValueError
        The port is no port, or the interface means all interfaces or none.
    OSError
        The port is taken, or may not be used.
    """

    def __init__(self, node: Node, port: int, interface: str | None = None) -> None:
        try:
            port = operator.index(port)
        except TypeError:
            raise TypeError(f"metrics_port must be an integer, not {type(port).__name__}") from None
        if not 0 <= port <= 65535:
            raise ValueError(f"metrics_port is {port}; it must be in [0, 65535], where 0 takes a free one")
        self._node = weakref.ref(node)
        try:
            super().__init__(interface, port, "pyps metrics", HEAD_END)
        except OSError as error:
            raise OSError(
                error.errno, f"{error.strerror}: name another metrics_port, or 0 for a free one"
            ) from None
        self.address = f"http://{self.place}"

    def _answer(self, request: bytes) -> bytes:
        if HEAD_END not in request:
            return encode(HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE)
        return answer(request, self._read)

    def _read(self) -> Reading:
        node = self._node()
        if node is None:
            raise ClosedError("the node was shut down")
        return read(node)
