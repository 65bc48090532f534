"""A node, as a process that attached to it sees it, and its workers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from types import TracebackType
from typing import TYPE_CHECKING, Self

import numpy as np
from numpy.typing import NDArray

from pyps import _core
from pyps.arrays import as_keys
from pyps.latencies import OPERATIONS, PLACES, Latencies
from pyps.named_settings import optimizer_text

if TYPE_CHECKING:
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
            optimizer.bind(self)
            self._optimizer = optimizer
        return text

    def worker(self) -> Worker:
        """Return a new worker of this node, for one thread."""
        return Worker(self)

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


class Worker(_core.SamplingWorker):
    """A worker of a node: reads and changes parameters.

    One per thread is fastest; calls of several threads with one worker run one after another. Use it as a
    context manager, or call `finalize`.

    Parameters
    ----------
    node : Node
        A server of this process, or a node that it attached to.
    """

    def __init__(self, node: Node) -> None:
        super().__init__(node)
        self.node = node

    def get_key_size(self, key: int = 0) -> int:
        """Return the number of elements of a key's value."""
        return self.node.get_key_size(key)

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
