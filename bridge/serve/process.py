"""The handle of a model in a process of its own."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from os import PathLike
from typing import Any

from bridge.serve.area import Area
from bridge.serve.channel import Channel, Closed
from bridge.serve.faults import raised
from bridge.serve.values import packed, unpacked

LEAVING = 2.0  # seconds that a process gets to end by itself


class ProcessLost(RuntimeError):
    """The model's process ended in the middle of a call."""


class CallTimeout(TimeoutError):
    """A call took longer than it may; its process was ended."""


class ModelProcess:
    """A model in a process of its own: what it does there costs one call.

    The process starts with the first call, or `start`, and again after one that ended it.

    Parameters
    ----------
    file : path
        A .t7 file that holds a network, or a .lua file with functions.
    function, key : str, optional
        Which function, and where in the file's tables; see `bridge.models.call`.
    memory : int, optional
        Bytes that model and calls may take in the process, beside torch's; without it, what the host has.
    allow_functions : bool
        Let functions that are stored in a .t7 file run.
    start_timeout : float
        Seconds that loading may take.

    Examples
    --------
    >>> with ModelProcess("model.t7", memory=1 << 30) as model:
    ...     scores = model.call(images, timeout=5.0)
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
        self._wanted = {
            "file": os.fspath(file),
            "function": function,
            "key": key,
            "memory": memory,
            "allow_functions": allow_functions,
        }
        self._start_timeout = start_timeout
        self._lock = threading.Lock()  # one call at a time; guards all below
        self._running: _Running | None = None
        self._closed = False

    @property
    def pid(self) -> int | None:
        """The process's number; None while there is none."""
        running = self._running
        return running.process.pid if running else None

    def start(self) -> None:
        """Start the process and load the model, unless that is done.

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
        """Call the model and return what it returns, in memory of the caller's.

        Parameters
        ----------
        *arguments
            Numbers, texts, numpy arrays, lists and dicts of them.
        timeout : float, optional
            Seconds for all of it, waiting for another thread's call too.

        Raises
        ------
        LuaError
            The model raised an error; the process goes on.
        TypeError
            An argument, or the result, has something in it that cannot leave its process.
        CallTimeout
            It took too long. A process that was at work is ended.
        ProcessLost
            The process ended: it crashed, or had no memory left. The next call has a new one.
        """
        until = None if timeout is None else time.monotonic() + timeout
        if not self._lock.acquire(timeout=-1 if timeout is None else timeout):
            raise CallTimeout(f"no turn within {timeout:g} s: another call is at work")
        try:
            running = self._started()
            running.given.clear()
            message = [packed(one, running.given) for one in arguments]
            left = None if until is None else max(until - time.monotonic(), 0.001)
            answer = self._asked(running, message, left, f"no answer within {timeout} s")
            with self._ended_on_failure():
                try:
                    return unpacked(answer, running.made, copy=True)
                except ValueError as error:
                    raise ProcessLost(f"the model's process sent what is no value: {error}") from None
        finally:
            self._lock.release()

    def close(self) -> None:
        """End the process; a call of another thread ends with `ProcessLost`."""
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

    def _started(self) -> _Running:
        if self._closed:
            raise ValueError("the model's process was closed")
        if self._running is None:
            self._running = _Running()
            late = f"the model was not loaded within {self._start_timeout:g} s"
            try:
                self._asked(self._running, self._wanted, self._start_timeout, late)
            except Exception:
                self._end()
                raise
        return self._running

    def _asked(self, running: _Running, message: Any, timeout: float | None, late: str) -> Any:
        """Send a message and return the result in the answer; raise what the answer tells."""
        with self._ended_on_failure():
            try:
                running.channel.send(message, timeout)
                answer = _checked(running.channel, timeout)
            except TimeoutError:
                raise CallTimeout(late) from None
            except Closed:
                raise ProcessLost(f"the model's process ended: {running.reason()}") from None
        if "error" in answer:
            raise raised(answer["error"])
        return answer["result"]

    @contextlib.contextmanager
    def _ended_on_failure(self) -> Iterator[None]:
        """End the process where the two sides no longer agree on what comes next."""
        try:
            yield
        except BaseException:
            self._end()
            raise

    def _end(self) -> None:
        running, self._running = self._running, None
        if running is not None:
            running.end()


class _Running:
    """A process, and what connects it."""

    def __init__(self) -> None:
        self.given, self.made = Area.create(), Area.create()
        ours, theirs = socket.socketpair()
        self.channel = Channel(ours)
        inherited = (theirs.fileno(), self.given.descriptor, self.made.descriptor)
        try:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "bridge.serve.worker", *map(str, (*inherited, os.getpid()))],
                pass_fds=inherited,
                stdin=subprocess.DEVNULL,
                stdout=2,  # what a model prints is for people, behind what else they are told
                start_new_session=True,
            )
        finally:
            theirs.close()

    def kill(self) -> None:
        self.process.kill()

    def reason(self) -> str:
        """Return why the process ended; it may live, and only have closed its side."""
        try:
            status = self.process.wait(LEAVING)
        except subprocess.TimeoutExpired:
            return "it no longer listens"
        return signal.Signals(-status).name if status < 0 else f"status {status}"

    def end(self) -> None:
        """Kill the process and let go of everything."""
        self.process.kill()
        self.process.wait()
        self.channel.close()
        self.given.close()
        self.made.close()


def _checked(channel: Channel, timeout: float | None) -> dict[str, Any]:
    """Return the next message, if it is an answer."""
    try:
        answer = channel.receive(timeout)
    except ValueError as error:
        raise ProcessLost(f"the model's process sent what is no message: {error}") from None
    if isinstance(answer, dict) and ("result" in answer or isinstance(answer.get("error"), dict)):
        return answer
    raise ProcessLost("the model's process sent what is no answer")
