"""A request's body, with a limit, and answers of JSON."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import orjson
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.types import Receive

from bridge.serve.engine.refused import Reason, Refused


async def received(headers: Mapping[bytes, bytes], receive: Receive, limit: int) -> bytes:
    """Return the whole body of a request.

    Raises
    ------
    Refused
        It is longer than the limit, or encoded in some way.
    ClientDisconnect
        The client went before it was complete.
    """
    if headers.get(b"content-encoding", b"identity") != b"identity":
        raise Refused(Reason.UNSUPPORTED, "a body with a content-encoding is not read")
    told = headers.get(b"content-length", b"")
    if told.isdigit() and int(told) > limit:
        raise Refused(Reason.TOO_LARGE, f"a body of {int(told)} bytes, {limit} are allowed")
    parts: list[bytes] = []
    total = 0
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise ClientDisconnect
        part: bytes = message.get("body", b"")
        if not parts and not message.get("more_body", False):
            return part
        parts.append(part)
        total += len(part)
        if total > limit:
            raise Refused(Reason.TOO_LARGE, f"a body of more than {limit} bytes")
        if not message.get("more_body", False):
            return b"".join(parts)


async def body(request: Request) -> bytes:
    """Return the whole body; see `received`."""
    return await received(dict(request.scope["headers"]), request.receive, request.app.state.body_limit)


async def json(request: Request) -> Any:
    """Return what a body of JSON says; None where it is empty.

    Raises
    ------
    Refused
        It is no JSON; and as `received`.
    """
    content = await body(request)
    try:
        return orjson.loads(content) if content else None
    except orjson.JSONDecodeError as error:
        raise Refused(Reason.INVALID, f"the body is no JSON: {error}") from None


def answer(value: Any, status: int = 200) -> Response:
    """Return an answer of JSON."""
    return Response(
        orjson.dumps(value, option=orjson.OPT_SERIALIZE_NUMPY | orjson.OPT_NON_STR_KEYS),
        status,
        media_type="application/json",
    )
