"""A model's process for asyncio: one call at a time, without a thread."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from typing import Any

from bridge.serve.process.channel import AsyncChannel, Closed, encoded
from bridge.serve.process.faults import raised
from bridge.serve.process.running import CallTimeout, Description, ProcessLost, Running, Wanted, checked


class Member:
    """A model's process. Only one caller at a time may use it.

    Parameters
    ----------
    wanted : Wanted
        What the process loads.
    start_timeout : float
        Most seconds for loading.
    """

    def __init__(self, wanted: Wanted, *, start_timeout: float = 60.0) -> None:
        self._wanted = wanted
        self._start_timeout = start_timeout
        self._running: Running | None = None
        self._channel: AsyncChannel | None = None
        self._last = 0.0  # seconds that the last call took

    @property
    def pid(self) -> int | None:
        """The process's id; None while there is no process."""
        return self._running.process.pid if self._running else None

    @property
    def alive(self) -> bool:
        """Whether the process runs."""
        return self._running is not None and self._running.process.poll() is None

    async def start(self, file: str | None = None) -> Description:
        """Start the process and load the model, from `file` if it is given, else from the wanted file.

        Raises
        ------
        LuaError, T7Error, FileNotFoundError, ValueError, ...
            The model cannot be loaded.
        CallTimeout, ProcessLost
            Loading took too long, or ended the process.
        """
        self.end()
        running = Running()  # takes a millisecond or two; in a thread it could not be cancelled
        running.socket.setblocking(False)
        self._running, self._channel = running, AsyncChannel(running.socket)
        wanted = self._wanted if file is None else replace(self._wanted, file=file)
        late = f"the model was not loaded within {self._start_timeout:g} s"
        try:
            return Description.told(await self._asked(encoded(asdict(wanted)), self._start_timeout, late))
        except BaseException:
            self.end()
            raise

    async def call(
        self, function: str | None, arguments: Sequence[Any], timeout: float, *, alone: bool = False
    ) -> Any:
        """Call a function of the model, by default its default function; see `ModelProcess.call`.

        `alone`: nothing else is computing, so a quick answer may be waited for without sleeping.
        """
        running = self._running
        if running is None:
            raise ProcessLost("the model's process is not running")
        message = encoded(running.question(function, arguments))  # an error here leaves the process usable
        # the time of the last call includes waking up, unless it was waited for without sleeping
        watch = self._wanted.watch if alone and self._last < 2 * self._wanted.watch else 0.0
        began = time.perf_counter()
        result = await self._asked(message, timeout, f"no answer within {timeout:g} s", watch)
        self._last = time.perf_counter() - began
        with self._ended_on_failure():
            return running.value(result)

    def end(self) -> None:
        """End the process at once."""
        running, channel = self._running, self._channel
        self._running = self._channel = None
        if channel is not None:
            channel.close()
        if running is not None:
            running.end()

    async def _asked(self, message: bytes, timeout: float, late: str, watch: float = 0.0) -> Any:
        running, channel = self._running, self._channel
        assert running is not None
        assert channel is not None
        with self._ended_on_failure():
            try:
                async with asyncio.timeout(timeout):
                    await channel.send(message)
                    answer = checked(await channel.receive(watch=watch))
            except TimeoutError:
                raise CallTimeout(late) from None
            except Closed:
                reason = await asyncio.to_thread(running.reason)
                raise ProcessLost(f"the model's process ended: {reason}") from None
            except ValueError as error:
                raise ProcessLost(f"the model's process sent what is no message: {error}") from None
        if "error" in answer:
            raise raised(answer["error"])
        return answer["result"]

    @contextlib.contextmanager
    def _ended_on_failure(self) -> Iterator[None]:
        """End the process if an error leaves the two sides in different places of their conversation."""
        try:
            yield
        except BaseException:
            self.end()
            raise
