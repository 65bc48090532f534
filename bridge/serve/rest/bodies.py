"""A request's body, with a limit, and answers of JSON."""

from __future__ import annotations

from typing import Any

import orjson
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.types import Receive, Scope

from bridge.serve.engine.refused import Reason, Refused

TOGETHER = 16  # bodies of the greatest length that may be here at one time
HELD = "moontide.held"  # where a request's scope has the bytes of its body


class Intake:
    """What bodies may be: each alone, and all together that are here at one time.

    Parameters
    ----------
    limit : int
        Bytes of a body; all together may have `TOGETHER` times as many.
    """

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self._left = TOGETHER * limit

    def take(self, count: int) -> None:
        """Make room for bytes; `Refused` where there is none."""
        if count > self._left:
            raise Refused(Reason.BUSY, "too many large requests are at work: try again later")
        self._left -= count

    def give_back(self, count: int) -> None:
        """Say that bytes are no longer here."""
        self._left += count


async def received(scope: Scope, receive: Receive, intake: Intake) -> bytes:
    """Return the whole body of a request; how long it is, is noted in the scope, for the guard to give back.

    Raises
    ------
    Refused
        It is longer than the limit, or encoded in some way, or too much is here already.
    ClientDisconnect
        The client went before it was complete.
    """
    headers = dict(scope["headers"])
    limit = intake.limit
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
        intake.take(len(part))
        scope[HELD] = scope.get(HELD, 0) + len(part)
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
    return await received(request.scope, request.receive, request.app.state.intake)


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
