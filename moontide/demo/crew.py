"""The worker processes of the demo: started, listened to, and gone when the block ends, however it ends."""

from __future__ import annotations

import os
import selectors
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

from moontide.demo.messages import Done, Message, decode
from moontide.errors import CommandError

SILENCE = 60.0  # seconds without a message from anybody after which the demo gives up
GRACE = 3.0  # seconds that a worker gets to end before it is killed
ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")


@dataclass(frozen=True)
class Worker:
    """A running worker: its name for people, its process, and the file that its errors go to."""

    name: str
    process: subprocess.Popen[bytes]
    errors: Path


@contextmanager
def signals_held_back() -> Iterator[None]:
    """Let Ctrl-C and SIGTERM wait until the block ends: a process that is being started is in no list yet."""
    if threading.current_thread() is not threading.main_thread():  # the others get no signals
        yield
        return
    waiting: list[int] = []
    before = {
        number: signal.signal(number, lambda arrived, _: waiting.append(arrived))
        for number in (signal.SIGINT, signal.SIGTERM)
    }
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    for arrived in waiting:
        signal.raise_signal(arrived)


class Crew:
    """Worker processes as a context manager.

    Parameters
    ----------
    workers : mapping of str to sequence of str
        The arguments of `python -m moontide.demo.worker` for each worker, by its name.
    directory : Path
        Where their error output goes.
    """

    def __init__(self, workers: Mapping[str, Sequence[str]], directory: Path) -> None:
        self._commands = workers
        self._directory = directory
        self._workers: list[Worker] = []

    def __enter__(self) -> Crew:
        try:
            with signals_held_back():
                for number, (name, arguments) in enumerate(self._commands.items()):
                    errors = self._directory / f"worker-{number}.err"
                    self._workers.append(self._start(name, arguments, errors))
        except BaseException:
            self._stop()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stop()

    def begin(self) -> None:
        """Let all workers begin; to be called when each has said that it is ready."""
        for worker in self._workers:
            assert worker.process.stdin is not None
            worker.process.stdin.write(b"begin\n")
            worker.process.stdin.flush()

    def messages(self) -> Iterator[tuple[str, Message]]:
        """Yield each worker's name and message as they come, until all have ended.

        Raises
        ------
        CommandError
            If a worker ended before it was done or with an error, or nobody reported for `SILENCE` seconds.
        """
        with selectors.DefaultSelector() as selector:
            for worker in self._workers:
                assert worker.process.stdout is not None
                selector.register(worker.process.stdout, selectors.EVENT_READ, worker)
            unfinished = {worker.name for worker in self._workers}
            partial = dict.fromkeys(unfinished, b"")
            while selector.get_map():
                events = selector.select(SILENCE)
                if not events:
                    names = ", ".join(sorted(unfinished)) or "workers that were done"
                    raise CommandError(f"nothing heard for {SILENCE:.0f} s of {names}")
                for key, _ in events:
                    worker = key.data
                    received = os.read(key.fd, 65536)
                    *lines, partial[worker.name] = (partial[worker.name] + received).split(b"\n")
                    for line in lines:
                        message = decode(line.decode())
                        if isinstance(message, Done):
                            unfinished.discard(worker.name)
                        yield worker.name, message
                    if not received:
                        selector.unregister(key.fileobj)
                        if worker.name in unfinished or worker.process.wait(GRACE) != 0:
                            raise CommandError(self._why_it_ended(worker))

    def _start(self, name: str, arguments: Sequence[str], errors: Path) -> Worker:
        with errors.open("wb") as stderr:
            process = subprocess.Popen(
                [sys.executable, "-m", "moontide.demo.worker", *arguments],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=stderr,
                env={**os.environ, **ONE_THREAD},
                start_new_session=True,  # Ctrl-C reaches the demo alone, which then stops its workers
            )
        return Worker(name, process, errors)

    def _stop(self) -> None:
        """End what still runs: politely, then not."""
        for worker in self._workers:
            for pipe in (worker.process.stdin, worker.process.stdout):
                assert pipe is not None
                pipe.close()
            if worker.process.poll() is None:
                worker.process.terminate()
        deadline = time.monotonic() + GRACE
        for worker in self._workers:
            try:
                worker.process.wait(max(0.0, deadline - time.monotonic()))
            except subprocess.TimeoutExpired:
                worker.process.kill()
                worker.process.wait()
        self._workers.clear()

    @staticmethod
    def _why_it_ended(worker: Worker) -> str:
        status = worker.process.wait(GRACE)
        how = f"was killed by {signal.Signals(-status).name}" if status < 0 else f"ended with status {status}"
        errors = worker.errors.read_text(errors="replace").strip()
        return f"{worker.name} {how}" + (f":\n{errors}" if errors else "")
