"""Small programs in C++ that run beside a benchmark: they say "ready", and end when their standard input does."""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

FLAGS = ("-std=c++17", "-O2", "-Wall", "-Wextra", "-Werror", "-pthread")
TIMEOUT = 30.0


@contextmanager
def running(source: Path, *arguments: str) -> Iterator[subprocess.Popen[str]]:
    """Compile and start a program, and see that it ends; `CXX` and `CXXFLAGS` count.

    Raises
    ------
    CalledProcessError
        It cannot be compiled; `stderr` says why.
    OSError
        It ended at once.
    """
    with tempfile.TemporaryDirectory() as directory:
        program = Path(directory, source.stem)
        flags = [*FLAGS, *os.environ.get("CXXFLAGS", "").split()]
        run(os.environ.get("CXX", "c++"), *flags, str(source), "-o", str(program))
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
        with subprocess.Popen([str(program), *arguments], **pipes) as process:  # type: ignore[call-overload]
            try:
                assert process.stdout is not None
                if process.stdout.readline() != "ready\n":
                    raise OSError(f"{source.stem} ended with {process.wait(TIMEOUT)}: it says above why")
                yield process
            finally:
                process.kill()


def run(*command: str) -> None:
    """Run a command to its end; its output is kept for the error that it may raise."""
    subprocess.run(command, check=True, capture_output=True, text=True, timeout=TIMEOUT)
