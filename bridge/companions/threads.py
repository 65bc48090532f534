"""Threads that Lua starts: each has a Lua state of its own and runs without the GIL.

What such threads wait for is native (bridge/core/threads/sync.h); when the process ends, those waits are ended first.
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

PATIENCE = 5.0  # seconds that threads get to finish what they run when the process ends

_running: set[LuaThread] = set()
_guard = threading.Lock()
_ending_arranged = False


class LuaThread(threading.Thread):
    """A thread that runs Lua code in a state of its own, and closes it.

    Parameters
    ----------
    new_state : callable
        Makes the state, a `bridge.Lua`, given `allow_functions`.
    code : str or bytes
        A chunk of Lua.
    path, cpath : str
        Lua's search paths there.
    allow_functions : bool
        As for `bridge.Lua`.
    leave : callable, optional
        What os.exit does, given the status; by default it ends the thread.
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
        """Run the code; what goes wrong is written to standard error."""
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
    """Start a `LuaThread`; raises RuntimeError where the system allows no more."""
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
    """Wait for a thread, and tell whether it has ended."""
    thread.join(seconds)
    return not thread.is_alive()


def heed_signals() -> None:
    """Nothing: that Python runs at all lets it handle its signals, if this is the main thread."""


def _end() -> None:
    """Let no thread run Lua while the process is taken apart."""
    ctypes.CDLL(_boundary.__file__).br_end_waits()
    deadline = time.monotonic() + PATIENCE
    with _guard:
        threads = list(_running)
    for thread in threads:
        thread.join(max(0.0, deadline - time.monotonic()))
