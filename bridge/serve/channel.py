"""Messages over a pair of sockets: JSON behind its length."""

from __future__ import annotations

import json
import socket
import struct
import time
from typing import Any

LENGTH = struct.Struct("<I")
LONGEST = 64 << 20  # bytes of a message; arrays are not in it


class Closed(Exception):
    """The other side is gone."""


class Channel:
    """One side of the pair."""

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
        content = json.dumps(message).encode()
        if len(content) > LONGEST:
            raise ValueError(f"{len(content)} bytes beside the arrays, {LONGEST} are allowed")
        self._connection.settimeout(timeout)
        try:
            self._connection.sendall(LENGTH.pack(len(content)) + content)
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
        (length,) = LENGTH.unpack(self._read(LENGTH.size, until))
        if length > LONGEST:
            raise ValueError(f"a message of {length} bytes, {LONGEST} are allowed")
        try:
            return json.loads(self._read(length, until))
        except RecursionError as error:
            raise ValueError("a message that is nested too deep") from error

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
