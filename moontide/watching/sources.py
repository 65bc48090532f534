"""Where a reading of a node comes from: its memory, for processes of its host and user, or its HTTP endpoint."""

from __future__ import annotations

import json
import urllib.request
from http.client import HTTPException
from typing import Protocol

import pyps
from moontide.errors import CommandError
from pyps.watching.reading import Reading, read

MOST_BYTES = 1 << 22  # of an answer over HTTP
WAYS = "give what the node prints as 'attach to' (unix:@pyps-...) or as 'metrics at' (http://HOST:PORT)"


class Unreadable(Exception):
    """A node cannot be read now; the message says why."""


class Source(Protocol):
    """A node that is read again and again."""

    address: str

    def read(self) -> Reading:
        """Read the node, or raise `Unreadable`."""

    def close(self) -> None:
        """Let go of the node."""


class Attached:
    """A node of this host, by its memory."""

    def __init__(self, address: str, timeout: float) -> None:
        self.address = address
        self._timeout = timeout
        self._node: pyps.Node | None = None

    def read(self) -> Reading:
        """Read the memory; attach to it first."""
        try:
            if self._node is None:
                self._node = pyps.attach(self.address, timeout=self._timeout)
            return read(self._node)
        except (pyps.Error, OSError, MemoryError) as error:
            raise Unreadable(str(error)) from None

    def close(self) -> None:
        """Detach."""
        if self._node is not None:
            self._node.shutdown()


class Http:
    """A node anywhere, by its endpoint."""

    def __init__(self, address: str, timeout: float) -> None:
        self.address = address.rstrip("/").removesuffix("/metrics").removesuffix("/stats")
        self._timeout = timeout
        # Not by a proxy of the environment: nodes are near.
        self._opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))

    def read(self) -> Reading:
        """Ask the endpoint."""
        try:
            with self._opener.open(f"{self.address}/stats", timeout=self._timeout) as answer:
                return Reading.from_json(json.loads(answer.read(MOST_BYTES)))
        except (OSError, HTTPException, ValueError, RecursionError) as error:
            reason = str(getattr(error, "reason", "") or error)
            # It may quote what the other side sent, which is not for the terminal.
            raise Unreadable("".join(c if c.isprintable() else " " for c in reason[:200]).strip()) from None

    def close(self) -> None:
        """Nothing is held between two readings."""


def source_of(address: str, timeout: float) -> Source:
    """Return the source that an address means.

    Raises
    ------
    CommandError
        It is no address.
    """
    if address.startswith(("http://", "https://")):
        return Http(address, timeout)
    if address.startswith("unix:"):
        return Attached(address, timeout)
    raise CommandError(f"{address!r} is no address of a node: {WAYS}")
