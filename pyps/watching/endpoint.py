"""A node's HTTP endpoint, served by one thread of the node's process.

Whatever clients do, it holds at most `MOST_CONNECTIONS` of them, each for at most `PATIENCE` seconds and with at most
`MOST_BYTES` of what it sent.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import operator
import os
import selectors
import socket
import threading
import weakref
from http import HTTPStatus

from pyps.errors import ClosedError
from pyps.node import Node
from pyps.rendezvous.inheritance import keep_from_children
from pyps.rendezvous.interfaces import at_port, find_address, listen
from pyps.watching.reading import Reading, read
from pyps.watching.requests import answer, encode

PATIENCE = 5.0  # seconds for a connection, from its beginning to its end
MOST_BYTES = 16384  # of a request
MOST_CONNECTIONS = 64
MOST_READS = 64  # of what a client sends after its request
ACCEPT_AGAIN = 0.1  # seconds, after it has failed

logger = logging.getLogger(__name__)


class Endpoint:
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
        try:
            self._socket = listen(find_address(interface), port)
        except OSError as error:
            raise OSError(
                error.errno, f"{error.strerror}: name another metrics_port, or 0 for a free one"
            ) from None
        keep_from_children(self._socket)
        self._socket.setblocking(False)
        self.address = f"http://{at_port(*self._socket.getsockname()[:2])}"
        self._node = weakref.ref(node)
        self._process = os.getpid()
        self._lines: dict[socket.socket, asyncio.Task[None]] = {}
        # Not epoll, whose state a forked child would share.
        self._loop = asyncio.SelectorEventLoop(selectors.PollSelector())
        self._stop = asyncio.Event()
        self._thread = threading.Thread(target=self._run, name="pyps metrics", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Close the port and all connections. May be called again, also in a forked child, where it does nothing."""
        if os.getpid() != self._process:
            return
        with contextlib.suppress(RuntimeError):  # its thread has ended
            self._loop.call_soon_threadsafe(self._stop.set)
        if threading.current_thread() is not self._thread:  # which may be the last one to hold the node
            self._thread.join()

    def _run(self) -> None:
        with asyncio.Runner(loop_factory=lambda: self._loop) as runner:
            runner.run(self._serve())
        for line in self._lines:  # those whose task was ended before it began
            line.close()
        self._socket.close()

    async def _serve(self) -> None:
        self._listen()
        await self._stop.wait()
        self._loop.remove_reader(self._socket)
        self._socket.shutdown(socket.SHUT_RDWR)  # for a forked child that has not closed its copy yet as well

    def _listen(self) -> None:
        self._loop.add_reader(self._socket, self._accept)

    def _accept(self) -> None:
        try:
            line, _ = self._socket.accept()
        except OSError:  # the client is gone, or the process has no descriptor left
            self._loop.remove_reader(self._socket)
            self._loop.call_later(ACCEPT_AGAIN, self._listen)
            return
        if len(self._lines) >= MOST_CONNECTIONS:
            line.close()
            return
        line.setblocking(False)
        self._lines[line] = self._loop.create_task(self._converse(line))

    async def _converse(self, line: socket.socket) -> None:
        try:
            async with asyncio.timeout(PATIENCE):
                await self._answer(line)
        except (TimeoutError, OSError) as error:  # the client is slow or gone
            logger.debug("a client of the metrics of %s was dropped: %s", self.address, error or "too slow")
        finally:
            del self._lines[line]
            line.close()

    async def _answer(self, line: socket.socket) -> None:
        head = b""
        while b"\r\n\r\n" not in head and len(head) <= MOST_BYTES:
            part = await self._loop.sock_recv(line, MOST_BYTES)
            if not part:
                return
            head += part
        whole = b"\r\n\r\n" in head
        too_large = HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE
        await self._loop.sock_sendall(line, answer(head, self._read) if whole else encode(too_large))
        line.shutdown(socket.SHUT_WR)
        # Until the client closes too: else what is on its way to it might be dropped.
        for _ in range(MOST_READS):
            if not await self._loop.sock_recv(line, MOST_BYTES):
                return

    def _read(self) -> Reading:
        node = self._node()
        if node is None:
            raise ClosedError("the node was shut down")
        return read(node)
