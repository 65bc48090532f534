"""The handle of a model in a process of its own."""

from __future__ import annotations

import contextlib
import os
import threading
import time
from collections.abc import Iterator
from dataclasses import asdict
from os import PathLike
from typing import Any

from bridge.serve.process.channel import Channel, Closed
from bridge.serve.process.faults import raised
from bridge.serve.process.running import CallTimeout, ProcessLost, Running, Wanted, checked


class ModelProcess:
    """A model in a process of its own. If the process crashes, one call fails, but not the calling program.

    The process is started by the first call or by `start`, and again after it has ended.

    Parameters
    ----------
    file : path
        A .t7 file that holds a network, or a .lua file with functions.
    function, key : str, optional
        The function, and the network's place in the file's tables; see `bridge.models.call`.
    memory : int, optional
        Most bytes for the model and its calls in the process, in addition to torch's own; by default no limit.
    allow_functions : bool
        Let functions that are stored in a .t7 file run.
    start_timeout : float
        Most seconds for loading.

    Examples
    --------
    >>> with ModelProcess("model.t7", memory=1 << 30) as model:
    ...     model.call(np.zeros((5, 4)), timeout=30.0).shape
    (5, 3)
    """

    def __init__(
        self,
        file: str | PathLike[str],
        *,
        function: str | None = None,
        key: str | None = None,
        memory: int | None = None,
        allow_functions: bool = False,
        start_timeout: float = 60.0,
    ) -> None:
        self._wanted = Wanted(os.fspath(file), function, key, memory=memory, allow_functions=allow_functions)
        self._start_timeout = start_timeout
        self._lock = threading.Lock()  # one call at a time; guards all below
        self._running: Running | None = None
        self._closed = False

    @property
    def pid(self) -> int | None:
        """The process's id; None while there is no process."""
        running = self._running
        return running.process.pid if running else None

    def start(self) -> None:
        """Start the process and load the model, if that is not done yet.

        Raises
        ------
        LuaError, T7Error, FileNotFoundError, ValueError
            The model cannot be loaded.
        CallTimeout, ProcessLost
            Loading took too long, or ended the process.
        """
        with self._lock:
            self._started()

    def call(self, *arguments: Any, timeout: float | None = None) -> Any:
        """Call the model and return a copy of its result.

        Parameters
        ----------
        *arguments
            Numbers, texts, numpy arrays, lists and dicts of them.
        timeout : float, optional
            Most seconds for the call, including the wait for another thread's call.

        Raises
        ------
        LuaError
            The model raised an error; the process goes on.
        TypeError
            An argument or the result contains a value that cannot be sent to another process.
        CallTimeout
            The call took too long. If the process was computing it, the process is ended.
        ProcessLost
            The process has ended: it crashed or ran out of memory. The next call starts a new one.
        """
        until = None if timeout is None else time.monotonic() + timeout
        if not self._lock.acquire(timeout=-1 if timeout is None else timeout):
            raise CallTimeout(f"no turn within {timeout:g} s: another call is at work")
        try:
            running = self._started()
            message = running.question(None, arguments)
            left = None if until is None else max(until - time.monotonic(), 0.001)
            answer = self._asked(running, message, left, f"no answer within {timeout} s")
            with self._ended_on_failure():
                return running.value(answer)
        finally:
            self._lock.release()

    def close(self) -> None:
        """End the process; a call in another thread raises `ProcessLost`."""
        self._closed = True
        running = self._running
        if running is not None:
            running.kill()
        with self._lock:
            self._end()

    def __enter__(self) -> ModelProcess:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _started(self) -> Running:
        if self._closed:
            raise ValueError("the model's process was closed")
        if self._running is None:
            self._running = Running()
            late = f"the model was not loaded within {self._start_timeout:g} s"
            try:
                self._asked(self._running, asdict(self._wanted), self._start_timeout, late)
            except Exception:
                self._end()
                raise
        return self._running

    def _asked(self, running: Running, message: Any, timeout: float | None, late: str) -> Any:
        """Send a message and return the result in the answer, or raise the error in it."""
        with self._ended_on_failure():
            try:
                channel = Channel(running.socket)
                channel.send(message, timeout)
                answer = checked(channel.receive(timeout))
            except TimeoutError:
                raise CallTimeout(late) from None
            except Closed:
                raise ProcessLost(f"the model's process ended: {running.reason()}") from None
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
            self._end()
            raise

    def _end(self) -> None:
        running, self._running = self._running, None
        if running is not None:
            running.end()
