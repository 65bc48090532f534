"""Importing torch when it is first needed, without letting Ctrl-C interrupt the import.

After an interrupted import, torch cannot be imported again in the same process.
"""

from __future__ import annotations

import importlib
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType, ModuleType


def import_torch() -> ModuleType:
    """Import torch if necessary and return it. A Ctrl-C during the import takes effect after it."""
    return import_whole("torch")


def import_whole(name: str) -> ModuleType:
    """Import a module that needs torch. A Ctrl-C during the import takes effect after it."""
    if name in sys.modules:
        return importlib.import_module(name)
    with ctrl_c_deferred():
        return importlib.import_module(name)


@contextmanager
def ctrl_c_deferred() -> Iterator[None]:
    """Delay Ctrl-C until the block has ended, if this is the thread in which Python handles it."""
    handler = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not callable(handler):
        yield
        return
    came: list[tuple[int, FrameType | None]] = []
    signal.signal(signal.SIGINT, lambda number, frame: came.append((number, frame)))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, handler)
        if came:
            handler(*came[0])
