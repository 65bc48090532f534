"""All nodes of a cluster agree on something by files in a folder that all of them see.

Node 0 opens a meeting, the folder `.meeting-NAME`. Every other node writes a file `.hello-RANK-WORD` beside it, with a
word that it has just drawn. Node 0 answers each word there, and a node joins the meeting in which its own word was
answered, so it never takes files of a killed process for those of a living one. Node 0 takes the first that joined for
each rank; others, which are of another call, say hello again. So two meetings of the same nodes at once are possible.

In a meeting nodes gather: each writes a file, and goes on when it has read those of all others. A folder needs no more
for this than that a file is seen as a whole and as soon as it was written.
"""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from types import TracebackType
from typing import Self

from pyps.checkpoint.folders import Folder
from pyps.checkpoint.turns import Presence
from pyps.errors import CheckpointError, Error, WaitTimeoutError

SHORTEST = 0.001  # seconds between two looks, at first
FAREWELL = 10.0  # seconds that node 0 waits for the others at the end
logger = logging.getLogger(__name__)
HELLO, INVITED, OPEN = ".hello-", ".invited-", "open"


class Meeting:
    """One meeting, as a context manager. With a single node there are no files.

    Parameters
    ----------
    directory : Folder
    name : str
        Of the meeting; only node 0 has one.
    timeout : float
        Seconds for each wait.
    presence : Presence
        Of the nodes that meet. Among each other they are numbered by their positions: "node 0" here is the first of
        them. Waiting ends as soon as it says that it makes no sense any more.
    """

    def __init__(self, directory: Folder, name: str, timeout: float, presence: Presence) -> None:
        self.directory, self.name, self.timeout, self.presence = directory, name, timeout, presence
        self.turn = presence.turn
        self._rounds = 0

    @property
    def place(self) -> Folder:
        """Where the meeting's files lie."""
        return self.directory.folder(f".meeting-{self.name}")

    def __enter__(self) -> Self:
        if self.turn.nodes > 1:
            self._invite() if self.turn.is_first else self._join()
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
        if self.turn.nodes == 1:
            return [said]
        self._rounds += 1
        files = [f"{self._rounds}-{rank}" for rank in range(self.turn.nodes)]
        try:
            self.place.write(files[self.turn.position], said)
            self._wait(lambda there: [rank for rank, file in enumerate(files) if file not in there])
            return [self.place.read(file) for file in files]
        except OSError:
            if OPEN in self.place.names():
                raise
            raise CheckpointError(f"node {self.turn.members[0]} has given it up") from None

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.turn.nodes > 1:
            self._leave(error, range(1, self.turn.nodes))

    def _leave(self, error: BaseException | None, others: Iterable[int]) -> None:
        """Say so, and why if there was an error; node 0 waits until these others have left, too."""
        rank = self.turn.position
        with suppress(OSError):  # node 0 has left, or the disk is full
            if error is not None:
                self.place.write(f"failed-{rank}", f"{type(error).__name__}: {error}".encode())
            self.place.write(f"left-{rank}", b"")
        end = time.monotonic() + FAREWELL
        while self.turn.is_first and time.monotonic() < end:
            there = self.place.names()
            staying = [other for other in others if f"left-{other}" not in there]
            try:
                gone = self.presence.gone()
            except Error:  # this node was closed
                break
            if all(self.turn.members[other] in gone for other in staying):
                break
            time.sleep(self.directory.pause / 10)

    def _invite(self) -> None:
        self.place.make()
        self.place.write(OPEN, b"")
        answered: set[str] = set()
        taken: set[int] = set()

        def missing(there: set[str]) -> list[int]:
            for rank in set(range(1, self.turn.nodes)) - taken:
                if came := sorted(file for file in there if file.startswith(f"joined-{rank}-")):
                    self.place.write(f"taken-{rank}", came[0].rpartition("-")[2].encode())
                    taken.add(rank)
            away = [rank for rank in range(1, self.turn.nodes) if rank not in taken]
            for hello in self.directory.names() if away else ():
                if hello.startswith(HELLO) and hello not in answered:
                    self.directory.write(f"{INVITED}{hello.rpartition('-')[2]}-{self.name}", b"")
                    answered.add(hello)
            return away

        try:
            self._wait(missing)
        except BaseException as error:
            self._leave(error, taken)
            raise
        finally:
            for hello in answered:  # a node that still waits says it again
                self.directory.remove(hello)
                self.directory.remove(f"{INVITED}{hello.rpartition('-')[2]}-{self.name}")

    def _join(self) -> None:
        end, taken = time.monotonic() + self.timeout, f"taken-{self.turn.position}"
        while not self.name:
            word = os.urandom(8).hex()
            self.name = self._answer(f"{HELLO}{self.turn.position}-{word}", f"{INVITED}{word}-", end)
            try:
                self.place.write(f"joined-{self.turn.position}-{word}", b"")
                self._wait(lambda there: [] if taken in there else [0])
                if self.place.read(taken).decode() == word:
                    return
            except (OSError, CheckpointError) as error:
                logger.debug("meeting %s is over: %s", self.name, error)
            self.name = ""

    def _answer(self, hello: str, invited: str, end: float) -> str:
        """Say hello until node 0 answers; return the meeting's name."""
        found: list[str] = []

        def missing(_: set[str]) -> list[int]:
            names = self.directory.names()
            if hello not in names:
                self.directory.write(hello, b"")
            found[:] = [name.removeprefix(invited) for name in sorted(names) if name.startswith(invited)]
            return [] if found else [0]

        try:
            self._wait(missing, end)
        finally:
            self.directory.remove(hello)
            for name in found:
                self.directory.remove(f"{invited}{name}")
        return found[0]

    def _wait(self, missing: Callable[[set[str]], list[int]], end: float | None = None) -> None:
        """Wait until no node is missing; `missing` is asked with the names of the meeting's files, if it has a name."""
        end = time.monotonic() + self.timeout if end is None else end
        pause = SHORTEST
        while away := missing(there := self.place.names() if self.name else set()):
            for rank in range(self.turn.nodes):
                if f"failed-{rank}" in there:
                    why = self.place.read(f"failed-{rank}").decode()
                    raise CheckpointError(f"node {self.turn.members[rank]} failed: {why}")
            self.presence.require()
            if self.name and OPEN not in there:
                raise CheckpointError(f"node {self.turn.members[0]} has given it up")
            if time.monotonic() >= end:
                absent = [self.turn.members[rank] for rank in away]
                raise WaitTimeoutError(
                    f"nodes {absent} did not come to {self.directory} within {self.timeout:g} s: one process of each "
                    "node has to call this, with a directory that all of them see"
                )
            time.sleep(pause)
            pause = min(2 * pause, self.directory.pause)
