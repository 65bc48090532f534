"""A small process beside the launcher that ends the others when the launcher is gone, however it went.

It reads from a pipe which process groups there are, `+PID` as one begins and `-PID` when it has ended, and at the
pipe's end, which the system makes when the launcher dies, kills those that are left. It is run by its file name, with
nothing of the project imported.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys


class Guardian:
    """The launcher's side; a context manager."""

    def __init__(self) -> None:
        reading, self._writing = os.pipe()
        try:
            self._process = subprocess.Popen(
                [sys.executable, "-I", "-S", __file__],
                stdin=reading,
                start_new_session=True,  # Ctrl-C and a signal to the launcher's group do not reach it
            )
        finally:
            os.close(reading)

    def watch(self) -> None:
        """Name the calling process's group; called in the child before it runs its program."""
        os.write(self._writing, f"+{os.getpid()}\n".encode())

    def forget(self, group: int) -> None:
        """Say that a group has ended."""
        with contextlib.suppress(BrokenPipeError):  # somebody killed it; the launcher still does its own part
            os.write(self._writing, f"-{group}\n".encode())

    def __enter__(self) -> Guardian:
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._writing)
        self._process.wait()


def kill_group(group: int, number: int = signal.SIGKILL) -> None:
    """Send a signal to all processes of a group, if there are any."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(group, number)


def main() -> None:
    """Read until the end, then kill what is left."""
    groups = set()
    for line in sys.stdin:
        group = int(line[1:])
        if line[0] == "+":
            groups.add(group)
        else:
            groups.discard(group)
    for group in groups:
        kill_group(group)


if __name__ == "__main__":
    main()
