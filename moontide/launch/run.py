"""Start the processes of a local cluster, pass on what they write, and end all of them when one fails."""

from __future__ import annotations

import os
import selectors
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager

from moontide.errors import CommandError
from moontide.launch.guardian import Guardian, kill_group
from moontide.launch.plan import Process, command, environment, plan
from pyps.rendezvous.interfaces import LOOPBACK, listen
from pyps.rendezvous.store import serve_store_with

GRACE = 5.0  # seconds that processes get to end after they were told
COLOURS = (36, 33, 35, 32, 34, 31)  # of ANSI terminals, by node
CHUNK = 65536


class Interrupted(BaseException):
    """A signal asks the launcher to end."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


class Running:
    """A process that was started, and what it wrote so far without an end of line."""

    def __init__(self, process: Process, handle: subprocess.Popen[bytes]) -> None:
        self.label = process.label
        self.node = process.node
        self.handle = handle
        assert handle.stdout is not None
        self.output = handle.stdout.fileno()
        os.set_blocking(self.output, False)
        self.exit = os.pidfd_open(handle.pid)  # readable when it has ended
        self.partial = b""

    @property
    def how_it_ended(self) -> str:
        """For people, once it has."""
        status = self.handle.returncode
        if status < 0:
            return f"{self.label} was killed by {signal.Signals(-status).name}"
        return f"{self.label} ended with status {status}"


def launch(
    nodes: int,
    workers_per_node: int,
    script: str,
    arguments: Sequence[str],
    *,
    keep_going: bool = False,
    metrics_port: int | None = None,
) -> int:
    """Run a program as all processes of a cluster and return the exit status: the first failure's, or 0.

    Parameters
    ----------
    keep_going : bool
        One that fails does not end the others.
    metrics_port : int, optional
        Node n tells its statistics at this port + n; 0: at a free port.

    Raises
    ------
    CommandError
        The program cannot be started.
    """
    listening = listen(LOOPBACK, 0)
    processes = plan(nodes, workers_per_node, listening.getsockname()[1], metrics_port)
    crew: list[Running] = []
    with ExitStack() as stack:
        stack.enter_context(_signals_raise())
        stack.callback(listening.close)
        guardian = stack.enter_context(Guardian())
        stack.callback(_end, crew, guardian)
        try:
            for process in processes:  # before the store has threads: nothing of them is copied
                crew.append(_start(process, command(script, arguments), guardian))
            store = serve_store_with(listening)
            status = _follow(crew, guardian, keep_going)
            del store
        except Interrupted as interrupted:
            _say(f"{signal.Signals(interrupted.number).name}: ending all processes")
            return 128 + interrupted.number
        except BrokenPipeError:
            raise CommandError("nobody reads the output any more") from None
    return status


def _start(process: Process, arguments: list[str], guardian: Guardian) -> Running:
    try:
        handle = subprocess.Popen(
            arguments,
            env=environment(process),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            preexec_fn=guardian.watch,  # noqa: PLW1509 - no thread runs yet
        )
    except OSError as error:
        raise CommandError(f"cannot run {arguments[0]}: {error.strerror}") from None
    return Running(process, handle)


def _follow(crew: list[Running], guardian: Guardian, keep_going: bool) -> int:
    """Pass on what they write until all have ended, or one has failed; return the status."""
    first_failure = 0
    with selectors.DefaultSelector() as selector:
        for running in crew:
            selector.register(running.output, selectors.EVENT_READ, running)
            selector.register(running.exit, selectors.EVENT_READ, running)
        left = len(crew)
        while left:
            for key, _ in selector.select():
                running = key.data
                if key.fd == running.output:
                    if not _pass_on(running):
                        selector.unregister(key.fileobj)
                    continue
                selector.unregister(key.fileobj)
                _bury(running, guardian)
                left -= 1
                if (status := running.handle.returncode) == 0:
                    continue
                first_failure = first_failure or int(status if status > 0 else 128 - status)
                if not keep_going:
                    _say(f"{running.how_it_ended}; ending the other {left}")
                    return first_failure
                _say(f"{running.how_it_ended}; the other {left} go on")
    return first_failure


def _bury(running: Running, guardian: Guardian) -> None:
    """Take note that a process has ended, and end what it has started and left."""
    kill_group(running.handle.pid)  # nobody else can have this number before the process was waited for
    running.handle.wait()
    guardian.forget(running.handle.pid)
    while _pass_on(running, until_empty=True):
        pass
    if running.partial:
        _write(running, running.partial)
        running.partial = b""


def _end(crew: list[Running], guardian: Guardian) -> None:
    """End what still runs: politely, then not."""
    alive = [running for running in crew if running.handle.returncode is None]
    for running in alive:
        kill_group(running.handle.pid, signal.SIGTERM)
    deadline = time.monotonic() + GRACE
    with selectors.DefaultSelector() as selector:
        for running in alive:
            selector.register(running.exit, selectors.EVENT_READ)
        while selector.get_map() and (left := deadline - time.monotonic()) > 0:
            for key, _ in selector.select(left):
                selector.unregister(key.fileobj)
    for running in alive:
        _bury(running, guardian)
    for running in crew:
        assert running.handle.stdout is not None
        running.handle.stdout.close()
        os.close(running.exit)


def _pass_on(running: Running, until_empty: bool = False) -> bool:
    """Write what came, line by line; False at the end, or when nothing is there and that is asked."""
    try:
        received = os.read(running.output, CHUNK)
    except BlockingIOError:
        return not until_empty
    *lines, running.partial = (running.partial + received).split(b"\n")
    for line in lines:
        _write(running, line)
    return bool(received)


def _write(running: Running, line: bytes) -> None:
    label = f"[{running.label}]"
    if sys.stdout.isatty() and "NO_COLOR" not in os.environ:
        label = f"\x1b[{COLOURS[running.node % len(COLOURS)]}m{label}\x1b[0m"
    sys.stdout.buffer.write(label.encode() + b" " + line + b"\n")
    sys.stdout.buffer.flush()


def _say(text: str) -> None:
    print(f"moontide launch: {text}", file=sys.stderr, flush=True)


@contextmanager
def _signals_raise() -> Iterator[None]:
    """Let the first SIGINT or SIGTERM raise Interrupted, and ignore others while everything is ended."""
    numbers = (signal.SIGINT, signal.SIGTERM)

    def interrupt(number: int, _: object) -> None:
        for each in numbers:
            signal.signal(each, signal.SIG_IGN)
        raise Interrupted(number)

    before = {number: signal.signal(number, interrupt) for number in numbers}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
