"""uvicorn's HTTP, without patience for connections on which a request began, or should begin, and nothing arrives."""

from __future__ import annotations

import asyncio
from typing import Any, cast

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

PATIENCE = 30.0  # seconds without a byte


class ImpatientProtocol(HttpToolsProtocol):
    """Closes a connection whose request does not arrive.

    One timer for each connection looks now and then whether something has arrived since, so that a request costs
    nothing.
    """

    def connection_made(self, transport: Any) -> None:
        """Begin to look."""
        self._answers = WholeAnswers(transport)
        super().connection_made(cast("asyncio.Transport", self._answers))
        self._arrived = True
        self._complete = False
        self._look()

    def data_received(self, data: bytes) -> None:
        """Note that something arrived."""
        self._arrived = True
        super().data_received(data)

    def on_message_begin(self) -> None:
        """Note that a request begins to arrive."""
        self._complete = False
        super().on_message_begin()

    def on_message_complete(self) -> None:
        """Note that a request has arrived: its answer takes its time."""
        self._complete = True
        super().on_message_complete()

    def on_response_complete(self) -> None:
        """Let an answer without a body go."""
        self._answers.flush()
        super().on_response_complete()

    def connection_lost(self, exc: Exception | None) -> None:
        """Look no more."""
        self._timer.cancel()
        super().connection_lost(exc)

    def _look(self) -> None:
        if not self._arrived and not self._complete:
            self.transport.close()
            return
        self._arrived = False
        self._timer = asyncio.get_running_loop().call_later(PATIENCE, self._look)


class WholeAnswers:
    """A transport on which an answer's head waits for the first part of its body: one call of the system for both."""

    def __init__(self, transport: Any) -> None:
        self._transport = transport
        self._head = b""

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)

    def write(self, data: bytes) -> None:
        """Write, behind the head that waits; a head waits."""
        if data.startswith(b"HTTP/") and not data.startswith(b"HTTP/1.1 100"):
            self._head = data
            return
        head, self._head = self._head, b""
        self._transport.write(head + data if head else data)

    def flush(self) -> None:
        """Write what waits."""
        head, self._head = self._head, b""
        if head:
            self._transport.write(head)

    def close(self) -> None:
        """Write what waits, and close."""
        self.flush()
        self._transport.close()
