"""All nodes of a cluster agree on something by files in a directory that all of them see.

Node 0 opens a meeting, `.meeting-NAME`. Every other node says hello in the directory above, with a word of its own;
node 0 answers each word that it sees, and a node joins the meeting that has answered its own word. So nobody takes what
a killed process has left for a living one's. Two meetings of the same nodes at once are possible.

In a meeting nodes gather: each writes a file, and goes on when it has read those of all others.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Self

from pyps.errors import CheckpointError, WaitTimeoutError

SHORTEST, LONGEST = 0.001, 0.05  # seconds between two looks
FAREWELL = 10.0  # seconds that node 0 waits for the others at the end


class Meeting:
    """One meeting, as a context manager. With a single node there are no files.

    Parameters
    ----------
    directory : Path
    rank, nodes : int
    name : str
        Of the meeting; only node 0 has one.
    timeout : float
        Seconds for each wait.
    check : callable
        Called now and then; raises if waiting makes no sense any more.
    """

    def __init__(
        self, directory: Path, rank: int, nodes: int, name: str, timeout: float, check: Callable[[], object]
    ) -> None:
        self.directory, self.rank, self.nodes, self.name = directory, rank, nodes, name
        self.timeout, self.check = timeout, check
        self._rounds = 0

    @property
    def place(self) -> Path:
        """Where the meeting's files lie."""
        return self.directory / f".meeting-{self.name}"

    def __enter__(self) -> Self:
        if self.nodes > 1:
            self._invite() if self.rank == 0 else self._join()
        return self

    def gather(self, said: bytes = b"") -> list[bytes]:
        """Wait for all nodes; return what each of them has said here, by their ranks.

        Raises
        ------
        CheckpointError
            Another node has failed.
        WaitTimeoutError
            Some nodes did not come in time.
        """
        if self.nodes == 1:
            return [said]
        self._rounds += 1
        files = [self.place / f"{self._rounds}-{rank}" for rank in range(self.nodes)]
        try:
            _write(files[self.rank], said)
            self._wait(lambda: [rank for rank, file in enumerate(files) if not file.exists()])
            return [file.read_bytes() for file in files]
        except FileNotFoundError:
            raise CheckpointError("node 0 has given it up") from None

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.nodes == 1:
            return
        with suppress(OSError):  # node 0 has left, or the disk is full
            if error is not None:
                _write(self.place / f"failed-{self.rank}", f"{kind.__name__}: {error}".encode())  # type: ignore[union-attr]
            (self.place / f"left-{self.rank}").touch()
        if self.rank == 0:
            end = time.monotonic() + FAREWELL
            while self._missing("left") and time.monotonic() < end:
                time.sleep(SHORTEST)

    def _invite(self) -> None:
        self.place.mkdir()
        seen = set()

        def missing() -> list[int]:
            for hello in self.directory.glob(".hello-*"):
                seen.add(hello)
                (self.place / f"invited-{hello.name.rpartition('-')[2]}").touch()
            return self._missing("joined")

        self._wait(missing, but=0)
        for hello in seen:
            hello.unlink(missing_ok=True)  # a node that still waits says it again

    def _join(self) -> None:
        word = os.urandom(8).hex()
        hello = self.directory / f".hello-{self.rank}-{word}"

        def missing() -> list[int]:
            hello.touch()
            for invited in self.directory.glob(f".meeting-*/invited-{word}"):
                with suppress(FileExistsError, FileNotFoundError):  # another call has taken it, or it is over
                    (invited.parent / f"joined-{self.rank}").touch(exist_ok=False)
                    self.name = invited.parent.name.removeprefix(".meeting-")
                    return []
            return [0]

        try:
            self._wait(missing)
        finally:
            hello.unlink(missing_ok=True)

    def _missing(self, what: str) -> list[int]:
        return [rank for rank in range(self.nodes) if not (self.place / f"{what}-{rank}").exists()]

    def _wait(self, missing: Callable[[], list[int]], but: int = -1) -> None:
        """Wait until no node is missing, this one aside if `but` is its rank."""
        end, pause = time.monotonic() + self.timeout, SHORTEST
        while away := [rank for rank in missing() if rank != but]:
            for rank in away if self.name else ():
                with suppress(FileNotFoundError):
                    why = (self.place / f"failed-{rank}").read_text()
                    raise CheckpointError(f"node {rank} failed: {why}")
            self.check()
            if self.name and not self.place.exists():
                raise CheckpointError("node 0 has given it up")
            if time.monotonic() >= end:
                raise WaitTimeoutError(
                    f"nodes {away} did not come to {self.directory} within {self.timeout:g} s: one process of each "
                    "node has to call this, with a directory that all of them see"
                )
            time.sleep(pause)
            pause = min(2 * pause, LONGEST)


def _write(file: Path, content: bytes) -> None:
    """Who sees the file sees all of it."""
    beside = file.with_name(f".{file.name}")
    beside.write_bytes(content)
    beside.rename(file)
