"""Bare ZeroMQ: blocking round trips of the same bytes, by pyzmq's library driven from C, with another process.

`round_trip.c` is compiled when it is needed.
"""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

SOURCE = Path(__file__).with_suffix(".c")
HEADER = 48  # bytes of a request or an answer before its columns (docs/wire.md)
Loop = Callable[[int], float]


class RoundTrips:
    """A socket to the other process."""

    def __init__(self, library: ctypes.CDLL, handle: int) -> None:
        self.library, self.handle = library, handle

    def loop(self, request: int, answer: int, ahead: int = 1) -> Loop:
        """Return a function that makes so many round trips and returns the seconds they took.

        Parameters
        ----------
        request, answer : int
            Bytes of the messages.
        ahead : int
            How many requests may be on their way at once.
        """

        def run(count: int) -> float:
            taken: float = self.library.rt_exchange(self.handle, request, answer, count, ahead)
            if taken < 0:
                raise RuntimeError("ZeroMQ refused a message")
            return taken

        return run


@contextmanager
def round_trips() -> Iterator[RoundTrips]:
    """Start the other process and connect to it."""
    with tempfile.TemporaryDirectory() as directory:
        compiled = Path(directory, "round_trip.so")
        command: list[str | Path] = [os.environ.get("CC", "cc"), "-O2", "-shared", "-fPIC", SOURCE, "-ldl"]
        subprocess.run([*command, "-o", compiled], check=True)
        process = subprocess.Popen(
            [sys.executable, __file__, compiled, zmq_library()],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        try:
            assert process.stdout is not None
            endpoint = process.stdout.readline().strip()
            library = load(compiled)
            handle = library.rt_connect(zmq_library().encode(), endpoint.encode())
            if not handle:
                raise RuntimeError(f"ZeroMQ cannot connect to {endpoint!r}")
            try:
                yield RoundTrips(library, handle)
            finally:
                library.rt_close(handle)
        finally:
            process.kill()
            process.wait()
            assert process.stdout is not None
            process.stdout.close()


def load(compiled: Path | str) -> ctypes.CDLL:
    """Open what was compiled."""
    library = ctypes.CDLL(str(compiled))
    library.rt_connect.restype = ctypes.c_void_p
    library.rt_exchange.restype = ctypes.c_double
    library.rt_exchange.argtypes = [
        ctypes.c_void_p,
        ctypes.c_uint64,
        ctypes.c_uint64,
        ctypes.c_int,
        ctypes.c_int,
    ]
    library.rt_close.argtypes = [ctypes.c_void_p]
    return library


def zmq_library() -> str:
    """Return the file of pyzmq's ZeroMQ, the one that nodes use."""
    from zmq.backend.cython import _zmq

    assert isinstance(_zmq.__file__, str)
    return _zmq.__file__


if __name__ == "__main__":
    sys.exit(load(sys.argv[1]).rt_serve(sys.argv[2].encode()))
