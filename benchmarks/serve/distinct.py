"""Whether each of many requests that are at work at once gets its own answer."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import numpy as np
from numpy.typing import NDArray

import bridge
from benchmarks.serve.load import oip_json

CLIENTS = 64


def wrong_answers(url: str, model: Path, count: int) -> int:
    """Ask so many times, each time something else, and return how many answers are wrong."""
    x = np.random.default_rng(3).random((count, 64), np.float32)
    with bridge.Lua() as lua:
        lua.require("nn")
        net = lua.execute("local net = torch.load(...) net:evaluate() return net", str(model))
        expected = np.concatenate([net.forward(part, copy=True) for part in np.array_split(x, 100)])
    got = asyncio.run(asked(url, x))
    return int((~np.isclose(got, expected, atol=1e-5).all(1)).sum())


async def asked(url: str, x: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return the answer to each row, asked for from many connections at once."""
    got = np.full((len(x), 10), np.nan, np.float32)
    rows = iter(range(len(x)))
    parts = urlsplit(url)

    async def client() -> None:
        reader, writer = await asyncio.open_connection(parts.hostname, parts.port)
        for row in rows:
            got[row] = await answered(reader, writer, oip_json(x[row : row + 1]))
        writer.close()
        await writer.wait_closed()

    await asyncio.gather(*(client() for _ in range(CLIENTS)))
    return got


async def answered(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, body: bytes) -> Any:
    """Return the output that a request's answer has."""
    head = f"POST /v2/models/digits/infer HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: {len(body)}\r\n\r\n"
    writer.write(head.encode() + body)
    lines = (await reader.readuntil(b"\r\n\r\n")).lower().split(b"\r\n")
    length = next(int(line.partition(b":")[2]) for line in lines if line.startswith(b"content-length:"))
    return json.loads(await reader.readexactly(length))["outputs"][0]["data"]
