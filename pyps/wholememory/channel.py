"""Messages between two processes of a host: JSON in packets of a Unix socket, which can carry file descriptors.

The socket has a name in the abstract namespace, so it disappears with the processes. The system tells which user's
process is at the other end; processes of other users are refused.
"""

from __future__ import annotations

import array
import json
import os
import secrets
import select
import socket
import struct
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

MOST_BYTES = 1 << 16  # in a message
MOST_DESCRIPTORS = 4


@dataclass(frozen=True)
class Peer:
    """The process at the other end, as the system knows it."""

    pid: int
    uid: int


class Channel:
    """One end of a connection; it owns the socket."""

    def __init__(self, connection: socket.socket) -> None:
        connection.setblocking(False)
        self._socket = connection
        size = struct.calcsize("3i")
        pid, uid, _ = struct.unpack("3i", connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, size))
        self.peer = Peer(pid, uid)

    def fileno(self) -> int:
        """Return the socket's descriptor, for waiting until a message comes."""
        return self._socket.fileno()

    def send(self, message: dict[str, Any], descriptors: Sequence[int] = ()) -> None:
        """Send a message. If the other end is gone, the next `receive` tells.

        Raises
        ------
        ConnectionError
            The other end has not read for a long time, so its queue is full.
        """
        control = (
            [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", descriptors))] if descriptors else []
        )
        try:
            self._socket.sendmsg([json.dumps(message).encode()], control, socket.MSG_NOSIGNAL)
        except (BrokenPipeError, ConnectionResetError):
            return
        except BlockingIOError:
            raise ConnectionError(f"process {self.peer.pid} does not read its messages") from None

    def receive(self) -> tuple[dict[str, Any], list[int]] | None:
        """Return the next message with its descriptors, which belong to the caller, or None if there is none yet.

        Raises
        ------
        EOFError
            The other end is closed.
        """
        room = socket.CMSG_SPACE(MOST_DESCRIPTORS * array.array("i").itemsize)
        try:
            data, control, _, _ = self._socket.recvmsg(MOST_BYTES, room, socket.MSG_CMSG_CLOEXEC)
        except BlockingIOError:
            return None
        # The system tells once that the other end left messages unread; what it had sent comes after that.
        except ConnectionResetError:
            return self.receive()
        descriptors = array.array("i")
        for level, kind, found in control:
            if (level, kind) == (socket.SOL_SOCKET, socket.SCM_RIGHTS):
                descriptors.frombytes(found[: len(found) - len(found) % descriptors.itemsize])
        if not data:
            raise EOFError
        return json.loads(data), descriptors.tolist()

    def close(self, *, for_all: bool = True) -> None:
        """Close this end; with `for_all` also for forked processes that have a copy of it."""
        if for_all:
            with suppress(OSError):  # the other end may have closed before
                self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()


def listen(name: str | None = None) -> socket.socket:
    """Listen under a name in the abstract namespace; without a name, under a random one.

    Raises
    ------
    OSError
        With EADDRINUSE: another process has the name.
    """
    listening = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    try:
        listening.bind("\0" + (name or f"wholememory-{os.getpid()}-{secrets.token_hex(8)}"))
        listening.listen(1024)
        listening.setblocking(False)
    except OSError:
        listening.close()
        raise
    return listening


def connect(name: str) -> Channel | None:
    """Connect to the process that listens under a name; None if there is none.

    Raises
    ------
    PermissionError
        A process of another user listens there.
    """
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    try:
        connection.connect("\0" + name)
    except (ConnectionRefusedError, ConnectionResetError):
        connection.close()
        return None
    channel = Channel(connection)
    if channel.peer.uid != os.geteuid():
        uid = channel.peer.uid
        channel.close()
        raise PermissionError(f"process {channel.peer.pid} of user {uid} has taken the name {name!r}")
    return channel


def accept(listening: socket.socket) -> Channel | None:
    """Accept a connection; None if there is none, or if it is from another user's process, which gets no answer."""
    try:
        connection, _ = listening.accept()
    except (BlockingIOError, ConnectionAbortedError):
        return None
    channel = Channel(connection)
    if channel.peer.uid != os.geteuid():
        channel.close()
        return None
    return channel


def wait_readable(descriptors: Sequence[int], deadline: float) -> set[int]:
    """Wait until descriptors can be read, and return these; none at the deadline (of `time.monotonic`)."""
    poll = select.poll()
    for descriptor in descriptors:
        poll.register(descriptor, select.POLLIN)
    left = max(0.0, deadline - time.monotonic())
    return {descriptor for descriptor, _ in poll.poll(left * 1000)}
