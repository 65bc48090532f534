"""Processes that a benchmark starts, asks things by lines of JSON, and ends, whatever happens to it.

A child leaves when its input ends, so it does not outlive its parent either. It is in a session of its own: Ctrl-C is
for the parent alone.
"""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

TIMEOUT = 120.0  # seconds for one answer


class Child:
    """A process that serves named functions."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process

    def ask(self, function: str, *arguments: Any) -> Any:
        """Have the child call a function and return what it returned."""
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps([function, *arguments]) + "\n")
        self.process.stdin.flush()
        return json.loads(self.line())

    def line(self) -> str:
        """Read a line of the child.

        Raises
        ------
        TimeoutError, RuntimeError
            It said nothing for two minutes, or ended.
        """
        assert self.process.stdout is not None
        if not select.select([self.process.stdout], [], [], TIMEOUT)[0]:
            raise TimeoutError(f"{self.process.args!r} has not answered within {TIMEOUT:.0f} s")
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError(f"{self.process.args!r} ended with status {self.process.wait(TIMEOUT)}")
        return line


@contextmanager
def child(module: str, *arguments: str, **environment: str) -> Iterator[Child]:
    """Run a module as a process of its own, with more in its environment."""
    process = subprocess.Popen(
        [sys.executable, "-m", module, *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, **environment},
        start_new_session=True,
    )
    try:
        yield Child(process)
    finally:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.close()
        try:
            process.wait(20)
        except BaseException:
            process.kill()
            process.wait()
            raise
        finally:
            process.stdout.close()


def serve(functions: Mapping[str, Callable[..., Any]], requests: Iterator[str] = sys.stdin) -> None:
    """In the child: answer until the input ends."""
    for request in requests:
        function, *arguments = json.loads(request)
        reply(functions[function](*arguments))


def reply(what: Sequence[Any] | Any) -> None:
    """Write one answer."""
    print(json.dumps(what), flush=True)
