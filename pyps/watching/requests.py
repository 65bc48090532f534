"""One HTTP request to a node's endpoint and its answer, without sockets."""

from __future__ import annotations

import json
from collections.abc import Callable
from http import HTTPStatus

from pyps.errors import ClosedError
from pyps.watching.prometheus import CONTENT_TYPE, expose
from pyps.watching.reading import Reading

TEXT = "text/plain; charset=utf-8"
WELCOME = "/metrics for Prometheus\n/stats the same and more, as JSON\n"


def answer(head: bytes, read: Callable[[], Reading]) -> bytes:
    """Return the whole answer to a request.

    Parameters
    ----------
    head : bytes
        What came, up to the first empty line; a body is not looked at.
    read : callable
        Reads the node.
    """
    words = head.split(b"\r\n", 1)[0].split(b" ")
    if len(words) != 3 or not words[2].startswith(b"HTTP/1."):
        return encode(HTTPStatus.BAD_REQUEST)
    method, path = words[0], words[1].split(b"?", 1)[0]
    if method not in (b"GET", b"HEAD"):
        return encode(HTTPStatus.METHOD_NOT_ALLOWED, headers="Allow: GET, HEAD\r\n")
    try:
        if path == b"/metrics":
            found = encode(HTTPStatus.OK, expose(read()), CONTENT_TYPE)
        elif path == b"/stats":
            found = encode(HTTPStatus.OK, json.dumps(read().as_json()) + "\n", "application/json")
        else:
            found = encode(HTTPStatus.OK, WELCOME) if path == b"/" else encode(HTTPStatus.NOT_FOUND)
    except ClosedError as error:
        found = encode(HTTPStatus.SERVICE_UNAVAILABLE, f"{error}\n")
    return found if method == b"GET" else found.split(b"\r\n\r\n", 1)[0] + b"\r\n\r\n"


def encode(status: HTTPStatus, body: str | None = None, kind: str = TEXT, *, headers: str = "") -> bytes:
    """Return an answer, by default with the status as its text; the connection is for this one only."""
    content = (f"{status.phrase}\n" if body is None else body).encode()
    head = f"HTTP/1.1 {status.value} {status.phrase}\r\nContent-Type: {kind}\r\nContent-Length: {len(content)}\r\n"
    return f"{head}{headers}Connection: close\r\n\r\n".encode() + content
