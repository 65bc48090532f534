"""A network between nodes that is slower than the real one, and differently so for each connection.

    python proxy.py SEED MOST_MS HOST:PORT ...

listens at a port of its own for each address, prints the ports as JSON and passes on what comes, each piece after a
delay that is drawn: up to MOST_MS milliseconds, ten times as long now and then. Within a connection the order stays;
between connections anything may overtake. Ends with its standard input.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import sys
from collections.abc import Awaitable, Callable

PIECE = 1 << 16
RARE = 0.03

Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]


async def carry(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, delay: Callable[[], float]
) -> None:
    """Pass on one direction of a connection. A piece does not wait for the delays of those before it to begin."""
    pieces: asyncio.Queue[tuple[float, bytes]] = asyncio.Queue()
    now = asyncio.get_running_loop().time

    async def deliver() -> None:
        while True:
            due, piece = await pieces.get()
            await asyncio.sleep(due - now())
            if not piece:
                return
            writer.write(piece)
            await writer.drain()

    delivery = asyncio.create_task(deliver())
    try:
        piece = b"-"
        while piece:
            piece = await reader.read(PIECE)
            pieces.put_nowait((now() + delay(), piece))
        await delivery
    except OSError:  # either side has gone: so does the other
        delivery.cancel()
    finally:
        writer.close()


def server_for(host: str, port: int, delay: Callable[[], float]) -> Callable[..., Awaitable[None]]:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            there_reader, there_writer = await asyncio.open_connection(host, port)
        except OSError:
            writer.close()
            return
        await asyncio.gather(carry(reader, there_writer, delay), carry(there_reader, writer, delay))

    return serve


async def main(seed: str, most: str, *addresses: str) -> None:
    draw = random.Random(int(seed))
    seconds = float(most) / 1000

    def delay() -> float:
        return draw.random() * seconds * (10 if draw.random() < RARE else 1)

    ports = []
    for address in addresses:
        host, _, port = address.rpartition(":")
        server = await asyncio.start_server(server_for(host, int(port), delay), "127.0.0.1", 0)
        ports.append(server.sockets[0].getsockname()[1])
    print(json.dumps(ports), flush=True)
    await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)
    os._exit(0)  # with all connections as they are


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
