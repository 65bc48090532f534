"""The checks before every request: its id, the token if one is required, and that no other web page sent it.

It also logs a line for each request.
"""

from __future__ import annotations

import contextlib
import hmac
import logging
import time
from collections.abc import Collection
from typing import Any
from urllib.parse import urlsplit

import orjson
from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from bridge.serve.request_id import HEADER, identified, request_id
from bridge.serve.rest.bodies import HELD, Intake

logger = logging.getLogger(__name__)

ID = HEADER.encode()
# Paths that need no token: health checks, and the page, which asks for the token itself.
OPEN = {"/v2/health/live", "/v2/health/ready", "/", "/openapi.json", "/docs"}
LOOPBACK = {"localhost", "127.0.0.1", "::1"}


class Guard:
    """An ASGI application that checks requests before it passes them on.

    Parameters
    ----------
    app : ASGI application
        The application inside.
    intake : Intake
        Gets the number of a body's bytes back when its request is answered.
    token : str, optional
        The token that `Authorization: Bearer` must have.
    hosts : collection of str, optional
        Allowed names in the "Host" header; None: any. A foreign web page can make a browser send requests to a server
        on this machine under a name of its own (DNS rebinding); only the name shows that.
    access : bool
        Whether each request is logged.
    """

    def __init__(
        self,
        app: ASGIApp,
        *,
        intake: Intake,
        token: str | None = None,
        hosts: Collection[str] | None = None,
        access: bool = False,
    ) -> None:
        self._app = app
        self._intake = intake
        self._token = None if token is None else f"Bearer {token}".encode()
        self._hosts = hosts
        self._access = access

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = dict(scope["headers"])
        identity = identified(headers.get(ID))
        request_id.set(identity)
        began = time.monotonic()
        status = 0

        async def answered(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                message["headers"] = [*message["headers"], (ID, identity.encode())]
            await send(message)

        refused = self._refused(local_path(scope), headers)
        if refused is not None:
            await refuse(answered, *refused)
        else:
            try:
                with contextlib.suppress(ClientDisconnect):  # the client has closed the connection
                    await self._app(scope, receive, answered)
            finally:
                self._intake.give_back(scope.get(HELD, 0))
        if self._access or status >= 500:
            level = logging.WARNING if status >= 500 else logging.INFO
            told = {
                "method": scope["method"],
                "path": scope["path"],
                "status": status,
                "milliseconds": round((time.monotonic() - began) * 1e3, 3),
            }
            logger.log(
                level, "%(method)s %(path)s %(status)d in %(milliseconds)g ms", told, extra={"told": told}
            )

    def _refused(self, path: str, headers: dict[bytes, bytes]) -> tuple[int, str] | None:
        """Return the status and the reason if a request is refused, else None."""
        host = hostname(headers.get(b"host", b""))
        if self._hosts is not None and host not in self._hosts:
            return 403, f"this server does not answer for host {host!r}; --host names where it listens"
        origin = headers.get(b"origin")
        if origin is not None and origin != b"null" and hostname(origin.partition(b"://")[2]) != host:
            return 403, "requests of other web pages are not answered"
        if headers.get(b"sec-fetch-site") == b"cross-site" and path not in OPEN:
            return 403, "requests of other web pages are not answered"
        if self._token is not None and path not in OPEN and not path.startswith("/page/"):
            given = headers.get(b"authorization", b"")
            if not hmac.compare_digest(given, self._token):
                return 401, "a token is needed: Authorization: Bearer TOKEN"
        return None


def local_path(scope: Scope) -> str:
    """Return a request's path within the application, which may be mounted below another path."""
    path: str = scope["path"]
    root: str = scope.get("root_path", "")
    return path[len(root) :] if root and path.startswith(root) else path


def hostname(netloc: bytes) -> str:
    """Return the host of a "Host" header, without its port."""
    try:
        return urlsplit(f"//{netloc.decode('latin-1')}").hostname or ""
    except ValueError:
        return ""


async def refuse(send: Any, status: int, text: str) -> None:
    """Answer with an error."""
    headers = [(b"content-type", b"application/json")]
    if status == 401:
        headers.append((b"www-authenticate", b"Bearer"))
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": orjson.dumps({"error": text})})
