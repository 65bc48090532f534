"""uvicorn's HTTP, without patience for connections that never say what they want."""

from __future__ import annotations

import asyncio
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

PATIENCE = 30.0  # seconds from the connection, or the end of an answer, to the end of a request's head


class ImpatientProtocol(HttpToolsProtocol):
    """Closes a connection whose request's head does not arrive in time."""

    def connection_made(self, transport: Any) -> None:
        """Begin to wait."""
        super().connection_made(transport)
        self._closing = asyncio.get_running_loop().call_later(PATIENCE, transport.close)

    def on_message_begin(self) -> None:
        """Begin to wait, where an answer came before."""
        super().on_message_begin()
        self._closing.cancel()
        self._closing = asyncio.get_running_loop().call_later(PATIENCE, self.transport.close)

    def on_headers_complete(self) -> None:
        """Wait no longer."""
        self._closing.cancel()
        super().on_headers_complete()

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait no longer."""
        self._closing.cancel()
        super().connection_lost(exc)
