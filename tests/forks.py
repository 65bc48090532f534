"""Programs that use torch, each in a child of one process that has imported it: that takes seconds, once.

``python -W error -m tests.forks`` is that process: it says that it is ready, takes a request a line, and
answers with how its child ended.
"""

from __future__ import annotations

import gc
import json
import os
import select
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType

from tests.python_path import python_path

IMPORT = 120  # seconds that importing torch may take
NEW = os.O_WRONLY | os.O_CREAT | os.O_TRUNC


class Forks:
    """The process that has imported torch."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process

    def run(self, program: str, *arguments: str, cwd: Path, timeout: int) -> subprocess.CompletedProcess[str]:
        """Run a program in a directory, as ``python -W error -c`` does; after the timeout, in seconds, it is killed."""
        outputs = [cwd.with_name(f"{cwd.name}.{name}") for name in ("out", "err")]
        request = [program, arguments, str(cwd), [str(output) for output in outputs], timeout]
        print(json.dumps(request), file=self._process.stdin, flush=True)
        ready, _, _ = select.select([self._process.stdout], [], [], 2 * timeout)
        assert ready, "there is no answer"
        assert self._process.stdout is not None
        status = int(self._process.stdout.readline())
        out, err = (output.read_text() for output in outputs)
        for output in outputs:
            output.unlink()
        return subprocess.CompletedProcess([program, *arguments], status, out, err)


@contextmanager
def forks() -> Iterator[Forks]:
    """Start the process, and end it."""
    with subprocess.Popen(
        [sys.executable, "-W", "error", "-m", "tests.forks"],
        env={**os.environ, "PYTHONPATH": python_path()},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            ready, _, _ = select.select([process.stdout], [], [], IMPORT)
            assert ready, "torch was not imported in time"
            assert process.stdout is not None
            assert process.stdout.readline() == "ready\n"
            yield Forks(process)
        finally:
            process.kill()


def serve() -> None:
    """Run each program in a child, which leaves this function as a program that has come to its end."""
    import torch  # noqa: F401

    gc.collect()
    gc.freeze()  # its objects stay as they are, so that children share their memory and end soon
    print("ready", flush=True)
    while line := sys.stdin.readline():
        child = os.fork()
        if child == 0:
            become(*json.loads(line))
            return
        _, status = os.waitpid(child, 0)
        print(os.waitstatus_to_exitcode(status), flush=True)


def become(program: str, arguments: Sequence[str], cwd: str, outputs: Sequence[str], timeout: int) -> None:
    """Make this process one that runs a program, and run it."""
    signal.alarm(timeout)
    os.chdir(cwd)
    for number, (name, flags) in enumerate([(os.devnull, os.O_RDONLY), *((name, NEW) for name in outputs)]):
        opened = os.open(name, flags, 0o600)
        os.dup2(opened, number)
        os.close(opened)
    sys.argv, sys.path[0] = ["-c", *arguments], ""
    main = sys.modules["__main__"] = ModuleType("__main__")
    exec(program, main.__dict__)


if __name__ == "__main__":
    serve()
