"""Routes of the model repository and of metrics."""

from __future__ import annotations

from typing import Any

from prometheus_client import CONTENT_TYPE_LATEST
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from bridge.serve.engine.refused import Reason, Refused
from bridge.serve.rest.bodies import answer, json
from bridge.serve.rest.inference import service


async def index(request: Request) -> Response:
    """POST /v2/repository/index: all models and their states; {"ready": true} asks for those that are served."""
    only_ready = (await told(request)).get("ready") is True
    rows = service(request).repository.index()
    return answer([row for row in rows if not only_ready or row["state"] == "READY"])


async def load(request: Request) -> Response:
    """POST /v2/repository/models/MODEL/load."""
    parameters = (await told(request)).get("parameters") or {}
    if not isinstance(parameters, dict):
        raise Refused(Reason.INVALID, "expected an object as 'parameters'")
    await service(request).repository.load(request.path_params["model"], parameters)
    return answer({})


async def unload(request: Request) -> Response:
    """POST /v2/repository/models/MODEL/unload."""
    await told(request)
    await service(request).repository.unload(request.path_params["model"])
    return answer({})


async def told(request: Request) -> dict[str, Any]:
    """Return the JSON object in a body; an empty one for an empty body.

    Raises
    ------
    Refused
        The body is something else.
    """
    found = await json(request)
    if not isinstance(found, dict | None):
        raise Refused(Reason.INVALID, "expected a JSON object, or nothing")
    return found or {}


async def metrics(request: Request) -> Response:
    """GET /metrics."""
    return Response(service(request).metrics(), media_type=CONTENT_TYPE_LATEST)


ROUTES = [
    Route("/v2/repository/index", index, methods=["POST"]),
    Route("/v2/repository/models/{model}/load", load, methods=["POST"]),
    Route("/v2/repository/models/{model}/unload", unload, methods=["POST"]),
    Route("/metrics", metrics),
]
