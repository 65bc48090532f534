"""The queue of requests that wait for a process, and which of them are computed together.

Requests are computed together if they have the same key: the same function, types, and sizes except the first. While
all processes are busy, batches grow by themselves. While one is free, a request waits for others only if the last batch
had several requests, and no longer than `wait`. So a single client never waits.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(eq=False, slots=True)
class Request:
    """A request: the function and its arguments, and the future for the answer.

    `key` is None for a request that is computed alone; `arrived` and `began` are seconds of the loop's clock.
    """

    function: str | None
    arguments: Sequence[Any]
    key: Hashable
    rows: int
    arrived: float
    answer: asyncio.Future[Any]
    began: float = 0.0
    waits: bool = False  # whether it is in a queue


class Queue:
    """Waiting requests.

    Parameters
    ----------
    rows : int
        Most rows of a batch; a request that has more is computed alone.
    wait : float
        Most seconds that a request waits for others while a process is free.
    """

    def __init__(self, rows: int, wait: float) -> None:
        self._rows = rows
        self._wait = wait
        self._lines: dict[Hashable, deque[Request]] = {}
        self._count = 0
        self._expected = 1  # requests in the batch that was taken last

    def __len__(self) -> int:
        return self._count

    def add(self, request: Request) -> None:
        """Add a request."""
        request.waits = True
        self._lines.setdefault(request.key, deque()).append(request)
        self._count += 1

    def discard(self, request: Request) -> None:
        """Remove a request whose answer is no longer wanted, if it is still in the queue."""
        if request.waits:
            request.waits = False
            line = self._lines[request.key]
            line.remove(request)
            self._count -= 1
            if not line:
                del self._lines[request.key]

    def take(self, now: float) -> list[Request]:
        """Return the next batch of requests; an empty list if there are none or they should wait longer."""
        if not self._lines:
            return []
        key = self._first()
        if now < self._due(key):
            return []
        line = self._lines[key]
        batch = [line.popleft()]
        rows = batch[0].rows
        while key is not None and line and rows + line[0].rows <= self._rows:
            rows += line[0].rows
            batch.append(line.popleft())
        if not line:
            del self._lines[key]
        for one in batch:
            one.waits = False
        self._count -= len(batch)
        self._expected = len(batch)
        return batch

    def due(self) -> float | None:
        """Return the time from which `take` returns a batch; None if the queue is empty."""
        return self._due(self._first()) if self._lines else None

    def _first(self) -> Hashable | None:
        """Return the key of the oldest request."""
        if len(self._lines) == 1:
            return next(iter(self._lines))
        return min(self._lines, key=lambda key: self._lines[key][0].arrived)

    def _due(self, key: Hashable) -> float:
        line = self._lines[key]
        first = line[0]
        enough = first.key is None or len(line) >= self._expected or first.rows * len(line) >= self._rows
        return first.arrived + (0.0 if enough else self._wait)
