"""The id of the current request, which its log lines and its response have. The same for HTTP and gRPC."""

from __future__ import annotations

import itertools
import os
from contextvars import ContextVar

HEADER = "x-request-id"  # HTTP header, and key in gRPC's metadata
LONGEST = 128
PREFIX, NUMBERS = os.urandom(4).hex(), itertools.count()

request_id: ContextVar[str] = ContextVar("request_id", default="")


def identified(given: bytes | None) -> str:
    """Return a request's id: the one that the client gave if it is short printable ASCII, else a new one."""
    if given is not None and len(given) <= LONGEST and given.isascii() and given.decode().isprintable():
        return given.decode()
    return f"{PREFIX}{next(NUMBERS):08x}"
