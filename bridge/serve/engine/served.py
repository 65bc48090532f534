"""One version of a model: its queue, and processes that take from it.

All of it runs in one event loop. A process takes the next batch as soon as it is free; one that ends is replaced.
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

BATCH = 32  # rows, of networks
FIRST_PAUSE, LONGEST_PAUSE = 0.1, 5.0  # seconds between attempts to replace a process


class Served:
    """A model's version that is served.

    Parameters
    ----------
    name, version : str
        As requests name them.
    file : path
        What the processes load.
    settings : ModelSettings
        How.
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
        self._dimensions: list[int] | None = None  # of each input, where they are known
        self._requests: set[Request] = set()  # not answered yet
        self._tasks: set[asyncio.Task[None]] = set()
        self._timer: asyncio.TimerHandle | None = None
        self._broken: Exception | None = None  # why the last attempt to replace a process failed
        self._leaving = False
        self._kept: Kept | None = None  # what was loaded, for processes that have to load it again

    def __str__(self) -> str:
        return f"{self.name} version {self.version}"

    @property
    def waiting(self) -> int:
        """Requests in the queue."""
        return len(self._queue)

    @property
    def config(self) -> dict[str, Any]:
        """How it is served, in Triton's words."""
        return config(self.name, self.file, self.description, self.settings, self._rows)

    @property
    def pids(self) -> list[int]:
        """The living processes."""
        return [member.pid for member in self._members if member.pid is not None]

    async def start(self) -> None:
        """Start all processes, side by side.

        Raises
        ------
        Exception
            What kept the model from being loaded; no process is left.
        """
        with contextlib.suppress(OSError):  # the processes tell better what is wrong with it
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
        """Call a function of the model, or the one that is meant, when a process is free.

        `timeout` makes the settings' one shorter, in seconds; a process that has begun may go on until that ends.

        Raises
        ------
        Refused
            There is no answer; with the reason.
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
        """Answer what waits, take nothing more, and end the processes."""
        self._leaving = True
        try:
            self._dispatch()
            while self._tasks:
                await asyncio.wait(self._tasks)
        finally:
            self.end()

    def end(self) -> None:
        """End the processes now; what waits is refused."""
        self._leaving = True
        for task in self._tasks:
            task.cancel()
        self._end()

    def revive(self) -> None:
        """Replace processes that ended while they had nothing to do."""
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
        """Refuse what could not be answered in time."""
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
        """Give waiting requests to free processes; come again when those that should wait longer are due."""
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
            if not member.alive:  # it ended while it had nothing to do
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
        """Answer a batch. Where that fails, each request is tried alone: one must not cost the others their answers."""
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
        """Start a process anew, however many attempts that takes; requests wait for it as long as they may.

        One that only has to answer what waits before it leaves is tried once.
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
    """Answer a request with an error, unless it was answered."""
    if not request.answer.done():
        request.answer.set_exception(error)
