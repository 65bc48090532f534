"""A request's body, with a limit and in time, and answers of JSON."""

from __future__ import annotations

import asyncio
from typing import Any

import orjson
from starlette.requests import Request
from starlette.responses import Response

from bridge.serve.engine.refused import Reason, Refused

PATIENCE = 30.0  # seconds in which a body has to arrive


async def body(request: Request) -> bytes:
    """Return the whole body.

    Raises
    ------
    Refused
        It is longer than the application allows, encoded in some way, or does not arrive.
    """
    limit: int = request.app.state.body_limit
    if request.headers.get("content-encoding", "identity") != "identity":
        raise Refused(Reason.UNSUPPORTED, "a body with a content-encoding is not read")
    told = request.headers.get("content-length", "")
    if told.isdecimal() and int(told) > limit:
        raise Refused(Reason.TOO_LARGE, f"a body of {told} bytes, {limit} are allowed")
    parts: list[bytes] = []
    total = 0
    try:
        async with asyncio.timeout(PATIENCE):
            async for part in request.stream():
                total += len(part)
                if total > limit:
                    raise Refused(Reason.TOO_LARGE, f"a body of more than {limit} bytes")
                parts.append(part)
    except TimeoutError:
        raise Refused(Reason.SLOW, f"the body did not arrive within {PATIENCE:g} s") from None
    return parts[0] if len(parts) == 1 else b"".join(parts)


def answer(value: Any, status: int = 200) -> Response:
    """Return an answer of JSON."""
    return Response(
        orjson.dumps(value, option=orjson.OPT_SERIALIZE_NUMPY | orjson.OPT_NON_STR_KEYS),
        status,
        media_type="application/json",
    )


def refusal(error: Refused) -> Response:
    """Return the answer that a refusal is."""
    response = answer({"error": str(error)}, error.reason.value)
    if error.reason is Reason.BUSY:
        response.headers["retry-after"] = "1"
    return response
