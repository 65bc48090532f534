"""Reading a request's body, with a limit, and making JSON responses."""

from __future__ import annotations

from typing import Any

import orjson
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.types import Receive, Scope

from bridge.serve.engine.refused import Reason, Refused
from bridge.serve.rest.encodings import encoding, inflated

TOGETHER = 16  # all bodies together may have this times the limit of one
HELD = "moontide.held"  # key in a request's scope: number of bytes of its body


class Intake:
    """Limits the bytes of each body, and of all bodies that are in memory at the same time.

    Parameters
    ----------
    limit : int
        Most bytes of a body; all together may have `TOGETHER` times as many.
    """

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self._left = TOGETHER * limit

    def take(self, count: int) -> None:
        """Count further bytes in memory. Raises Refused if there are too many."""
        if count > self._left:
            raise Refused(Reason.BUSY, "too many large requests are at work: try again later")
        self._left -= count

    def give_back(self, count: int) -> None:
        """Count bytes that are not in memory any more."""
        self._left += count


async def received(scope: Scope, receive: Receive, intake: Intake) -> bytes:
    """Return the whole body of a request. Its length is stored in the scope, from which the guard gives it back.

    Raises
    ------
    Refused
        It is longer than the limit, compressed or not, or in an unknown encoding, or too many bytes are in memory.
    ClientDisconnect
        The client closed the connection before the body was complete.
    """
    headers = dict(scope["headers"])
    limit = intake.limit
    name = encoding(headers.get(b"content-encoding", b""))
    told = headers.get(b"content-length", b"")
    if told.isdigit() and int(told) > limit:
        raise Refused(Reason.TOO_LARGE, f"a body of {int(told)} bytes, {limit} are allowed")
    content = await arrived(scope, receive, intake)
    return content if name is None else await inflated(name, content, Held(scope, intake))


async def arrived(scope: Scope, receive: Receive, intake: Intake) -> bytes:
    """Return the body as it was sent."""
    held = Held(scope, intake)
    parts: list[bytes] = []
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise ClientDisconnect
        part: bytes = message.get("body", b"")
        more = message.get("more_body", False)
        held(len(part))
        if not parts and not more:
            return part
        parts.append(part)
        if not more:
            return b"".join(parts)


class Held:
    """Called with the number of bytes of each part of a body: counts them, and refuses too many."""

    def __init__(self, scope: Scope, intake: Intake) -> None:
        self._scope, self._intake = scope, intake
        self._total = 0

    def __call__(self, count: int) -> None:
        """Count one more part."""
        self._intake.take(count)
        self._scope[HELD] = self._scope.get(HELD, 0) + count
        self._total += count
        if self._total > self._intake.limit:
            raise Refused(Reason.TOO_LARGE, f"a body of more than {self._intake.limit} bytes")


async def body(request: Request) -> bytes:
    """Return the whole body; see `received`."""
    return await received(request.scope, request.receive, request.app.state.intake)


async def json(request: Request) -> Any:
    """Return the value of a JSON body; None if it is empty.

    Raises
    ------
    Refused
        It is not JSON; and as for `received`.
    """
    content = await body(request)
    try:
        return orjson.loads(content) if content else None
    except orjson.JSONDecodeError as error:
        raise Refused(Reason.INVALID, f"the body is no JSON: {error}") from None


def answer(value: Any, status: int = 200) -> Response:
    """Return a JSON response."""
    return Response(
        orjson.dumps(value, option=orjson.OPT_SERIALIZE_NUMPY | orjson.OPT_NON_STR_KEYS),
        status,
        media_type="application/json",
    )
