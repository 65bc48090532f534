"""uvicorn's HTTP protocol with a limit on how long a connection may wait for the bytes of a request."""

from __future__ import annotations

import asyncio
from typing import Any, cast

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

PATIENCE = 30.0  # seconds without a byte


class ImpatientProtocol(HttpToolsProtocol):
    """Closes a connection on which no further byte of a request arrives.

    One timer for each connection checks from time to time whether something has arrived, so a request costs nothing.
    """

    def connection_made(self, transport: Any) -> None:
        """Start the timer."""
        self._answers = WholeAnswers(transport)
        super().connection_made(cast("asyncio.Transport", self._answers))
        self._arrived = True
        self._complete = False
        self._look()

    def data_received(self, data: bytes) -> None:
        """Note that bytes have arrived."""
        self._arrived = True
        super().data_received(data)

    def on_message_begin(self) -> None:
        """Note that a request has begun to arrive."""
        self._complete = False
        super().on_message_begin()

    def on_message_complete(self) -> None:
        """Note that a request is complete: from now on the client waits, without a limit here."""
        self._complete = True
        super().on_message_complete()

    def on_response_complete(self) -> None:
        """Send a response without a body."""
        self._answers.flush()
        super().on_response_complete()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop the timer."""
        self._timer.cancel()
        super().connection_lost(exc)

    def _look(self) -> None:
        if not self._arrived and not self._complete:
            self.transport.close()
            return
        self._arrived = False
        self._timer = asyncio.get_running_loop().call_later(PATIENCE, self._look)


class WholeAnswers:
    """A transport that sends a response's head together with the first part of its body, in one system call."""

    def __init__(self, transport: Any) -> None:
        self._transport = transport
        self._head = b""

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)

    def write(self, data: bytes) -> None:
        """Keep a head for later; write anything else, after the head that was kept."""
        if data.startswith(b"HTTP/") and not data.startswith(b"HTTP/1.1 100"):
            self._head = data
            return
        head, self._head = self._head, b""
        self._transport.write(head + data if head else data)

    def flush(self) -> None:
        """Write the head that was kept."""
        head, self._head = self._head, b""
        if head:
            self._transport.write(head)

    def close(self) -> None:
        """Write the head that was kept, and close."""
        self.flush()
        self._transport.close()
