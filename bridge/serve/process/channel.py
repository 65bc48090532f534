"""Messages over a pair of sockets: JSON behind its length."""

from __future__ import annotations

import asyncio
import json
import socket
import struct
import time
from typing import Any

LENGTH = struct.Struct("<I")
LONGEST = 64 << 20  # bytes of a message; arrays are not in it


class Closed(Exception):
    """The other side is gone."""


def encoded(message: Any) -> bytes:
    """Return a message as it travels.

    Raises
    ------
    ValueError
        It is longer than a message may be.
    """
    content = json.dumps(message).encode()
    if len(content) > LONGEST:
        raise ValueError(f"{len(content)} bytes beside the arrays, {LONGEST} are allowed")
    return LENGTH.pack(len(content)) + content


def length(head: bytes | bytearray) -> int:
    """Return how many bytes follow; ValueError where no message has so many."""
    (count,) = LENGTH.unpack(head)
    if count > LONGEST:
        raise ValueError(f"a message of {count} bytes, {LONGEST} are allowed")
    return int(count)


def decoded(content: bytes | bytearray) -> Any:
    """Return what a message's bytes say; ValueError where they are none."""
    try:
        return json.loads(content)
    except RecursionError as error:
        raise ValueError("a message that is nested too deep") from error


class Channel:
    """One side of the pair, for a thread that waits."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection

    def send(self, message: Any, timeout: float | None = None) -> None:
        """Send a message.

        Raises
        ------
        ValueError
            It is longer than a message may be.
        Closed
            Nobody is there to read it.
        TimeoutError
            It was not read in time; what is left of the channel is of no use.
        """
        content = encoded(message)
        self._connection.settimeout(timeout)
        try:
            self._connection.sendall(content)
        except (BrokenPipeError, ConnectionResetError) as error:
            raise Closed from error

    def receive(self, timeout: float | None = None) -> Any:
        """Return the next message.

        Raises
        ------
        ValueError
            What came is no message.
        Closed
            The other side is gone.
        TimeoutError
            It did not come in time, all of it.
        """
        until = None if timeout is None else time.monotonic() + timeout
        count = length(self._read(LENGTH.size, until))
        return decoded(self._read(count, until))

    def close(self) -> None:
        """Close this side."""
        self._connection.close()

    def _read(self, count: int, until: float | None) -> bytes:
        parts = bytearray()
        while len(parts) < count:
            left = None if until is None else max(until - time.monotonic(), 0.0001)
            self._connection.settimeout(left)
            try:
                part = self._connection.recv(min(count - len(parts), 1 << 20))
            except ConnectionResetError as error:
                raise Closed from error
            if not part:
                raise Closed
            parts += part
        return bytes(parts)


class AsyncChannel:
    """One side of the pair, for asyncio; the socket must not block. One question at a time."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        self._loop = asyncio.get_running_loop()
        self._parts = bytearray()
        self._failure: Exception | None = None
        self._waiting: asyncio.Future[Any] | None = None
        self._loop.add_reader(connection, self._read)

    async def send(self, content: bytes) -> None:
        """Send what `encoded` made; `Closed` as `Channel.send` raises it."""
        try:
            await self._loop.sock_sendall(self._connection, content)
        except OSError as error:
            raise Closed from error

    async def receive(self) -> Any:
        """Return the next message; `ValueError` and `Closed` as `Channel.receive` raises them."""
        self._waiting = self._loop.create_future()
        self._look()
        try:
            return await self._waiting
        finally:
            self._waiting = None

    def close(self) -> None:
        """Read no more, before the socket is closed; who waits is told that the other side is gone."""
        self._fail(Closed())

    def _read(self) -> None:
        try:
            part = self._connection.recv(1 << 20)
        except (BlockingIOError, InterruptedError):
            return
        except OSError as error:
            self._fail(Closed(*error.args))
            return
        if not part:
            self._fail(Closed())
            return
        self._parts += part
        self._look()

    def _fail(self, error: Exception) -> None:
        if self._failure is None:
            self._failure = error
            self._loop.remove_reader(self._connection)
        self._look()

    def _look(self) -> None:
        """Give the one who waits a message that is complete, or what keeps it from coming."""
        if self._waiting is None or self._waiting.done():
            return
        try:
            if self._complete():
                message = decoded(self._parts[LENGTH.size :])
                self._parts.clear()
                self._waiting.set_result(message)
            elif self._failure is not None:
                self._waiting.set_exception(self._failure)
        except ValueError as error:
            self._waiting.set_exception(error)

    def _complete(self) -> bool:
        if len(self._parts) < LENGTH.size:
            return False
        needed = LENGTH.size + length(self._parts[: LENGTH.size])
        if len(self._parts) > needed:
            raise ValueError("more than one answer to one question")
        return len(self._parts) == needed
