"""The id of the request at work, on every wire: in all its lines of the log, and in its answer."""

from __future__ import annotations

import itertools
import os
from contextvars import ContextVar

HEADER = "x-request-id"  # of HTTP, and in gRPC's metadata
LONGEST = 128
PREFIX, NUMBERS = os.urandom(4).hex(), itertools.count()

request_id: ContextVar[str] = ContextVar("request_id", default="")


def identified(given: bytes | None) -> str:
    """Return a request's id: the client's, if it is a short word, else a new one."""
    if given is not None and len(given) <= LONGEST and given.isascii() and given.decode().isprintable():
        return given.decode()
    return f"{PREFIX}{next(NUMBERS):08x}"
