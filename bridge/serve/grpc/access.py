"""Gives each call an id, which its response and its log lines have, and logs a line when it has ended."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections.abc import Iterator
from typing import Any

import grpc

from bridge.serve.request_id import HEADER, identified, request_id

logger = logging.getLogger(__name__)

# Failures of the service: always logged, like HTTP's 5xx.
SEVERE = {grpc.StatusCode.INTERNAL, grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.DEADLINE_EXCEEDED}


@contextlib.contextmanager
def noted(path: str, context: Any, *, every: bool) -> Iterator[None]:
    """Give a call an id, and log how it ended.

    Parameters
    ----------
    path : str
        "/SERVICE/METHOD".
    context : grpc.aio.ServicerContext
        The call's context.
    every : bool
        Whether successful calls are logged too.
    """
    identity = identified(said(context.invocation_metadata()))
    request_id.set(identity)
    context.set_trailing_metadata(((HEADER, identity),))
    began = time.monotonic()
    status = grpc.StatusCode.OK
    try:
        yield
    except asyncio.CancelledError:
        status = grpc.StatusCode.CANCELLED
        raise
    except BaseException:
        code = context.code()  # None if no status was set
        status = code if isinstance(code, grpc.StatusCode) else grpc.StatusCode.UNKNOWN
        raise
    finally:
        if every or status in SEVERE:
            told = {
                "path": path,
                "status": status.name,
                "milliseconds": round((time.monotonic() - began) * 1e3, 3),
            }
            level = logging.WARNING if status in SEVERE else logging.INFO
            logger.log(level, "%(path)s %(status)s in %(milliseconds)g ms", told, extra={"told": told})


def said(metadata: Any) -> bytes | None:
    """Return the id that a client has given its call, or None."""
    for key, value in metadata or ():
        if key == HEADER:
            return value.encode(errors="replace") if isinstance(value, str) else bytes(value)
    return None
