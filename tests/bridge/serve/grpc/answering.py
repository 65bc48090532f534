"""A gRPC server in a thread of its own, for clients of the tests that block."""

from __future__ import annotations

import asyncio
import contextlib
import threading
import time
from collections.abc import Callable, Coroutine, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import uvloop

from bridge.serve.engine import ModelSettings, Service
from bridge.serve.grpc import start

PATIENCE = 60.0  # seconds that any step may take


@dataclass
class Answering:
    """A server: where it is, and how to look into it."""

    address: str
    service: Service
    loop: asyncio.AbstractEventLoop

    def run(self, work: Coroutine[Any, Any, Any]) -> Any:
        """Run something in the server's loop."""
        return asyncio.run_coroutine_threadsafe(work, self.loop).result(PATIENCE)

    def look(self, at: Callable[[], Any]) -> Any:
        """Call something in the server's loop."""

        async def looked() -> Any:
            return at()

        return self.run(looked())

    def pids(self) -> set[int]:
        """Return the models' processes."""
        return {pid for one in self.service.repository for pid in one.pids}


@contextlib.contextmanager
def answering(*paths: Path, settings: ModelSettings | None = None, **options: Any) -> Iterator[Answering]:
    """Serve models on a free port of the loopback."""
    started = threading.Event()
    found: list[Answering] = []
    failures: list[BaseException] = []

    async def main() -> None:
        async with Service(paths, settings or ModelSettings(batch_wait=0.0), watch=0) as service:
            server, port = await start(service, port=0, **options)
            ended = asyncio.Event()
            try:
                found.append(Answering(f"127.0.0.1:{port}", service, asyncio.get_running_loop()))
                ends.append(ended)
                started.set()
                await ended.wait()
            finally:
                await server.stop(1.0)

    def run() -> None:
        try:
            uvloop.run(main())
        except BaseException as error:
            failures.append(error)
        finally:
            started.set()

    ends: list[asyncio.Event] = []
    thread = threading.Thread(target=run, name="gRPC server of a test")
    thread.start()
    assert started.wait(PATIENCE)
    try:
        if found:
            yield found[0]
    finally:
        if found:
            found[0].loop.call_soon_threadsafe(ends[0].set)
        thread.join(PATIENCE)
    if failures:
        raise failures[0]


async def until(true: Callable[[], bool]) -> None:
    """Wait until something is so."""
    deadline = time.monotonic() + PATIENCE
    while not true():
        assert time.monotonic() < deadline
        await asyncio.sleep(0.01)
