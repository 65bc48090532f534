"""TCP connections between nodes that a test can hold up and reset, whichever of them it means."""

from __future__ import annotations

import asyncio
import socket
import struct
import threading
import time
from collections.abc import Coroutine, Sequence
from contextlib import suppress
from types import TracebackType
from typing import Any, Self

PIECE = 1 << 16
TIMEOUT = 20.0
NAME = b"\x08Identity\x00\x00\x00"  # of a peer, in ZMTP's READY; its length and itself follow
DATA = "NW"  # connections of servers and of workers; V: of vigils
RESET = struct.pack("ii", 1, 0)  # SO_LINGER: what is under way is thrown away


class Connection:
    """One that goes through here: between a socket of a node or worker and another node's endpoint."""

    def __init__(self, held: set[str], *ends: tuple[asyncio.StreamReader, asyncio.StreamWriter]) -> None:
        self.held = held  # letters of connections that let nothing through
        self.ends = ends
        self.known: dict[int, str] = {}  # letter that an end's name begins with, when it has said it
        self.waiting = 0  # pieces that are held up
        self.flows = asyncio.Event()
        self.look()

    @property
    def letter(self) -> str:
        """Of the end that connected, when both have introduced themselves."""
        return self.known[0] if len(self.known) == 2 else ""

    def look(self) -> None:
        """See whether it is held up."""
        if self.letter in self.held:
            self.flows.clear()
        else:
            self.flows.set()

    async def carry(self, source: int) -> None:
        reader, writer = self.ends[source][0], self.ends[1 - source][1]
        try:
            while piece := await reader.read(PIECE):
                self.waiting += 1
                await self.flows.wait()
                self.waiting -= 1
                if source not in self.known and NAME in piece:
                    name = piece[piece.index(NAME) + len(NAME) + 1 :]
                    self.known[source] = name[:1].decode(errors="replace")
                    self.look()
                writer.write(piece)
                await writer.drain()
        except OSError:  # either side has gone: so does the other
            return
        finally:
            writer.close()

    async def close(self) -> None:
        for _, writer in self.ends:
            writer.close()
        for _, writer in self.ends:
            with suppress(OSError):  # it was reset
                await writer.wait_closed()

    def reset(self) -> None:
        for _, writer in self.ends:
            with suppress(OSError):  # it is closed already
                writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
            writer.transport.abort()
        self.flows.set()  # so that it ends


class Wires:
    """What every node and its workers reach every other node through, and themselves; a context manager."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever)
        self._connections: dict[tuple[int, int], list[Connection]] = {}
        self._held: dict[tuple[int, int], set[str]] = {}
        self._servers: list[asyncio.Server] = []

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            self._do(self._end())
        finally:
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join()
            self._loop.close()

    def _do(self, work: Coroutine[Any, Any, Any]) -> Any:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(TIMEOUT)

    def between(self, endpoints: Sequence[str]) -> list[list[str]]:
        """Return for each node the endpoints at which it reaches all."""
        count = range(len(endpoints))
        return [[self._do(self._listen(a, b, endpoints[b])) for b in count] for a in count]

    def hold(self, a: int, b: int, letters: str = DATA) -> None:
        """Let nothing through any more over what node `a` (N), its workers (W) or its vigil (V) have to node `b`."""
        self._do(self._hold(a, b, letters))

    async def _hold(self, a: int, b: int, letters: str) -> None:
        self._held[a, b].update(letters)
        for connection in self._connections[a, b]:
            connection.look()

    def wait_until_held(self, a: int, b: int) -> None:
        """Wait until something is held up between these two."""
        end = time.monotonic() + TIMEOUT
        while not any(one.waiting for one in list(self._connections[a, b])):
            assert time.monotonic() < end
            time.sleep(0.01)

    def reset(self, a: int, b: int, letters: str = DATA) -> None:
        """Break these connections; what was held up is lost. New ones can be made at once."""
        self._do(self._reset(a, b, letters))

    async def _reset(self, a: int, b: int, letters: str) -> None:
        found = [one for one in self._connections[a, b] if one.letter and one.letter in letters]
        assert found, f"node {a} has no such connection to {b}"
        self._held[a, b].difference_update(letters)
        for connection in found:
            connection.reset()

    async def _listen(self, a: int, b: int, endpoint: str) -> str:
        host, _, port = endpoint.removeprefix("tcp://").rpartition(":")
        open_ones: list[Connection] = []
        held: set[str] = set()
        self._connections[a, b], self._held[a, b] = open_ones, held

        async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            try:
                there = await asyncio.open_connection(host, int(port))
            except OSError:
                writer.close()
                return
            connection = Connection(held, (reader, writer), there)
            open_ones.append(connection)
            try:
                await asyncio.gather(connection.carry(0), connection.carry(1))
            finally:
                open_ones.remove(connection)
                await connection.close()

        server = await asyncio.start_server(serve, "127.0.0.1", 0)
        self._servers.append(server)
        return f"tcp://127.0.0.1:{server.sockets[0].getsockname()[1]}"

    async def _end(self) -> None:
        for (
            server
        ) in self._servers:  # they take nothing more; closed, they would forget what they are just taking
            for listening in server.sockets:
                self._loop.remove_reader(listening.fileno())
        own = {asyncio.current_task()}
        while others := asyncio.all_tasks() - own:  # among them connections that were just accepted
            for open_ones in self._connections.values():
                for connection in open_ones:
                    connection.reset()
            await asyncio.wait(others, timeout=0.05)
        for server in self._servers:
            server.close()
