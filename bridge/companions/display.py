"""Access to a display server for the Lua package display: data URLs and HTTP posts."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from torch import Tensor

TIMEOUT = 10.0  # seconds that a server may take to answer


def source(content: Tensor, kind: str = "image/jpg") -> str:
    """Return bytes (a uint8 tensor) as a data URL of a media type."""
    return f"data:{kind};base64,{base64.b64encode(content.numpy().tobytes()).decode('ascii')}"


def post(url: str, command: str | bytes) -> str | None:
    """Post a command to a server. Returns None, or the error."""
    from urllib.request import Request, urlopen

    body = command.encode() if isinstance(command, str) else command
    try:
        if not url.startswith(("http://", "https://")):
            return "only http:// and https:// are servers' addresses"
        request = Request(url, data=body, headers={"Content-Type": "application/text"}, method="POST")
        with urlopen(request, timeout=TIMEOUT) as answer:
            answer.read()
    except (OSError, ValueError) as error:
        return str(error)
    return None
