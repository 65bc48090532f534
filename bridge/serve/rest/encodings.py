"""Decompressing bodies step by step, because a few compressed bytes may become very many."""

from __future__ import annotations

import asyncio
import zlib
from collections.abc import Callable

from bridge.serve.engine.refused import Reason, Refused

READ = ("gzip", "deflate")
STEP = 1 << 18  # bytes that a step makes; other requests run between two steps
EITHER = 32 + zlib.MAX_WBITS  # gzip's or zlib's form, by the first bytes: some clients confuse the two


def encoding(told: bytes) -> str | None:
    """Return the encoding that a "Content-Encoding" header names; None for a body that is not compressed.

    Raises
    ------
    Refused
        The encoding is not supported.
    """
    name = told.decode("latin-1").strip().lower()
    if name in {"", "identity"}:
        return None
    if name not in READ:
        raise Refused(
            Reason.UNSUPPORTED, f"content-encoding {name!r} is not read; there is {', '.join(READ)}"
        )
    return name


async def inflated(name: str, content: bytes, took: Callable[[int], None]) -> bytes:
    """Return the decompressed content.

    `took` is called with the number of bytes that each step has made, and raises if they are too many.

    Raises
    ------
    Refused
        The content does not have this encoding, is cut off, or is followed by other bytes; or `took` has raised.
    """
    made = zlib.decompressobj(EITHER)
    parts: list[bytes] = []
    left = content
    while not made.eof:
        try:
            part = made.decompress(left, STEP)
        except zlib.error as error:
            raise Refused(Reason.INVALID, f"the body is not {name}: {error}") from None
        left = made.unconsumed_tail
        if not part and not left and not made.eof:
            raise Refused(
                Reason.INVALID, f"the body of {len(content)} bytes ends in the middle of its {name}"
            )
        took(len(part))
        parts.append(part)
        await asyncio.sleep(0)
    if made.unused_data:
        raise Refused(
            Reason.INVALID, f"the body goes on for {len(made.unused_data)} bytes behind the end of its {name}"
        )
    return b"".join(parts)
