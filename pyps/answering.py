"""A port at which one thread of this process answers clients, each connection by itself.

Whatever clients do, it holds at most `MOST_CONNECTIONS` of them, each for at most `PATIENCE` seconds and with at most
`MOST_BYTES` of what it sent.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import selectors
import socket
import threading
from abc import ABC, abstractmethod

from pyps.rendezvous.inheritance import keep_from_children
from pyps.rendezvous.interfaces import at_port, find_address, listen

PATIENCE = 5.0  # seconds for a connection, from its beginning to its end
MOST_BYTES = 16384  # of a request
MOST_CONNECTIONS = 64
MOST_READS = 64  # of what a client sends after its request
ACCEPT_AGAIN = 0.1  # seconds, after it has failed

logger = logging.getLogger(__name__)


class Answering(ABC):
    """Answer clients at a port, from now on until it is closed.

    Parameters
    ----------
    interface : str or None
        An interface, an address or a name of this host, by default the loopback.
    port : int
        0 takes a free one.
    name : str
        Of the thread.
    end : bytes
        What a request ends with.

    Attributes
    ----------
    place : str
        ``host:port``

    Raises
    ------
    ValueError
        The interface means all interfaces or none.
    OSError
        The port is taken, or may not be used.
    """

    def __init__(self, interface: str | None, port: int, name: str, end: bytes) -> None:
        self._socket = listen(find_address(interface), port)
        keep_from_children(self._socket)
        self._socket.setblocking(False)
        self.place = at_port(*self._socket.getsockname()[:2])
        self._end = end
        self._process = os.getpid()
        self._lines: dict[socket.socket, asyncio.Task[None]] = {}
        # Not epoll, whose state a forked child would share.
        self._loop = asyncio.SelectorEventLoop(selectors.PollSelector())
        self._stop = asyncio.Event()
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self._thread.start()

    @abstractmethod
    def _answer(self, request: bytes) -> bytes:
        """Answer a request; one that is longer than allowed comes without its end."""

    def close(self) -> None:
        """Close the port and all connections. May be called again, also in a forked child, where it does nothing."""
        if os.getpid() != self._process:
            return
        with contextlib.suppress(RuntimeError):  # its thread has ended
            self._loop.call_soon_threadsafe(self._stop.set)
        if threading.current_thread() is not self._thread:  # which may be the last one to hold what is closed
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
        self._lines[line] = self._loop.create_task(self._attend(line))

    async def _attend(self, line: socket.socket) -> None:
        try:
            async with asyncio.timeout(PATIENCE):
                await self._converse(line)
        except (TimeoutError, OSError) as error:  # the client is slow or gone
            logger.debug("a client of %s was dropped: %s", self.place, error or "too slow")
        finally:
            del self._lines[line]
            line.close()

    async def _converse(self, line: socket.socket) -> None:
        request = b""
        while self._end not in request and len(request) <= MOST_BYTES:
            part = await self._loop.sock_recv(line, MOST_BYTES)
            if not part:
                return
            request += part
        await self._loop.sock_sendall(line, self._answer(request))
        line.shutdown(socket.SHUT_WR)
        # Until the client closes too: else what is on its way to it might be dropped.
        for _ in range(MOST_READS):
            if not await self._loop.sock_recv(line, MOST_BYTES):
                return
