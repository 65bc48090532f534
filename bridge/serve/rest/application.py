"""The web application of a service, to be run alone or mounted in another application."""

from __future__ import annotations

import logging
from collections.abc import Collection
from importlib.metadata import version

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.types import ASGIApp

from bridge.serve.engine import Refused, Service
from bridge.serve.rest import calls, inference, repository
from bridge.serve.rest.bodies import Intake, answer
from bridge.serve.rest.direct import Direct, refusal_headers
from bridge.serve.rest.guard import Guard
from bridge.serve.rest.page import ROUTES as PAGE

logger = logging.getLogger(__name__)

BODY_LIMIT = 64 << 20  # bytes


def application(
    service: Service,
    *,
    token: str | None = None,
    body_limit: int = BODY_LIMIT,
    hosts: Collection[str] | None = None,
    access: bool = False,
) -> ASGIApp:
    """Return the application.

    Parameters
    ----------
    service : Service
        The service; the caller starts and stops it.
    token : str, optional
        The token that clients must send: `Authorization: Bearer TOKEN`.
    body_limit : int
        Most bytes of a request's body; all running requests together may have 16 times as many.
    hosts : collection of str, optional
        Names of this server; requests with another name are refused. None: any name.
    access : bool
        Whether each request is logged.

    Examples
    --------
    In a FastAPI application:

    >>> import contextlib
    >>> from fastapi import FastAPI
    >>> service = Service(["model.t7"])
    >>> @contextlib.asynccontextmanager
    ... async def lifespan(app):
    ...     async with service:
    ...         yield
    >>> app = FastAPI(lifespan=lifespan)
    >>> app.mount("/models", application(service))
    """
    intake = Intake(body_limit)
    app = Starlette(
        routes=[*inference.ROUTES, *calls.ROUTES, *repository.ROUTES, *PAGE],
        exception_handlers={
            Refused: refused,
            HTTPException: not_found,
            ClientDisconnect: vanished,
            Exception: defect,
        },
    )
    app.router.redirect_slashes = False
    app.state.service = service
    app.state.intake = intake
    app.state.version = version("moontide")
    inner = Direct(app, service=service, intake=intake)
    return Guard(inner, intake=intake, token=token, hosts=hosts, access=access)


async def refused(_: Request, error: Exception) -> Response:
    """Answer a request that was refused."""
    assert isinstance(error, Refused)
    response = answer({"error": str(error)}, error.reason.value)
    response.raw_headers += refusal_headers(error)
    return response


async def not_found(request: Request, error: Exception) -> Response:
    """Answer a request for a path or method that does not exist."""
    assert isinstance(error, HTTPException)
    response = answer(
        {"error": f"{request.method} {request.url.path}: {error.detail}; / and /docs tell what there is"},
        error.status_code,
    )
    response.headers.update(error.headers or {})
    return response


async def vanished(_: Request, __: Exception) -> Response:
    """End a request whose client has closed the connection before the request was complete."""
    return answer({"error": "the client went before its request was complete"}, 400)


async def defect(request: Request, error: Exception) -> Response:
    """Answer a request that met a defect of this package."""
    logger.error("%s %s: a defect of the service", request.method, request.url.path, exc_info=error)
    return answer({"error": f"a defect of the service: {type(error).__name__}: {error}"}, 500)
