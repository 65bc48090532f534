"""The parameter server of one host, or one of several: the node that this process creates."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from numpy.typing import ArrayLike

from pyps import zeromq
from pyps.arrays import as_weights, read_lengths
from pyps.dtypes import find_dtype
from pyps.errors import ClosedError
from pyps.familiar import NODE, pointing
from pyps.node import Node, Worker
from pyps.tracing import TraceEvent, begin_trace, take_trace

logger = logging.getLogger(__name__)

TECHNIQUES = ("all", "replication_only", "relocation_only")
ON_LOSS = ("fail", "continue")
DEFAULT_CAPACITY = 1_000_000


class Server(Node):
    """A node that this process creates; its values start as zeros.

    Parameters
    ----------
    num_keys : int, optional
        The keys are 0 to ``num_keys - 1``. Without it keys are any int64 but -1, names rather than positions: a key
        takes memory on a node from its first use there on, which a pull is too, and begins with zeros.
    value_length : int or array of int, shape (num_keys,) or (1,)
        Elements of each value, one number for all keys or one each, which needs `num_keys`; whole numbers in floats are
        fine.
    dtype : str, numpy or torch dtype
        float32, float64, float16, bfloat16, int32 or int64.
    max_workers : int
        How many workers there may be at once; at most 4094.
    num_workers : int
        Workers of this node that are to come: barriers wait until so many have joined. By default only those that are
        there are waited for; then a barrier of several nodes may pass before another node has its first worker.
        `pyps.init` expects one of each process of the node, where the job says how many these are.
    memory_limit : int, optional
        Bytes of shared memory that the store may take; by default what the host has. Of several nodes: what would bring
        more keys here is a MemoryError and changes nothing; keys of an intent that no longer fit when it begins stay
        where they are (`keys_without_room` in the statistics), and a key whose owner has no room for its side of a
        replica gets none.
    latch_timeout : float
        Seconds until it is an error that another worker holds a key.
    num_nodes, rank : int
        How many nodes share the keys, and which of them this is, from 0. With more than one, `bind` it, exchange the
        endpoints, and `connect` it; it works from then on.
    techniques : str
        What an intent does: "all" gives a key to the only node that wants it and replicas to several;
        "replication_only" and "relocation_only" do one of these.
    cluster : int
        A number that the nodes share; messages of others are refused.
    heartbeat : float
        Seconds between the signs of life that nodes give each other.
    lost_after : float
        Seconds of silence after which a node is lost, at least three times `heartbeat`. A node whose process has ended
        is noticed at once.
    on_loss : str
        What the loss of a node means, the same for all nodes. "fail": every call of every worker raises `NodeLost`
        from then on, also those that touch local keys only. "continue": operations on their way raise it once; then
        the others go on, if they are more than half of the nodes, or half of them with the lowest rank, or know that
        all others have ended. Keys whose values were on the lost node raise `NodeLost` each time.
    in_flight : int
        Bytes of keys and values that each worker may have on their way between nodes, besides 4096 operations; 0 means
        64 MiB. A call for more, asynchronous or not, first waits until earlier ones have ended, for 300 seconds at
        most; then it raises `WaitTimeoutError` and nothing of it was sent. An operation that is larger goes alone.
    server_threads : int
        Threads of this node's server among which its keys are shared, the same on all nodes. One serves some hundred
        thousand keys a second and more; others pay where a node has processors for them beside its workers'.
    capacity : int
        Without `num_keys`: of how many keys this node can have the value or know where it is, at most. A call that
        would use more raises MemoryError, and so does one beyond `memory_limit`; nobody else notices. The room of a key
        is not given back before the server ends.
    trace_keys : array of int, or "all"
        Keys of which `trace` tells what happened to them here.
    curve : tuple of str, optional
        The cluster's public and secret CURVE key, 40 characters each as ``zmq.curve_keypair()`` makes them: what nodes
        and workers say to each other is encrypted, and who has other keys is refused.

    Raises
    ------
    ValueError, TypeError
        A parameter does not fit.
    MemoryError
        The host or the limit has no room.

    Examples
    --------
    >>> with Server(1000, 10) as server, server.worker() as kv:
    ...     kv.push([3], np.ones(10, np.float32))
    """

    @pointing(NODE)
    def __init__(
        self,
        num_keys: int | None = None,
        value_length: int | Sequence[int] | ArrayLike = 1,
        *,
        dtype: object = "float32",
        max_workers: int = 256,
        num_workers: int = 0,
        memory_limit: int | None = None,
        latch_timeout: float = 10.0,
        num_nodes: int = 1,
        rank: int = 0,
        techniques: str = "all",
        cluster: int = 0,
        heartbeat: float = 0.5,
        lost_after: float = 3.0,
        on_loss: str = "fail",
        in_flight: int = 0,
        server_threads: int = 1,
        capacity: int | None = None,
        trace_keys: ArrayLike | str = (),
        curve: tuple[str, str] | None = None,
    ) -> None:
        if max_workers == 0 or memory_limit == 0 or latch_timeout == 0 or server_threads == 0:
            raise ValueError("max_workers, memory_limit, latch_timeout and server_threads must be above 0")
        if heartbeat == 0 or lost_after == 0:
            raise ValueError("heartbeat and lost_after must be above 0")
        if on_loss not in ON_LOSS:
            raise ValueError(f"on_loss is {on_loss!r}; it must be one of {', '.join(ON_LOSS)}")
        if techniques not in TECHNIQUES:
            raise ValueError(f"techniques is {techniques!r}; it must be one of {', '.join(TECHNIQUES)}")
        if num_keys is not None and capacity is not None:
            raise ValueError(
                f"capacity is for keys that may be any numbers, and num_keys is {num_keys}: give one of them"
            )
        if capacity == 0:
            raise ValueError("capacity must be above 0")
        if curve is not None and not (isinstance(curve, tuple | list) and len(curve) == 2):
            raise TypeError(f"curve must be a pair of keys, (public, secret), not {type(curve).__name__}")
        if num_nodes > 1 or num_keys is None:
            zeromq.load()
        self._refusal_logged = False
        super().__init__(
            num_keys=num_keys or 0,
            capacity=0 if num_keys is not None else DEFAULT_CAPACITY if capacity is None else capacity,
            value_lengths=read_lengths(value_length),
            dtype=find_dtype(dtype),
            max_workers=max_workers,
            num_workers=num_workers,
            memory_limit=memory_limit or 0,
            latch_timeout=latch_timeout,
            num_nodes=num_nodes,
            rank=rank,
            techniques=TECHNIQUES.index(techniques),
            cluster=cluster,
            heartbeat=heartbeat,
            lost_after=lost_after,
            on_loss=ON_LOSS.index(on_loss),
            in_flight=in_flight,
            server_threads=server_threads,
        )
        if curve is not None:
            zeromq.load()
            self.secure(*curve)
        begin_trace(self, trace_keys)

    @property
    def address(self) -> str:
        """Where processes of this user on this host attach; from its first use on, a thread listens."""
        return self.listen()

    def stats(self) -> dict[str, int]:
        """Return what is counted, as a dict of int; `pyps.Node.stats` names all of it, with units.

        The first refusal is logged once, with its reason, by this or at the end.
        """
        stats = super().stats()
        if stats["refused"] and not self._refusal_logged:
            self._refusal_logged = True
            logger.warning(
                "node %d refused %d messages; the first one: %s",
                self.rank,
                stats["refused"],
                self.first_refusal(),
            )
        return stats

    def trace(self) -> list[TraceEvent]:
        """Return what happened to the `trace_keys` here since the last call; also after `shutdown`."""
        return take_trace(self)

    def shutdown(self, timeout: float | None = None) -> None:
        """Close the node for every worker. May be called again.

        A node of several has keys that others may still need: its workers are finished, but it goes on for the others
        until all nodes have come to their shutdown. While this process has created another node of the cluster that has
        not come to it, it does not wait.

        Parameters
        ----------
        timeout : float, optional
            Seconds to wait for the other nodes; 300 unless said. With 0 it closes at once.

        Raises
        ------
        WaitTimeoutError
            Some did not come. This node is closed, and what they still do with its keys fails.
        """
        if self.num_nodes > 1:
            with suppress(ClosedError):  # it was shut down already, perhaps meanwhile
                self.stats()
        super().shutdown(timeout)

    def enable_sampling_support(
        self,
        scheme: str,
        with_replacement: bool,
        distribution: str,
        min: int,  # noqa: A002
        max: int,  # noqa: A002
        *,
        weights: ArrayLike | None = None,
        seed: int | None = None,
        pool_size: int = 250,
        pool_uses: int = 16,
    ) -> None:
        """Let the workers of this node draw samples of keys, with `prepare_sample` and `pull_sample`.

        Once per node; attached processes sample as well. Each node has a setting of its own.

        Parameters
        ----------
        scheme : str
            "naive" draws when a sample is prepared and pulls from wherever the keys live; "preloc" has an intent for
            the drawn keys as well; "pool" takes keys from pools that were drawn and made local before, and uses each
            several times; "local" takes in place of each drawn key the next one that lives on this node. Where intents
            bring keys here, "local" therefore draws mostly such as the workers of this node use.
        with_replacement : bool
            Whether a sample may have a key several times. If not, its keys are as if drawn one after another, each
            from those that are left.
        distribution : str
            "uniform"; "log-uniform", where key ``min + k`` has the probability
            ``log((k + 2) / (k + 1)) / log(max - min + 1)``; "weighted", by `weights`.
        min, max : int
            Keys of [min, max) are drawn.
        weights : array of numbers, shape (max - min,), optional
            How often each key is drawn in comparison to others; finite, not negative, not all zero. They are read now.
            The node keeps 8 bytes for each.
        seed : int, optional
            With it, the n-th worker that joins node r draws the same keys in every run. Workers of one seed draw
            different keys. By default each run has other ones.
        pool_size, pool_uses : int
            Of "pool": how many draws a pool has, and how often each is used. Every sample by itself is distributed as
            with "naive"; samples depend on each other as long as they come from the same pools, two of which are in
            use by a worker at a time.

        Raises
        ------
        ValueError
            An argument does not fit.
        RuntimeError
            Sampling is enabled already.
        MemoryError
            There is no room for the weights.

        Notes
        -----
        The schemes are those of NuPS (A. Renz-Wieland et al., SIGMOD 2022) and AdaPM.
        """
        if pool_size == 0 or pool_uses == 0:
            raise ValueError("pool_size and pool_uses must be above 0")
        self.enable_sampling(
            scheme,
            distribution,
            min,
            max,
            with_replacement=with_replacement,
            weights=None if weights is None else as_weights(weights),
            seed=seed,
            pool_size=pool_size,
            pool_uses=pool_uses,
        )


class LocalWorker(Worker):
    """A worker with a server of its own, which ends with it."""

    def finalize(self, timeout: float | None = None) -> None:
        """Leave the node and shut it down. May be called again, and from any thread."""
        super().finalize(timeout)
        self.node.shutdown()


@pointing(NODE)
def local(
    num_keys: int | None = None, value_length: int | Sequence[int] | ArrayLike = 1, **options: Any
) -> LocalWorker:
    """Start a server inside this process, without ports or threads where it has `num_keys`, and return a worker of it.

    Parameters
    ----------
    num_keys, value_length, **options
        As for `Server`.

    Returns
    -------
    LocalWorker
        A context manager; the server ends with it. ``kv.node.worker()`` makes further workers.

    Examples
    --------
    >>> with local(num_keys=1000, value_length=10) as kv:
    ...     kv.push([3], np.ones(10, np.float32))
    ...     kv.pull([3, 3]).sum()
    np.float32(20.0)
    """
    return LocalWorker(Server(num_keys, value_length, **options))
