"""What programs of Lapse and AdaPM rely on: one set-up per process, a node of the DMLC_* environment, numbered workers.

`pyps.lapse` and `pyps.adapm` give it the two projects' names and orders of arguments.
"""

from __future__ import annotations

import operator
import threading
import weakref
from dataclasses import dataclass
from typing import Any

import pyps
from pyps.familiar import ORIGINALS, pointing
from pyps.rendezvous import dmlc
from pyps.server import TECHNIQUES
from pyps.timestamps import ANSWERED

# Seconds. The originals wait for other nodes for ever; a node that is lost ends every wait much sooner.
LONGEST_WAIT = 7 * 86_400.0


@dataclass(frozen=True)
class Setup:
    """What `setup` was told.

    Attributes
    ----------
    num_keys, num_threads : int
        Keys of the cluster; workers of each node.
    techniques : str
        As for `pyps.Server`.
    """

    num_keys: int
    num_threads: int
    techniques: str = "all"


_setup: Setup | None = None  # of this process, as `setup` returns nothing that could be passed on


def set_up(num_keys: int, num_threads: int, techniques: str = "all") -> None:
    """Remember what the next server of this process is like.

    Raises
    ------
    TypeError, ValueError
        An argument does not fit.
    """
    global _setup  # noqa: PLW0603
    if techniques not in TECHNIQUES:
        raise ValueError(f"use_techniques is {techniques!r}; it must be one of {', '.join(TECHNIQUES)}")
    _setup = Setup(_at_least_one("num_keys", num_keys), _at_least_one("num_threads", num_threads), techniques)


def required_setup() -> Setup:
    """Return what `setup` was told.

    Raises
    ------
    RuntimeError
        It was not called in this process.
    """
    if _setup is None:
        raise RuntimeError("call setup(num_keys, num_threads) in this process before creating a Server")
    return _setup


def schedule(num_keys: int, num_threads: int) -> None:
    """Bring the nodes of the DMLC_* environment together; returns when all have shut down.

    Parameters
    ----------
    num_keys, num_threads : int
        As for `setup`; the nodes agree on them by themselves.
    """
    _at_least_one("num_keys", num_keys)
    _at_least_one("num_threads", num_threads)
    dmlc.scheduler()


class Server:
    """A node: connects to the scheduler and returns when all nodes work. Values are float32.

    Parameters
    ----------
    value_lengths : int or array of numbers, shape (num_keys,) or (1,)
        Elements of each value; numpy or torch, whole numbers in floats are fine.

    Attributes
    ----------
    node : pyps.Server
        For everything else that a node of pyps can do.

    Raises
    ------
    RuntimeError
        `setup` was not called in this process.
    ValueError
        The environment does not say all, or the nodes disagree.
    pyps.WaitTimeoutError, pyps.StartError
        The scheduler or nodes are missing, or failed.
    """

    @pointing(ORIGINALS)
    def __init__(self, value_lengths: Any) -> None:
        setup = required_setup()
        self.num_threads = setup.num_threads
        node = dmlc.join(
            setup.num_keys,
            value_lengths,
            dtype="float32",
            num_workers=setup.num_threads,
            techniques=setup.techniques,
        )
        assert isinstance(node, pyps.Server)  # each process of this environment is a node by itself
        self.node = node
        self._workers: weakref.WeakValueDictionary[int, Worker] = weakref.WeakValueDictionary()
        self._lock, self._ending = threading.Lock(), threading.Lock()

    def my_rank(self) -> int:
        """Return this node's number, from 0."""
        return self.node.rank

    def barrier(self) -> None:
        """Wait until every node has come to a barrier."""
        self.node.barrier(timeout=LONGEST_WAIT)

    def shutdown(self) -> None:
        """Wait until all nodes shut down, and leave. May be called again, and from any thread."""
        with self._ending:  # a node is shut down by one thread at a time
            self.node.shutdown(timeout=LONGEST_WAIT)

    def add_worker(self, worker: Worker, number: int, first: int) -> None:
        """Give a worker its number.

        Raises
        ------
        TypeError, ValueError
            The node has no such number, or another worker has it.
        """
        try:
            number = operator.index(number)
        except TypeError:
            raise TypeError(f"customer_id must be an integer, not {type(number).__name__}") from None
        end = first + self.num_threads
        if not first <= number < end:
            raise ValueError(
                f"customer_id is {number}; setup(..., num_threads={self.num_threads}) has workers {first} to {end - 1}"
            )
        with self._lock:
            former = self._workers.get(number)
            if former is not None and former.id != 0:
                raise ValueError(f"customer_id is {number}, which another worker of this server has")
            self._workers[number] = worker

    def __repr__(self) -> str:
        return f"<{type(self).__module__}.Server of {self.node!r}>"


class Worker(pyps.Worker):
    """A worker of a server, for one thread.

    Parameters
    ----------
    number : int
        Which one of the node's workers.
    server : Server
    first : int
        The number of the first one.
    """

    def __init__(self, number: int, server: Server, first: int) -> None:
        if not isinstance(server, Server):
            raise TypeError(f"server must be a Server, not {type(server).__name__}")
        server.add_worker(self, number, first)
        super().__init__(server.node)
        self.ended = ANSWERED  # as the originals return -1

    def get_key_size(self, key_id: int = 0) -> int:
        """Return the number of elements of a key's value."""
        return super().get_key_size(key_id)

    def barrier(self, timeout: float | None = LONGEST_WAIT) -> None:
        """Wait until every worker of every node has come to a barrier; `timeout` in seconds."""
        super().barrier(timeout)


def _at_least_one(name: str, value: int) -> int:
    try:
        number = operator.index(value)
    except TypeError:
        raise TypeError(f"{name} must be an integer, not {type(value).__name__}") from None
    if number < 1:
        raise ValueError(f"{name} is {number}; it must be at least 1")
    return number
