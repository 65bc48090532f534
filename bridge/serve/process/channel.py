"""Messages over a pair of sockets: a length, then JSON."""

from __future__ import annotations

import asyncio
import json
import os
import socket
import struct
import time
from typing import Any

LENGTH = struct.Struct("<I")
LONGEST = 64 << 20  # most bytes of a message; arrays are not part of it
PIECE = 1 << 20  # most bytes that are read at once


class Closed(Exception):
    """The other side has closed the channel."""


def encoded(message: Any) -> bytes:
    """Return a message as bytes.

    Raises
    ------
    ValueError
        It is too long.
    """
    content = json.dumps(message).encode()
    if len(content) > LONGEST:
        raise ValueError(f"{len(content)} bytes beside the arrays, {LONGEST} are allowed")
    return LENGTH.pack(len(content)) + content


def length(head: bytes | bytearray) -> int:
    """Return the number of bytes that follow. Raises ValueError if a message cannot be so long."""
    (count,) = LENGTH.unpack(head)
    if count > LONGEST:
        raise ValueError(f"a message of {count} bytes, {LONGEST} are allowed")
    return int(count)


def decoded(content: bytes | bytearray) -> Any:
    """Return the message in bytes. Raises ValueError if they are not a message."""
    try:
        return json.loads(content)
    except RecursionError as error:
        raise ValueError("a message that is nested too deep") from error


class Arriving:
    """A message that has been read in part."""

    def __init__(self) -> None:
        self._parts = bytearray()
        self._needed = LENGTH.size

    @property
    def missing(self) -> int:
        """The number of bytes to read next; 0: the message is complete."""
        return min(self._needed - len(self._parts), PIECE)

    def add(self, part: bytes) -> None:
        """Add bytes that were read. Raises Closed if there are none, ValueError if they are not part of a message."""
        if not part:
            raise Closed
        self._parts += part
        if len(self._parts) > self._needed:
            raise ValueError("more than one answer to one question")
        if self._needed == len(self._parts) == LENGTH.size:
            self._needed += length(self._parts)

    def message(self) -> Any:
        """Return the message. Raises ValueError if the bytes are not one."""
        return decoded(self._parts[LENGTH.size :])


def watched(connection: socket.socket, arriving: Arriving, seconds: float) -> None:
    """Read what arrives within some seconds without sleeping: waking up takes longer than a small model computes.

    Other threads and processes still get the core when they need it.
    """
    until = time.perf_counter() + seconds
    while arriving.missing:
        try:
            arriving.add(connection.recv(arriving.missing, socket.MSG_DONTWAIT))
        except BlockingIOError:
            if time.perf_counter() >= until:
                return
            os.sched_yield()
        except ConnectionResetError as error:
            raise Closed from error


class Channel:
    """One side of the pair, for use by a thread, which waits."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection

    def send(self, message: Any, timeout: float | None = None) -> None:
        """Send a message.

        Raises
        ------
        ValueError
            It is too long.
        Closed
            The other side has closed the channel.
        TimeoutError
            It was not read in time; the channel cannot be used any more.
        """
        content = encoded(message)
        self._connection.settimeout(timeout)
        try:
            self._connection.sendall(content)
        except (BrokenPipeError, ConnectionResetError) as error:
            raise Closed from error

    def receive(self, timeout: float | None = None, *, watch: float = 0.0) -> Any:
        """Return the next message.

        Parameters
        ----------
        timeout : float, optional
            Seconds to wait.
        watch : float
            The first of these seconds, in which the thread does not sleep; see `watched`.

        Raises
        ------
        ValueError
            The bytes that came are not a message.
        Closed
            The other side has closed the channel.
        TimeoutError
            The whole message did not come in time.
        """
        until = None if timeout is None else time.monotonic() + timeout
        arriving = Arriving()
        if watch:
            self._connection.settimeout(None)
            watched(self._connection, arriving, watch)
        while arriving.missing:
            left = None if until is None else max(until - time.monotonic(), 0.0001)
            self._connection.settimeout(left)
            try:
                arriving.add(self._connection.recv(arriving.missing))
            except ConnectionResetError as error:
                raise Closed from error
        return arriving.message()

    def close(self) -> None:
        """Close this side."""
        self._connection.close()


class AsyncChannel:
    """One side of the pair, for asyncio; the socket must not block. One question at a time."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        self._loop = asyncio.get_running_loop()
        self._arriving = Arriving()
        self._failure: Exception | None = None
        self._waiting: asyncio.Future[Any] | None = None
        self._loop.add_reader(connection, self._read)

    async def send(self, content: bytes) -> None:
        """Send the bytes of `encoded`. Raises Closed like `Channel.send`."""
        try:
            await self._loop.sock_sendall(self._connection, content)
        except OSError as error:
            raise Closed from error

    async def receive(self, *, watch: float = 0.0) -> Any:
        """Return the next message. Raises like `Channel.receive`. The event loop is blocked for the `watch` seconds."""
        self._waiting = self._loop.create_future()
        try:
            if watch and self._failure is None:
                watched(self._connection, self._arriving, watch)
            self._look()
            return await self._waiting
        finally:
            self._waiting = None

    def close(self) -> None:
        """Stop reading, before the socket is closed; a waiting `receive` raises Closed."""
        self._fail(Closed())

    def _read(self) -> None:
        try:
            self._arriving.add(self._connection.recv(self._arriving.missing or 1))
        except (BlockingIOError, InterruptedError):
            return
        except OSError as error:
            self._fail(Closed(*error.args))
            return
        except (Closed, ValueError) as error:
            self._fail(error)
            return
        self._look()

    def _fail(self, error: Exception) -> None:
        if self._failure is None:
            self._failure = error
            self._loop.remove_reader(self._connection)
        self._look()

    def _look(self) -> None:
        """Complete a waiting `receive` with the message if it is complete, or with an error."""
        if self._waiting is None or self._waiting.done():
            return
        if self._failure is not None:
            self._waiting.set_exception(self._failure)
        elif not self._arriving.missing:
            arrived, self._arriving = self._arriving, Arriving()
            try:
                self._waiting.set_result(arrived.message())
            except ValueError as error:
                self._waiting.set_exception(error)
