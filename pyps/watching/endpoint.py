"""A node's HTTP endpoint, served by one thread of the node's process.

Whatever clients do, it holds at most `MOST_CONNECTIONS` of them, each for at most `PATIENCE` seconds and with at most
`MOST_BYTES` of what it sent.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import selectors
import socket
import threading
import weakref
from http import HTTPStatus

from pyps.errors import ClosedError
from pyps.node import Node
from pyps.rendezvous.interfaces import at_port, find_address, listen
from pyps.watching.reading import Reading, read
from pyps.watching.requests import answer, encode

PATIENCE = 5.0  # seconds for a connection, from its beginning to its end
MOST_BYTES = 16384  # of a request
MOST_CONNECTIONS = 64
MOST_READS = 64  # of what a client sends after its request

_listening: weakref.WeakSet[socket.socket] = weakref.WeakSet()


def _close_in_child() -> None:
    """Close the ports in a forked child, which has no thread that answers."""
    for one in list(_listening):
        one.close()


os.register_at_fork(after_in_child=_close_in_child)


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
    nodes : sequence of str
        The addresses of all nodes, as far as they are known, by their numbers.

    Raises
    ------
    ValueError
        The port is no port, or the interface means all interfaces or none.
    OSError
        The port is taken, or may not be used.
    """

    def __init__(self, node: Node, port: int, interface: str | None = None) -> None:
        if not 0 <= port <= 65535:
            raise ValueError(f"metrics_port is {port}; it must be in [0, 65535], where 0 takes a free one")
        try:
            self._socket = listen(find_address(interface), port)
        except OSError as error:
            raise OSError(
                error.errno, f"{error.strerror}: name another metrics_port, or 0 for a free one"
            ) from None
        _listening.add(self._socket)
        self.address = f"http://{at_port(*self._socket.getsockname()[:2])}"
        self.nodes: tuple[str, ...] = ()
        self._node = weakref.ref(node)
        self._process = os.getpid()
        self._connections = 0
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

    async def _serve(self) -> None:
        server = await asyncio.start_server(self._connected, sock=self._socket, limit=MOST_BYTES)
        await self._stop.wait()
        server.close()  # the connections end with the loop, which cancels them

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            if self._connections < MOST_CONNECTIONS:
                self._connections += 1
                try:
                    async with asyncio.timeout(PATIENCE):
                        await self._answer(reader, writer)
                finally:
                    self._connections -= 1
        except (TimeoutError, ConnectionError):
            pass  # the client is slow or gone, which is its own affair
        finally:
            writer.transport.abort()

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            head = await reader.readuntil(b"\r\n\r\n")
        except asyncio.IncompleteReadError:
            return
        except asyncio.LimitOverrunError:
            writer.write(encode(HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE))
        else:
            writer.write(answer(head, self._read))
        writer.write_eof()  # what the client has not read yet is sent all the same
        await writer.drain()
        for _ in range(
            MOST_READS
        ):  # until the client closes too: an abort would drop what is on its way to it
            if not await reader.read(MOST_BYTES):
                return

    def _read(self) -> Reading:
        node = self._node()
        if node is None:
            raise ClosedError("the node was shut down")
        return read(node, self.nodes)
