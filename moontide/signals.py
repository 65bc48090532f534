"""Signals that ask a command to end, as something to wait for."""

from __future__ import annotations

import os
import select
import signal
from collections.abc import Iterator
from contextlib import contextmanager, suppress


class Stop:
    """Whether a signal has come; made by `until`.

    A handler may run at any place of the main thread, also inside of a wait. So it takes no lock, as threading.Event
    does, but writes to a pipe.
    """

    def __init__(self, reading: int) -> None:
        self._reading = reading

    def wait(self, seconds: float) -> bool:
        """Wait so long; return early, and true, once a signal has come."""
        return bool(select.select([self._reading], [], [], seconds)[0])


@contextmanager
def until(*numbers: signal.Signals) -> Iterator[Stop]:
    """Take these signals in the main thread; then the former handlers have them again."""
    reading, writing = os.pipe()
    os.set_blocking(writing, False)

    def note(*_: object) -> None:
        with suppress(BlockingIOError):  # it is full of signals
            os.write(writing, b".")

    before = {number: signal.signal(number, note) for number in numbers}
    try:
        yield Stop(reading)
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        os.close(reading)
        os.close(writing)
