"""Checks the token that clients must send, before a request's message is read."""

from __future__ import annotations

import hmac
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import grpc

from bridge.serve.grpc.access import noted
from bridge.serve.grpc.servicer import HEALTH, INFERENCE

# Methods that need no token: health checks.
OPEN = {f"/{INFERENCE}/ServerLive", f"/{INFERENCE}/ServerReady", f"/{HEALTH}/Check"}


class Guard(grpc.aio.ServerInterceptor):  # type: ignore[misc]  # grpc has no types
    """An interceptor that refuses calls without the token.

    Parameters
    ----------
    token : str
        The token that the metadata `authorization: Bearer` must have.
    access : bool
        Whether refused calls are logged.
    """

    def __init__(self, token: str, *, access: bool = False) -> None:
        self._token = f"Bearer {token}".encode()
        self._access = access

    async def intercept_service(
        self, continuation: Callable[[Any], Awaitable[Any]], details: grpc.HandlerCallDetails
    ) -> Any:
        """Return the method's handler, or one that refuses."""
        if details.method in OPEN:
            return await continuation(details)
        given = dict(details.invocation_metadata).get("authorization", "")
        content = given.encode(errors="replace") if isinstance(given, str) else given
        if hmac.compare_digest(content, self._token):
            return await continuation(details)
        return grpc.stream_stream_rpc_method_handler(refusing(details.method, access=self._access))


def refusing(path: str, *, access: bool) -> Callable[[AsyncIterator[bytes], Any], Awaitable[None]]:
    """Return a method that refuses the call without reading any message."""

    async def refuse(_: AsyncIterator[bytes], context: Any) -> None:
        with noted(path, context, every=access):
            await context.abort(
                grpc.StatusCode.UNAUTHENTICATED, "a token is needed: metadata authorization: Bearer TOKEN"
            )

    return refuse
