"""One version of a model: its queue, and the processes that compute its requests.

All of this runs in one event loop. A process gets the next batch as soon as it is free; one that ends is replaced.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bridge.serve.engine.config import config
from bridge.serve.engine.joining import join, joined_key, split
from bridge.serve.engine.kept import Kept
from bridge.serve.engine.queue import Queue, Request
from bridge.serve.engine.refused import Reason, Refused, refusal
from bridge.serve.engine.settings import ModelSettings
from bridge.serve.engine.statistics import Statistics
from bridge.serve.process import CallTimeout, Description, Member, ProcessLost, Wanted

logger = logging.getLogger(__name__)

BATCH = 32  # rows of a batch, for networks
FIRST_PAUSE, LONGEST_PAUSE = 0.1, 5.0  # seconds between attempts to replace a process


class Served:
    """A version of a model that is served.

    Parameters
    ----------
    name, version : str
        Its names in requests.
    file : path
        The file that the processes load.
    settings : ModelSettings
        How it is served.
    """

    def __init__(self, name: str, version: str, file: Path, settings: ModelSettings) -> None:
        self.name, self.version, self.file, self.settings = name, version, file, settings
        self.statistics = Statistics()
        self.description = Description("", {})
        wanted = Wanted(
            str(file),
            settings.function,
            settings.key,
            settings.network,
            settings.device,
            settings.memory,
            settings.allow_functions,
            settings.threads,
            settings.watch,
        )
        self._members = [
            Member(wanted, start_timeout=settings.start_timeout) for _ in range(settings.workers)
        ]
        self._free: list[Member] = []
        self._queue = Queue(1, 0.0)
        self._rows = 1
        self._dimensions: list[int] | None = None  # number of dimensions of each input, if known
        self._requests: set[Request] = set()  # requests that are not answered yet
        self._tasks: set[asyncio.Task[None]] = set()
        self._timer: asyncio.TimerHandle | None = None
        self._broken: Exception | None = None  # error of the last attempt to replace a process
        self._leaving = False
        self._kept: Kept | None = None  # the loaded file, for processes that replace others

    def __str__(self) -> str:
        return f"{self.name} version {self.version}"

    @property
    def waiting(self) -> int:
        """The number of requests in the queue."""
        return len(self._queue)

    @property
    def config(self) -> dict[str, Any]:
        """Its configuration, in Triton's form."""
        return config(self.name, self.file, self.description, self.settings, self._rows)

    @property
    def pids(self) -> list[int]:
        """The ids of the running processes."""
        return [member.pid for member in self._members if member.pid is not None]

    async def start(self) -> None:
        """Start all processes at the same time.

        Raises
        ------
        Exception
            The error if the model cannot be loaded; then no process is left.
        """
        with contextlib.suppress(OSError):  # the processes report the error better
            self._kept = Kept(self.file)
        found = await asyncio.gather(*(member.start() for member in self._members), return_exceptions=True)
        failures = [one for one in found if isinstance(one, BaseException)]
        if failures:
            self._end()
            raise failures[0]
        if self._leaving:
            self._end()
            raise Refused(Reason.LOST, f"{self} is no longer served")
        first = found[0]
        assert isinstance(first, Description)
        self.description = first
        shapes = [spec.shape for spec in first.inputs or ()]
        known = [shape for shape in shapes if shape is not None]
        self._dimensions = [len(shape) for shape in known] if known and len(known) == len(shapes) else None
        by_row = first.by_row and self._dimensions is not None and all(s and s[0] is None for s in known)
        self._rows = self.settings.batch or (BATCH if by_row else 1)
        self._queue = Queue(self._rows, self.settings.batch_wait)
        self._free = list(self._members)

    async def submit(
        self, function: str | None, arguments: Sequence[Any], timeout: float | None = None
    ) -> Any:
        """Call a function of the model, by default its default function, when a process is free.

        `timeout`: seconds to wait, if less than the settings' timeout. A process that has begun may continue until the
        latter.

        Raises
        ------
        Refused
            There is no answer, for the reason given.
        """
        self._admit()
        loop = asyncio.get_running_loop()
        key, rows = (None, 1)
        if self._rows > 1:
            key, rows = joined_key(function, arguments, self._dimensions)
        request = Request(function, arguments, key, rows, time.monotonic(), loop.create_future())
        self._requests.add(request)
        self._queue.add(request)
        self._dispatch()
        limit = self.settings.timeout if timeout is None else min(timeout, self.settings.timeout)
        late = loop.call_later(limit, fail, request, Refused(Reason.LATE, f"no answer within {limit:g} s"))
        try:
            result = await request.answer
        except Refused as error:
            self.statistics.failed[error.reason] += 1
            raise
        finally:
            late.cancel()
            self._requests.discard(request)
            self._queue.discard(request)
        self.statistics.answered(rows, request.arrived, request.began, time.monotonic())
        return result

    async def leave(self) -> None:
        """Take no more requests, answer those that wait, and end the processes."""
        self._leaving = True
        try:
            self._dispatch()
            while self._tasks:
                await asyncio.wait(self._tasks)
        finally:
            self.end()

    def end(self) -> None:
        """End the processes at once; waiting requests are refused."""
        self._leaving = True
        for task in self._tasks:
            task.cancel()
        self._end()

    def revive(self) -> None:
        """Replace processes that have ended while they were idle."""
        for member in [member for member in self._free if not member.alive]:
            self._free.remove(member)
            self._spawn(self._replace(member))

    def _end(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        for member in self._members:
            member.end()
        self._free.clear()
        for request in self._requests:
            fail(request, self._gone())
        self._requests.clear()
        if self._kept is not None:
            self._kept.close()

    def _gone(self) -> Refused:
        return Refused(Reason.LOST, f"{self} is no longer served")

    def _admit(self) -> None:
        """Raise Refused for a request that could not be answered in time."""
        if self._leaving:
            raise self._gone()
        if self._broken is not None and not self.pids:
            self.statistics.failed[Reason.LOST] += 1
            raise Refused(Reason.LOST, f"no process of {self} runs: {self._broken}")
        if len(self._queue) >= self.settings.queue:
            self.statistics.failed[Reason.BUSY] += 1
            raise Refused(
                Reason.BUSY, f"{len(self._queue)} requests wait for {self} already: try again later"
            )

    def _dispatch(self) -> None:
        """Give waiting requests to free processes. Called again at the time when requests that wait longer are due."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        while self._free and len(self._queue):
            now = float("inf") if self._leaving else time.monotonic()
            batch = self._queue.take(now)
            if not batch:
                due = self._queue.due()
                assert due is not None
                loop = asyncio.get_running_loop()
                self._timer = loop.call_later(max(due - now, 0.0), self._dispatch)
                return
            self._spawn(self._work(self._free.pop(), batch))

    def _spawn(self, work: Any) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _work(self, member: Member, batch: list[Request]) -> None:
        """Let a process answer a batch, then take the next one."""
        try:
            if not member.alive:  # it has ended while it was idle
                await self._restart(member)
            await self._answer(member, [one for one in batch if not one.answer.done()])
        except asyncio.CancelledError:
            for request in batch:
                fail(request, self._gone())
            raise
        except Exception as error:
            logger.exception("%s: a defect of the service", self)
            for request in batch:
                fail(request, Refused(Reason.INTERNAL, f"{type(error).__name__}: {error}"))
        finally:
            if not self._leaving or len(self._queue):
                if member.alive:
                    self._free.append(member)
                    self._dispatch()
                else:
                    self._spawn(self._replace(member))

    async def _answer(self, member: Member, batch: list[Request]) -> None:
        """Answer a batch. If that fails, compute each request alone, so that a bad one does not fail the others."""
        if not batch:
            return
        began = time.monotonic()
        for request in batch:
            request.began = began
        self.statistics.called(len(batch))
        try:
            arguments = join([one.arguments for one in batch])
            alone = len(batch) == 1 and len(self._tasks) == 1 and not self._queue
            result = await member.call(batch[0].function, arguments, self.settings.timeout, alone=alone)
            parts = [result] if len(batch) == 1 else split(result, [one.rows for one in batch])
            if parts is None:
                logger.warning(
                    "%s: its results have other rows than its inputs: nothing is joined any more", self
                )
                self._rows = 1
        except Exception as error:
            if isinstance(error, ProcessLost | CallTimeout):
                logger.warning("%s: %s", self, error)
            if len(batch) == 1:
                fail(batch[0], refusal(error))
                return
            parts = None
        if parts is None:
            for request in batch:
                if not member.alive:
                    await self._restart(member)
                if not request.answer.done():
                    await self._answer(member, [request])
            return
        for request, part in zip(batch, parts, strict=True):
            if not request.answer.done():
                request.answer.set_result(part)

    async def _restart(self, member: Member) -> None:
        """Start a process again, with as many attempts as necessary; requests wait for it until their timeout.

        When this version is being ended, there is only one attempt.
        """
        pause = FIRST_PAUSE
        while not self._leaving or self._requests:
            self.statistics.restarts += 1
            try:
                await member.start(None if self._kept is None else str(self._kept.path()))
            except Exception as error:
                self._broken = error
                if self._leaving:
                    logger.error("%s: a process could not be replaced: %s", self, error)
                    return
                logger.error(
                    "%s: a process could not be replaced, next attempt in %g s: %s", self, pause, error
                )
                await asyncio.sleep(pause)
                pause = min(2 * pause, LONGEST_PAUSE)
            else:
                self._broken = None
                return

    async def _replace(self, member: Member) -> None:
        await self._restart(member)
        if member.alive:
            self._free.append(member)
            self._dispatch()


def fail(request: Request, error: Refused) -> None:
    """Answer a request with an error, unless it has been answered."""
    if not request.answer.done():
        request.answer.set_exception(error)
