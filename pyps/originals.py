"""What `pyps.lapse` and `pyps.adapm` have in common; they add the two projects' names and orders of arguments.

Programs of both projects call setup once in a process, start nodes by the DMLC_* environment variables, and number
their workers.
"""

from __future__ import annotations

import operator
import threading
import weakref
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import pyps
from pyps import options
from pyps.familiar import ORIGINALS, pointing
from pyps.rendezvous import dmlc
from pyps.rendezvous.environment import read_variables
from pyps.server import TECHNIQUES
from pyps.trace_files import TraceFile

# Seconds. Lapse and AdaPM wait for other nodes for ever. Here the loss of a node ends every wait, usually
# within seconds.
LONGEST_WAIT = 7 * 86_400.0


@dataclass(frozen=True)
class Setup:
    """The arguments of `setup`.

    Attributes
    ----------
    num_keys, num_threads : int
        Keys of the cluster; workers of each node.
    techniques : str
        As for `pyps.Server`.
    channels : int
        Threads of the server.
    options : mapping
        The values of AdaPM's options by their names.
    """

    num_keys: int
    num_threads: int
    techniques: str = "all"
    channels: int = 1
    options: Mapping[str, Any] = field(default_factory=dict)


_setup: Setup | None = None  # kept for the process, as `setup` returns nothing that could be passed to Server


def set_up(
    num_keys: int,
    num_threads: int,
    techniques: str = "",
    channels: int | None = None,
    given: Mapping[str, object] | None = None,
) -> None:
    """Keep the arguments for the next server of this process.

    Parameters
    ----------
    num_keys, num_threads : int
    techniques : str
        If it is empty: the option ``sys.techniques``, or "all".
    channels : int, optional
        If it is None: the option ``sys.channels``, or 1.
    given : mapping, optional
        AdaPM's options by their names; the values may be texts, numbers, True or False.

    Raises
    ------
    TypeError, ValueError
        An argument does not fit.
    """
    global _setup  # noqa: PLW0603
    counts = at_least_one("num_keys", num_keys), at_least_one("num_threads", num_threads)
    values = {name: options.read("argument", name, value) for name, value in (given or {}).items()}
    chosen = techniques or values.get("sys.techniques") or "all"
    if chosen not in TECHNIQUES:
        name = "use_techniques" if techniques else "sys.techniques"
        raise ValueError(f"{name} is {chosen!r}; it must be one of {', '.join(TECHNIQUES)}")
    _setup = Setup(*counts, chosen, channels or values.get("sys.channels") or 1, values)


def required_setup() -> Setup:
    """Return the arguments of `setup`.

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
    at_least_one("num_keys", num_keys)
    at_least_one("num_threads", num_threads)
    dmlc.scheduler()


def at_least_one(name: str, value: int) -> int:
    """Return an integer of at least 1; errors name it."""
    try:
        number = operator.index(value)
    except TypeError:
        raise TypeError(f"{name} must be an integer, not {type(value).__name__}") from None
    if number < 1:
        raise ValueError(f"{name} is {number}; it must be at least 1")
    return number


class Server:
    """A node: connects to the scheduler and returns when all nodes work. Values are float32.

    Parameters
    ----------
    value_lengths : int or array of numbers, shape (num_keys,) or (1,)
        Elements of each value; numpy or torch, whole numbers in floats are fine.

    Attributes
    ----------
    node : pyps.Server
        The node itself, which can do more than this class.

    Raises
    ------
    RuntimeError
        `setup` was not called in this process.
    ValueError
        A variable of the environment is missing, or the nodes differ.
    pyps.WaitTimeoutError, pyps.StartError
        The scheduler or nodes are missing, or failed.

    Warns
    -----
    UserWarning
        The environment has variables of Lapse or AdaPM that do nothing here.
    """

    @pointing(ORIGINALS)
    def __init__(self, value_lengths: Any) -> None:
        setup = required_setup()
        self.num_threads = setup.num_threads
        self.options = setup.options
        self._trace_file: TraceFile | None = None
        traced = setup.options.get("sys.trace.keys") or ()
        node = dmlc.join(
            setup.num_keys,
            value_lengths,
            dtype="float32",
            num_workers=setup.num_threads,
            techniques=setup.techniques,
            server_threads=setup.channels,
            trace_keys=traced,
            **signs_of_life(options.read_variables(read_variables("DMLC_", "PS_", names=("PORT",)))),
        )
        assert isinstance(node, pyps.Server)  # in this environment each process is a node
        self.node = node
        if traced and (directory := setup.options.get("sys.stats.out")):
            self._trace_file = TraceFile(directory, node.rank)
        self._workers: weakref.WeakValueDictionary[int, Worker] = weakref.WeakValueDictionary()
        self._lock, self._ending = threading.Lock(), threading.Lock()

    def my_rank(self) -> int:
        """Return this node's number, from 0."""
        return self.node.rank

    def barrier(self) -> None:
        """Wait until every node has come to a barrier."""
        self.node.barrier(timeout=LONGEST_WAIT)

    def shutdown(self) -> None:
        """Wait until all nodes shut down, then end this one. Any thread may call it, also more than once."""
        with self._ending:  # only one thread at a time may shut a node down
            try:
                self.node.shutdown(timeout=LONGEST_WAIT)
            finally:
                if self._trace_file is not None:
                    self._trace_file.add(self.node.trace())

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
        self.tells_timestamps = True

    def get_key_size(self, key_id: int = 0) -> int:
        """Return the number of elements of a key's value."""
        return super().get_key_size(key_id)

    def barrier(self, timeout: float | None = LONGEST_WAIT) -> None:
        """Wait until every worker of every node has come to a barrier; `timeout` in seconds."""
        super().barrier(timeout)


def signs_of_life(variables: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options of `pyps.Server` for the variables about heartbeats."""
    interval, timeout = (variables.get(f"PS_HEARTBEAT_{name}", 0.0) for name in ("INTERVAL", "TIMEOUT"))
    found = {"heartbeat": interval, "lost_after": timeout}
    if interval and not timeout:
        found["lost_after"] = max(3.0, 3 * interval)
    elif timeout and not interval:
        found["heartbeat"] = min(0.5, timeout / 3)
    return {name: seconds for name, seconds in found.items() if seconds}
