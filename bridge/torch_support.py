"""Importing torch: which versions work here, and without letting Ctrl-C interrupt the import.

After an interrupted import, torch cannot be imported again in the same process.
"""

from __future__ import annotations

import importlib
import importlib.util
import re
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from types import FrameType, ModuleType
from typing import Any

OLDEST, NEWEST = "2.10", "2.15"  # the newest that was tried; later ones may work


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


@cache
def library() -> str | None:
    """Return the path of torch's library, without importing torch; None if torch is not installed."""
    found = importlib.util.find_spec("torch")
    return str(Path(found.origin).parent / "lib" / "libtorch_cpu.so") if found and found.origin else None


def numbers(version: str) -> tuple[int, ...]:
    """Return the numbers at the beginning of a version: (2, 10) of "2.10.0+cu128"."""
    return tuple(int(part) for part in re.findall(r"\d+", version.partition("+")[0])[:2])


def check(torch: Any) -> None:
    """Check that torch is not too old.

    Raises
    ------
    ImportError
        It is; the message names the oldest version that works and the command that installs it.
    """
    if numbers(torch.__version__) < numbers(OLDEST):
        raise ImportError(
            f"torch {torch.__version__} is too old: moontide needs torch >= {OLDEST}; "
            f"pip install 'torch>={OLDEST}'"
        )


def without(torch: Any, what: str) -> ImportError:
    """Return the error for a torch that lacks something we need."""
    return ImportError(
        f"torch {torch.__version__} has no {what}, which moontide needs; it works with torch {OLDEST} to {NEWEST}: "
        f"pip install 'torch=={NEWEST}.*', or a newer moontide"
    )
