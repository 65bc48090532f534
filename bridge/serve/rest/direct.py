"""The inference route without the layers of a web framework, because its speed matters most.

It is POST /v2/models/MODEL[/versions/VERSION]/infer; all other requests are passed to the application inside.
"""

from __future__ import annotations

import re

import orjson
from starlette.types import ASGIApp, Receive, Scope, Send

from bridge.serve.engine import Reason, Refused, Service
from bridge.serve.rest import oip
from bridge.serve.rest.bodies import Intake, received
from bridge.serve.rest.encodings import READ
from bridge.serve.rest.guard import local_path

INFER = re.compile(r"/v2/models/([^/]+)(?:/versions/([^/]+))?/infer")
JSON = (b"content-type", b"application/json")
BINARY = (b"content-type", b"application/octet-stream")


class Direct:
    """An ASGI application that answers inference itself.

    Parameters
    ----------
    app : ASGI application
        The application for all other requests.
    service : Service
        The service that computes.
    intake : Intake
        The limits of bodies.
    """

    def __init__(self, app: ASGIApp, *, service: Service, intake: Intake) -> None:
        self._app = app
        self._service = service
        self._intake = intake

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer an inference request, or pass the request on."""
        match = INFER.fullmatch(local_path(scope)) if scope["type"] == "http" else None
        if match is None:
            await self._app(scope, receive, send)
            return
        name, version = match.groups()
        status, headers = 200, [JSON]
        try:
            if scope["method"] != "POST":
                raise Refused(Reason.METHOD, "inference is asked for by POST")
            given = dict(scope["headers"])
            asked = oip.request(await received(scope, receive, self._intake), given.get(oip.HEADER_LENGTH))
            version, outputs = await self._service.infer(name, asked.inputs, version, asked.timeout)
            content, length = oip.response(asked, name, version, outputs)
            if length is not None:
                headers = [BINARY, (oip.HEADER_LENGTH, str(length).encode())]
        except Refused as error:
            status, content = error.reason.value, orjson.dumps({"error": str(error)})
            headers += refusal_headers(error)
        headers.append((b"content-length", str(len(content)).encode()))
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": content})


def refusal_headers(error: Refused) -> list[tuple[bytes, bytes]]:
    """Return the headers of a refusal."""
    return {
        Reason.BUSY: [(b"retry-after", b"1")],
        Reason.METHOD: [(b"allow", b"POST")],
        Reason.UNSUPPORTED: [(b"accept-encoding", ", ".join(READ).encode())],
    }.get(error.reason, [])
