"""A node, as a process that attached to it sees it, and its workers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pyps import _core, zeromq
from pyps.arrays import as_keys, read_lengths
from pyps.contents import capacity_of, eviction_number, options_in, seconds_of_age, uses_of_admission
from pyps.dtypes import find_dtype
from pyps.errors import ClosedError
from pyps.latencies import OPERATIONS, PLACES, Latencies
from pyps.named_settings import initializer_text, optimizer_text
from pyps.text_keys import TextOperations

if TYPE_CHECKING:
    from pyps.initializers import Initializer
    from pyps.optim import Optimizer

KEYS_AT_ONCE = 1 << 16  # that `Worker.keys` yields


@dataclass(frozen=True)
class Job:
    """Which process this is among those that were started together, for example by torchrun or `moontide launch`.

    Attributes
    ----------
    rank, world_size : int
        This process's number, and the number of processes. If several processes share a node, these differ from
        the node's `rank` and `num_nodes`.
    local_rank : int
        Its number among the processes of this host; 0 if the job does not tell.
    """

    rank: int = 0
    world_size: int = 1
    local_rank: int = 0


class Node(_core.Node):
    """A store of parameters in shared memory, and what this process may do with it.

    Use it as a context manager, or call `shutdown`. After an exception the context manager closes it at once.

    Attributes
    ----------
    num_keys : int or None
        None: keys may be any numbers.
    value_length : int or None
        Elements of every key's value; None if they differ.
    total_values : int
        Elements of all values together; 0 if keys may be any numbers.
    dtype : pyps.dtypes.Dtype
    is_open : bool
    job : Job
        Which process this is, if `pyps.init` started the cluster.
    """

    job = Job()
    _optimizer: Optimizer | None = None

    @property
    def optimizer(self) -> Optimizer | None:
        """What is applied to pushed gradients, with its settings; None if pushes add."""
        if self._optimizer is None and self.optimizer_text():
            from pyps.optim import of_node

            self._optimizer = of_node(self)
        return self._optimizer

    def use_optimizer(self, optimizer: Optimizer | str | None) -> str:
        """Let an optimizer be the one of this node, which has it or is about to have it; return its text."""
        text = optimizer_text(optimizer)
        if optimizer is not None and not isinstance(optimizer, str):
            text = optimizer.bind(self)
            self._optimizer = optimizer
        return text

    def worker(self) -> Worker:
        """Return a new worker of this node, for one thread."""
        return Worker(self)

    def table(
        self,
        name: str,
        dim: int | Sequence[int] | ArrayLike | None = None,
        *,
        num_keys: int | None = None,
        capacity: int | None = None,
        dtype: object = "float32",
        optimizer: Optimizer | str | None = None,
        initializer: Initializer | str | None = None,
        memory_limit: int | None = None,
        hash: str | None = None,  # noqa: A002
        eviction: str | None = None,
        max_age: float | None = None,
        admission: int | None = None,
        timeout: float | None = None,
    ) -> Table:
        """Return a named table of the server, and make it on all nodes if there is none of the name.

        Its keys, values, optimizer and memory are apart from those of the server and of other tables. Every process of
        every node can name it, before or after others: with the same options, or with its name alone.

        Parameters
        ----------
        name : str
            Of 1 to 63 letters, digits, ``_``, ``-`` and ``.``.
        dim : int or array of int, optional
            Elements of each value. With `capacity`, also the lengths of up to 128 classes of keys, see `classed_keys`.
            Without it, wait until another process has made the table.
        num_keys, capacity, dtype, optimizer, initializer, memory_limit, eviction, max_age, admission
            As for `Server`. Without `num_keys`, keys may be any int64 but -1.
        hash : str, optional
            "xxh64": keys are texts, which stand for their hashes (see `hashed_keys`).
        timeout : float, optional
            Seconds to wait for all nodes, or for another process to make it; default 300.

        Returns
        -------
        Table

        Raises
        ------
        ValueError
            The table is there with other options; or an option is wrong.
        RuntimeError
            A node cannot make its part, for example for want of memory; or this node is not connected yet.
        NodeLost
            A new table of a server without replicas needs all nodes, and one was lost or has left.
        WaitTimeoutError
            A node, or another process, did not do its part in time.

        Examples
        --------
        >>> import pyps
        >>> with pyps.Server(10) as server, server.worker() as kv:
        ...     users = server.table("users", dim=4, optimizer="adagrad:lr=0.1")
        ...     kv.table("users").pull([7, 1 << 40]).shape
        (2, 4)
        """
        if dim is None:
            options = {
                "num_keys": num_keys,
                "capacity": capacity,
                "optimizer": optimizer,
                "initializer": initializer,
                "memory_limit": memory_limit,
                "hash": hash,
                "eviction": eviction,
                "max_age": max_age,
                "admission": admission,
            }
            if given := [option for option, value in options.items() if value is not None]:
                raise TypeError(f"{', '.join(given)} of table {name!r} need dim, the elements of its values")
        return Table(
            self,
            name,
            optimizer,
            num_keys=num_keys or 0,
            capacity=capacity_of(num_keys, capacity),
            value_lengths=None if dim is None else read_lengths(dim),
            dtype=find_dtype(dtype),
            memory_limit=memory_limit or 0,
            initializer=initializer_text(initializer),
            hash=hash or "",
            eviction=eviction_number(eviction),
            max_age=seconds_of_age(max_age),
            admission=uses_of_admission(1 if admission is None else admission),
            timeout=timeout,
        )

    def latencies(self) -> dict[tuple[str, str], Latencies]:
        """Return how long the operations of all workers that this node has had took, since the node was created.

        Returns
        -------
        dict of tuple of str to Latencies
            By kind ("pull", "push", "set", "localize") and by whether all was in this node's memory ("local") or
            another node was needed ("remote"). All remote operations are counted, from sending until the last answer
            was taken; of the local ones every 61st of each worker.
        """
        return {
            (operation, place): Latencies(*self.latency_counts(number, place == "remote"))
            for number, operation in enumerate(OPERATIONS)
            for place in PLACES
        }

    def get_key_size(self, key: int = 0) -> int:
        """Return the number of elements of a key's value.

        Raises
        ------
        ValueError
            The store has no such key.
        """
        return self.total_length(as_keys(key))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.shutdown(timeout=0 if kind else None)

    def __repr__(self) -> str:
        length = self.value_length or "varying"
        state = "open" if self.is_open else "shut down"
        keys = "any" if self.num_keys is None else self.num_keys
        what = f"{keys} keys, value_length {length}, {self.dtype.name}"
        return f"<pyps.{type(self).__name__} {what}, {state}>"


class Table(Node):
    """A named table of a server, as `Node.table` returns it: a node with keys and values of its own.

    `worker` gives it workers; ``kv.table(name)`` does for a worker of the server. Its end does not end the table:
    `Node.drop_table` does, and the server's end.

    Attributes
    ----------
    name : str
    node : Node
        That has the table.
    options : str
        What it was made with, as `Node.table_options` has it.
    """

    def __init__(self, node: Node, name: str, optimizer: Optimizer | str | None, **options: Any) -> None:
        self.name, self.node = name, node
        zeromq.load()
        super().__init__(beside=node, name=name, optimizer=self.use_optimizer(optimizer), **options)
        try:
            self.options = node.table_options(name)
        except ClosedError:
            raise
        except RuntimeError:
            raise ClosedError(f"table {name!r} was dropped") from None

    @property
    def hash(self) -> str:
        """By what texts become keys; empty where keys are numbers."""
        return options_in(self.options).get("hash", "")

    def worker(self) -> Worker:
        """Return a new worker of this table, for one thread."""
        return TextWorker(self) if self.hash else Worker(self)

    def __repr__(self) -> str:
        return f"{super().__repr__()[:-1]}, table {self.name!r} of {self.node!r}>"


class Worker(_core.SamplingWorker):
    """A worker of a node: reads and changes parameters.

    One per thread is fastest; calls of several threads with one worker run one after another. Use it as a
    context manager, or call `finalize`.

    Parameters
    ----------
    node : Node
        A server of this process, or a node that it attached to.
    """

    _tables: dict[str, Worker] | None = None

    def __init__(self, node: Node) -> None:
        super().__init__(node)
        self.node = node

    def get_key_size(self, key: int = 0) -> int:
        """Return the number of elements of a key's value."""
        return self.node.get_key_size(key)

    def table(self, name: str, *, timeout: float | None = None) -> Worker:
        """Return this worker's worker of a named table: the same one until it is finalized or the table dropped.

        Its clock is this one's, and it ends with this one. Its operations, waits and barriers are its own.

        Parameters
        ----------
        name : str
        timeout : float, optional
            Seconds to wait until the table is there; default 300.

        Raises
        ------
        WaitTimeoutError
            No process has made the table in time: see `Node.table`.
        """
        if self._tables is None:
            self._tables = {}
        worker = self._tables.get(name)
        if worker is None or not worker.id or not worker.node.is_open:
            worker = self._tables[name] = self.node.table(name, timeout=timeout).worker()
            self.lead(worker)
        return worker

    def finalize(self, timeout: float | None = None) -> None:
        """Wait for this worker's operations, also those on tables, and leave the node. May be called again.

        Any thread may call it.

        Parameters
        ----------
        timeout : float, optional
            Seconds to wait for operations that are on their way, for those on each table as well; default 300. With 0
            they may be lost.

        Raises
        ------
        WaitTimeoutError, NodeLost
            Some operations did not end in time. The worker has left all the same.
        """
        with ExitStack() as all_of_them:
            all_of_them.callback(super().finalize, timeout)
            for worker in (self._tables or {}).values():
                all_of_them.callback(worker.finalize, timeout)

    def keys(self, chunk: int = KEYS_AT_ONCE) -> Iterator[NDArray[np.int64]]:
        """Yield the keys that live on this node, in arrays of at most `chunk`.

        Others go on meanwhile. A key that lives here all the time is named exactly once; one that comes, goes or is
        made meanwhile may be named or not, or twice if it is deleted and made again. All nodes together name every key
        that neither moves nor is deleted.

        Parameters
        ----------
        chunk : int

        Yields
        ------
        int64 array, shape (n,), with 0 < n <= chunk

        Raises
        ------
        ValueError
            `chunk` is less than 1.
        """
        if chunk < 1:
            raise ValueError(f"chunk is {chunk}; it must be at least 1")
        at, count = 0, chunk
        while count == chunk:
            found = np.empty(chunk, np.int64)
            count, at = self.find_keys(found, at)
            if count:
                yield found[:count]

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        # No waiting after a failure, as the wait might fail for the same reason.
        self.finalize(None if kind is None else 0)

    def __repr__(self) -> str:
        return f"<pyps.{type(self).__name__} {self.id or 'finalized'} of {self.node!r}>"


class TextWorker(TextOperations, Worker):
    """A worker of a table whose keys are texts."""


def attach(address: str, *, timeout: float = 10.0) -> Node:
    """Attach to the server of another process of this user on this host.

    Parameters
    ----------
    address : str
        The server's `address`.
    timeout : float
        Seconds to wait for its answer.

    Raises
    ------
    ValueError
        This is no address.
    AttachError
        No server answers there, or it refused this process.
    """
    if not isinstance(address, str):
        raise TypeError(f"address must be a str, not {type(address).__name__}")
    return Node(address, timeout=timeout)
