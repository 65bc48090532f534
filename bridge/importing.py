"""Importing torch when it is first needed, so that Ctrl-C cannot cut the import short.

A torch whose import was broken off cannot be imported again in the same process.
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
    """Return torch, imported unless it is; a Ctrl-C that comes meanwhile has its effect afterwards."""
    return import_whole("torch")


def import_whole(name: str) -> ModuleType:
    """Import a module that needs torch, likewise."""
    if name in sys.modules:
        return importlib.import_module(name)
    with ctrl_c_deferred():
        return importlib.import_module(name)


@contextmanager
def ctrl_c_deferred() -> Iterator[None]:
    """Let Ctrl-C wait until the block has ended, where Python would handle it in this thread."""
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
