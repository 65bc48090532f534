"""Threads that Lua programs start: each has a Lua state of its own and runs without the GIL.

These threads wait in C code (bridge/core/threads/sync.h). When the process ends, those waits are ended first.
"""

from __future__ import annotations

import atexit
import ctypes
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

from bridge import _boundary

PATIENCE = 5.0  # seconds that threads have to finish when the process ends

_running: set[LuaThread] = set()
_guard = threading.Lock()
_ending_arranged = False


class LuaThread(threading.Thread):
    """A thread that runs Lua code in a state of its own, and closes it.

    Parameters
    ----------
    new_state : callable
        Called with `allow_functions`; returns the thread's state, a `bridge.Lua`.
    code : str or bytes
        Lua source to run.
    path, cpath : str
        Lua's search paths in the new state.
    allow_functions : bool
        As for `bridge.Lua`.
    leave : callable, optional
        Called by os.exit with the status; by default os.exit ends the thread.
    """

    def __init__(
        self,
        new_state: Callable[..., Any],
        code: str | bytes,
        path: str,
        cpath: str,
        allow_functions: bool,
        leave: Callable[[int], None] | None = None,
    ) -> None:
        super().__init__(name="lua", daemon=True)
        self._new_state = new_state
        self._code = code
        self._paths = path, cpath
        self._allow_functions = allow_functions
        self._leave = leave

    def run(self) -> None:
        """Run the code; an error is written to standard error."""
        try:
            with self._new_state(allow_functions=self._allow_functions) as lua:
                lua.execute("package.path, package.cpath = ...", *self._paths)
                lua.execute(self._code, name="=(thread)")
        except BaseException as problem:
            if self._leave is not None and isinstance(problem, SystemExit):
                self._leave(problem.code if isinstance(problem.code, int) else 1)
            sys.stderr.write(f"FATAL THREAD PANIC: {type(problem).__name__}: {problem}\n")
        finally:
            with _guard:
                _running.discard(self)


def start(
    new_state: Callable[..., Any],
    code: str | bytes,
    path: str,
    cpath: str,
    allow_functions: bool,
    leave: Callable[[int], None] | None = None,
) -> LuaThread:
    """Start a `LuaThread`. Raises RuntimeError if the system allows no further thread."""
    global _ending_arranged  # noqa: PLW0603
    thread = LuaThread(new_state, code, path, cpath, allow_functions, leave)
    with _guard:
        if not _ending_arranged:
            _ending_arranged = True
            atexit.register(_end)
        _running.add(thread)
    try:
        thread.start()
    except BaseException:
        with _guard:
            _running.discard(thread)
        raise
    return thread


def join(thread: Any, seconds: float) -> bool:
    """Wait for a thread, at most for some seconds. Returns whether it has ended."""
    thread.join(seconds)
    return not thread.is_alive()


def heed_signals() -> None:
    """Do nothing. Lua calls this so that Python gets control and handles pending signals, such as Ctrl-C."""


def _end() -> None:
    """Wait for Lua threads to end, so that none runs while the interpreter is shut down."""
    ctypes.CDLL(_boundary.__file__).br_end_waits()
    deadline = time.monotonic() + PATIENCE
    with _guard:
        threads = list(_running)
    for thread in threads:
        thread.join(max(0.0, deadline - time.monotonic()))
