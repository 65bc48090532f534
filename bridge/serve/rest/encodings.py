"""Bodies that clients compress, made as they were before, a step at a time: a few bytes may stand for very many."""

from __future__ import annotations

import asyncio
import zlib
from collections.abc import Callable

from bridge.serve.engine.refused import Reason, Refused

READ = ("gzip", "deflate")
STEP = 1 << 18  # bytes that are made at a time; other requests have their turn between two steps
EITHER = (
    32 + zlib.MAX_WBITS
)  # gzip's form or zlib's, as the first bytes tell: clients take the one for the other


def encoding(told: bytes) -> str | None:
    """Return the encoding that a "Content-Encoding" header names; None where the body is as it is.

    Raises
    ------
    Refused
        It is none that is read.
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
    """Return what was compressed.

    `took` is told how many bytes each step has made, and raises where they are too many.

    Raises
    ------
    Refused
        The content is not what its header says, ends in the middle, or goes on behind its end; and what `took` raises.
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
