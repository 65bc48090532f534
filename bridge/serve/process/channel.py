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
    """One side of the pair, for asyncio; the socket must not block."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        self._loop = asyncio.get_running_loop()

    async def send(self, message: Any) -> None:
        """Send a message; `ValueError` and `Closed` as `Channel.send` raises them."""
        content = encoded(message)
        try:
            await self._loop.sock_sendall(self._connection, content)
        except (BrokenPipeError, ConnectionResetError) as error:
            raise Closed from error

    async def receive(self) -> Any:
        """Return the next message; `ValueError` and `Closed` as `Channel.receive` raises them."""
        parts = bytearray()
        needed = LENGTH.size
        while len(parts) < needed:
            try:
                part = await self._loop.sock_recv(self._connection, 1 << 20)
            except ConnectionResetError as error:
                raise Closed from error
            if not part:
                raise Closed
            head = len(parts) < LENGTH.size
            parts += part
            if head and len(parts) >= LENGTH.size:
                needed = LENGTH.size + length(parts[: LENGTH.size])
        if len(parts) > needed:
            raise ValueError("more than one answer to one question")
        return decoded(parts[LENGTH.size :])
