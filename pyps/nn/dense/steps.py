"""How far each worker of a model is, for those that wait for each other: a table of numbers that all of them read.

Workers have ranks, and a session begins when all of them have come. Numbers of an earlier session, whose workers were
killed, may be there still; so nothing counts that did not answer to a number drawn anew: rank 0 offers one, each other
rank answers with it and with a number of its own, and begins when rank 0 has sent that back. How far a rank is goes on
from where it was, as another one may still look at how the last session ended; rank 0 says where each began.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable
from contextlib import suppress

import numpy as np
from numpy.typing import NDArray

from pyps.errors import Error, WaitTimeoutError
from pyps.nn.dense.waiting import wait_until
from pyps.node import Worker

STEPS = "{}.steps"  # the table of int64
OFFER = 0  # a key; the others are a number for each rank, or parameter, from these on
OWN, ANSWER, WELCOME, NODE, REACHED, BEGUN, USES = (number << 32 for number in range(1, 8))
WORKS, LEFT, FAILED = range(
    3
)  # states of a rank; its number is four times how far it has come, and the state
LOOK_AFTER = 1.0  # seconds of waiting after which a worker looks whether others of its node have gone


class Steps:
    """One rank's view of how far all are.

    Parameters
    ----------
    kv : Worker
        Of the server.
    name : str
        Of the model.
    rank, workers : int
    timeout : float
        Seconds that each wait takes at most.
    """

    def __init__(self, kv: Worker, name: str, rank: int, workers: int, timeout: float) -> None:
        if not 0 <= rank < workers:
            raise ValueError(f"rank is {rank}; it must be in [0, {workers}), as there are {workers} workers")
        self.name, self.rank, self.workers, self.timeout = name, rank, workers, timeout
        table = kv.node.table(STEPS.format(name), dim=1, dtype="int64", timeout=timeout)
        self._node, self._kv = table, table.worker()
        self._ranks = np.arange(workers)
        self._begun = np.zeros(workers, np.int64)
        self._reached, self._has_failed = 0, False

    def begin(self, prepare: Callable[[], None] = lambda: None) -> None:
        """Wait until all ranks have come; rank 0 calls `prepare` before any other goes on.

        Raises
        ------
        WaitTimeoutError
            Some have not come in time.
        ValueError
            There are more workers than there are ranks.
        """
        own = secrets.randbits(62)
        try:
            self._begun[self.rank] = self._numbers()[0][self.rank]
            self._write(NODE + self.rank, self._node.rank)
            self.tell(0)
            self._write(OWN + self.rank, own)
            if self.rank == 0:
                prepare()
                self._gather(own)
            else:
                self._answer(own)
        except BaseException:
            self.close()
            raise

    def tell(self, reached: int) -> None:
        """Say how far this rank is: everything that it has done before is done.

        Raises
        ------
        Error
            It has failed before.
        """
        if self._has_failed:
            raise Error(
                f"this worker of model {self.name!r} failed before: make a new Distributed in all of them"
            )
        self._reached = reached
        self._say(WORKS)

    def wait(self, reached: int, *, all_stay: bool) -> None:
        """Wait until every rank is so far, or with ``all_stay=False`` has left.

        Raises
        ------
        Error
            A rank that is not so far has failed, was killed or, with `all_stay`, has left.
        WaitTimeoutError
            Some are not so far in time.
        """
        if self.workers == 1:
            return
        look = time.monotonic() + LOOK_AFTER

        def done() -> bool:
            nonlocal look
            at, states = self._states()
            late = at < reached if all_stay else (at < reached) & (states != LEFT)
            if not late.any():
                return True
            if (failed := late & (states == FAILED)).any():
                raise Error(f"{self._named(failed)} of model {self.name!r} failed: see the error there")
            if (gone := late & (states == LEFT)).any():
                raise Error(
                    f"{self._named(gone)} of model {self.name!r} left, and all workers have to make the same "
                    "number of steps: give each as many batches"
                )
            if time.monotonic() > look:
                look = time.monotonic() + LOOK_AFTER
                self._reclaim()
                if self._missing() > 0:
                    raise Error(
                        f"a worker of model {self.name!r} on this node has ended without saying so; not as far as the "
                        f"others is {self._named(late)}"
                    )
            return False

        wait_until(done, self.timeout, lambda: self._late(reached))

    def use(self, parameters: NDArray[np.int64]) -> None:
        """Count a gradient of each of these parameters, by their numbers."""
        self._kv.push(USES + parameters, np.ones((len(parameters), 1), np.int64), timeout=self.timeout)

    def uses(self, parameters: int) -> NDArray[np.int64]:
        """Return how many gradients there were of each of so many parameters since the table was made."""
        return self._read(USES + np.arange(parameters))

    def fail(self) -> None:
        """Say that this rank cannot go on: all that wait for it raise an error."""
        with suppress(Error):  # the server may be closed, or its node lost
            self._say(FAILED)

    def close(self) -> None:
        """Say that this rank makes no more steps, unless it has failed, and leave."""
        with suppress(Error):
            if not self._has_failed:
                self._say(LEFT)
        with suppress(Error):
            self._kv.finalize(0)

    def _gather(self, own: int) -> None:
        self._write(OFFER, own)
        others = self._ranks[1:]

        def missing() -> str:
            away = self._read(ANSWER + self._ranks) != own
            away[0] = False
            return f"{self._named(away)} of the {self.workers} workers of model {self.name!r} did not come"

        wait_until(lambda: bool((self._read(ANSWER + others) == own).all()), self.timeout, missing)
        if self._missing() < 0:
            self._reclaim()
        if self._missing() < 0:
            raise ValueError(
                f"model {self.name!r} has more workers on this node than the {self.workers} that were said: give each "
                "a rank=, and all of them workers=, how many they are"
            )
        self._begun = self._numbers()[0]
        self._kv.set(BEGUN + self._ranks, self._begun.reshape(-1, 1), timeout=self.timeout)
        if len(others):
            self._kv.set(WELCOME + others, self._read(OWN + others).reshape(-1, 1), timeout=self.timeout)

    def _answer(self, own: int) -> None:
        seen = 0

        def welcome() -> bool:
            nonlocal seen
            offer, sent_back = self._read(np.array([OFFER, WELCOME + self.rank]))
            if offer != seen:
                seen = int(offer)
                self._write(ANSWER + self.rank, seen)
            return bool(sent_back == own)

        wait_until(
            welcome,
            self.timeout,
            lambda: (
                f"not all of the {self.workers} workers of model {self.name!r} came, that of rank 0 among them,"
            ),
        )

    def _missing(self) -> int:
        """How many workers of this node have ended without saying so; below zero if there are too many."""
        here = self._read(NODE + self._ranks) == self._node.rank
        stay = self._numbers()[1] != LEFT
        return int((here & stay).sum()) - self._node.stats()["workers"]

    def _reclaim(self) -> None:
        """Let the node notice which workers were killed, as it does while others wait in a barrier."""
        with suppress(WaitTimeoutError):
            self._kv.barrier(0.1)

    def _late(self, reached: int) -> str:
        late = self._states()[0] < reached
        return f"{self._named(late)} of model {self.name!r} did not come as far as the others wait for"

    def _named(self, which: NDArray[np.bool_]) -> str:
        ranks = ", ".join(map(str, np.flatnonzero(which)))
        return f"rank {ranks}" if which.sum() == 1 else f"ranks {ranks}"

    def _say(self, state: int) -> None:
        self._has_failed = state == FAILED
        self._write(REACHED + self.rank, 4 * (int(self._begun[self.rank]) + self._reached) + state)

    def _numbers(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return how far each rank is since the table was made, and its state."""
        numbers = self._read(REACHED + self._ranks)
        return numbers // 4, numbers % 4

    def _states(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return how far each rank is in this session, and its state."""
        at, states = self._numbers()
        return at - self._begun, states

    def _read(self, keys: NDArray[np.int64]) -> NDArray[np.int64]:
        found: NDArray[np.int64] = self._kv.pull(keys, timeout=self.timeout).reshape(-1)
        return found

    def _write(self, key: int, number: int) -> None:
        self._kv.set([key], np.array([[number]]), timeout=self.timeout)
