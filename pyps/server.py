"""A node that this process creates: the parameter server of one host, or one node of a cluster."""

from __future__ import annotations

import logging
import weakref
from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from numpy.typing import ArrayLike

from pyps import zeromq
from pyps.arrays import as_weights, read_lengths
from pyps.contents import capacity_of, eviction_number, seconds_of_age, uses_of_admission
from pyps.dtypes import find_dtype
from pyps.errors import ClosedError
from pyps.familiar import NODE, pointing
from pyps.named_settings import compression_text, initializer_text
from pyps.node import Node
from pyps.tracing import TraceEvent, begin_trace, take_trace

if TYPE_CHECKING:
    from pyps.initializers import Initializer
    from pyps.optim import Optimizer
    from pyps.watching.endpoint import Endpoint

logger = logging.getLogger(__name__)

TECHNIQUES = ("all", "replication_only", "relocation_only", "auto")  # in the order of ps_techniques
ON_LOSS = ("fail", "continue")


class Server(Node):
    """A node that this process creates; its values start as zeros, or as an initializer makes them.

    Parameters
    ----------
    num_keys : int, optional
        The keys are 0 to ``num_keys - 1``. Without it keys may be any int64 but -1: a key then takes memory on a node
        from its first use there (a pull is a use as well), when its value begins.
    value_length : int or array of int, shape (num_keys,) or (1,); or shape (n,) with `capacity`
        Elements of each value: one number for all keys, or with `num_keys` one for each. With `capacity`, up to 128
        lengths are those of classes of keys: the topmost byte of a key says which it has, from 0, and `classed_keys`
        makes such keys. Whole numbers may be floats.
    dtype : str, numpy or torch dtype
        float32, float64, float16, bfloat16, int32 or int64.
    max_workers : int
        How many workers there may be at the same time; at most 4094.
    num_workers : int
        How many workers of this node barriers wait for, also before they have joined. By default a barrier waits only
        for workers that have joined, so with several nodes it may pass before another node has its first worker.
        `pyps.init` sets it to the number of the node's processes, if the job tells that number.
    memory_limit : int, optional
        Bytes of shared memory that the store may take; by default what the host has. With `replicas` the copies of
        other nodes' keys, which lie beside it, count as well, but are taken all the same. If a call would bring more
        keys here, it raises MemoryError and changes nothing. Keys of an intent that have no room when it begins stay
        where they are (`keys_without_room` in the statistics), and a key gets no replicas if its owner has no room for
        the memory that sharing takes.
    latch_timeout : float
        Seconds to wait for a key that another worker of this node holds; then it is an error.
    num_nodes, rank : int
        How many nodes share the keys, and the number of this one, from 0. If there are several, `bind` each of them,
        exchange the endpoints, and `connect` it; then it works.
    techniques : str
        What an intent does. "all": a key that one node wants moves there, a key that several nodes want gets replicas
        on them. "replication_only" and "relocation_only": always the one or the other. "auto": what "all" does, but
        the nodes try whether workers' clocks advance faster without, and then skip intents of at most 8 clocks
        (`intents_skipped` in the statistics); they try again now and then.
    cluster : int
        A number that all nodes of the cluster have; messages with another number are refused.
    heartbeat : float, optional
        Seconds between the signs of life that a node sends to each other node; by default 0.5, or with more than 140
        nodes so many that a node sends 280 in a second.
    lost_after : float, optional
        Seconds of silence after which a node is lost, at least three times `heartbeat`; by default 3, or 5 times that
        default. If a node's process has ended, the others notice it at once.
    on_loss : str
        What happens when a node is lost; the same on all nodes. "fail": from then on every call of every worker raises
        `NodeLost`, also if it uses local keys only. "continue": operations on their way raise it once. Then the other
        nodes go on if they are more than half of all nodes, or half of them with the lowest rank, or if all nodes that
        are missing are known to have ended. Operations on keys whose values were on the lost node raise `NodeLost`
        each time.
    in_flight : int
        Bytes of keys and values that each worker may have on their way between nodes; 0 means 64 MiB. At most 4096
        operations may be on their way as well. A call that exceeds either, asynchronous or not, first waits until
        earlier operations have ended; after 300 seconds it raises `WaitTimeoutError`, and nothing of it was sent. An
        operation that is larger than the limit is sent when nothing else is on its way.
    server_threads : int
        Threads of this node's server, among which its keys are shared; the same number on all nodes. One thread serves
        some hundred thousand keys a second or more. More threads help only if the node has processors for them beside
        those for its workers.
    replicas : int
        How many other nodes keep a copy of each key and of what the optimizer keeps for it; the same on all nodes. A
        push or set is acknowledged, and seen by pulls, when all of these have it. So nothing that was acknowledged is
        lost with as many nodes: the keys of a lost node go on from a copy, new copies are made, and calls that were on
        their way wait for that instead of raising. `on_loss` is "continue" then, and there is neither `eviction` nor
        `max_age`. A node alone has none.
    places : int, optional
        With `replicas`: how many nodes there may ever be, by default `num_nodes`. With more, others can `join` while
        the cluster works, with the ranks from `num_nodes` on, each of which is given once. The same on all nodes.
    capacity : int
        Without `num_keys`: most keys that this node has room for, both those whose value is here and those of which it
        only knows where they are. A call that would use more raises MemoryError, as one beyond `memory_limit` does;
        other calls are not affected. See `eviction`.
    optimizer : pyps.optim.Optimizer or str, optional
        What is done with pushes, which then bring gradients; a text like "adagrad:lr=0.1" is another way to write it.
        Without it pushes add. The same on all nodes. It needs a floating-point dtype. If keys come several times in a
        push, the optimizer makes one step with the sum of their gradients. `set` begins a key anew.
    initializer : pyps.initializers.Initializer or str, optional
        What values begin with; a text like "uniform:low=-0.1,high=0.1,seed=7" is another way to write it. Without it
        they begin with zeros. The same on all nodes.
    eviction : str, optional
        Without `num_keys`: which keys go, of whichever length, when new ones need room that `capacity` or
        `memory_limit` does not leave, instead of a MemoryError. "lru": those whose last pull, push or set was the
        longest ago. "lfu": those that were used the fewest times, where uses of long ago count less. "age": those
        whose last push or set was the longest ago. Only keys go that live on the node where they began, without
        replicas and intents; their next use makes them anew. The same on all nodes.
    max_age : float, optional
        Without `num_keys`: seconds, at least 0.1. Keys that were not pulled, pushed or set for so long go by
        themselves, with `eviction` "age" those that were not pushed or set. They go at the latest 1.05 times as long
        after their last use, if this process has a processor for that. Only such keys go as with `eviction`; their
        next use makes them anew. The same on all nodes.
    admission : int
        Without `num_keys`: how often a key is used before it exists, at most 255. A call that pulls or pushes the key
        is a use. Until the use with this number a pull gives the value that the key will begin with, and a push is
        dropped, though it counts as done; localize and intents do nothing. A set makes the key at once. A key that has
        gone is counted anew. The counts may let a key exist early, and fall with time, see the guide. The same on all
        nodes.
    compression : str, optional
        How what is pushed to replicas becomes shorter on its way to the keys' owners, for float32 and float64.
        "bfloat16": each element is rounded to the nearest bfloat16. "top_k:share=0.1": the largest tenth of the
        elements of each message by magnitude, at least one, as positions and values. What is left out stays at the
        replica, which its workers read, and goes with later pushes to the key; `wait_sync` and `quiesce` send all of
        it, as does the end of the replica. By default, or with "none", all goes at once. Named tables do as their
        server does. The same on all nodes.
    trace_keys : array of int, or "all"
        The keys whose events `trace` returns.
    curve : tuple of str, optional
        The cluster's public and secret CURVE key, 40 characters each, as ``zmq.curve_keypair()`` makes them. Messages
        between nodes and workers are then encrypted, and connections without these keys are refused.
    metrics_port : int, optional
        A port at which this node's statistics can be read over HTTP: ``/metrics`` for Prometheus, ``/stats`` as JSON. 0
        takes a free one; `metrics_address` says which. It has neither encryption nor passwords.
    metrics_host : str, optional
        Where that port is: an interface, an address or a name of this host. By default the loopback.

    Raises
    ------
    ValueError, TypeError
        A parameter does not fit.
    MemoryError
        The host or the limit has no room.
    OSError
        The `metrics_port` is taken.

    Examples
    --------
    >>> with Server(1000, 10) as server, server.worker() as kv:
    ...     kv.push([3], np.ones(10, np.float32))
    """

    _endpoint: Endpoint | None = None

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
        techniques: str = "auto",
        cluster: int = 0,
        heartbeat: float | None = None,
        lost_after: float | None = None,
        on_loss: str = "fail",
        in_flight: int = 0,
        server_threads: int = 1,
        replicas: int = 0,
        places: int | None = None,
        capacity: int | None = None,
        optimizer: Optimizer | str | None = None,
        initializer: Initializer | str | None = None,
        eviction: str | None = None,
        max_age: float | None = None,
        admission: int = 1,
        compression: str | None = None,
        trace_keys: ArrayLike | str = (),
        curve: tuple[str, str] | None = None,
        metrics_port: int | None = None,
        metrics_host: str | None = None,
    ) -> None:
        if max_workers == 0 or memory_limit == 0 or latch_timeout == 0 or server_threads == 0:
            raise ValueError("max_workers, memory_limit, latch_timeout and server_threads must be above 0")
        if places == 0:
            raise ValueError("places is 0; it must be at least num_nodes")
        if heartbeat == 0 or lost_after == 0:
            raise ValueError("heartbeat and lost_after must be above 0")
        if on_loss not in ON_LOSS:
            raise ValueError(f"on_loss is {on_loss!r}; it must be one of {', '.join(ON_LOSS)}")
        if techniques not in TECHNIQUES:
            raise ValueError(f"techniques is {techniques!r}; it must be one of {', '.join(TECHNIQUES)}")
        room = capacity_of(num_keys, capacity)
        lengths = read_lengths(value_length)
        if num_keys is None and capacity is None and len(lengths) != 1:
            raise ValueError(
                f"{len(lengths)} value lengths were given: say num_keys for one for each key, "
                "or capacity if they are the lengths of classes of keys (classed_keys)"
            )
        if curve is not None and not (isinstance(curve, tuple | list) and len(curve) == 2):
            raise TypeError(f"curve must be a pair of keys, (public, secret), not {type(curve).__name__}")
        if num_nodes != 1 or num_keys is None or places:
            zeromq.load()
        self._refusal_logged = False
        super().__init__(
            num_keys=num_keys or 0,
            capacity=room,
            value_lengths=lengths,
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
            on_loss=ON_LOSS.index("continue" if replicas else on_loss),
            in_flight=in_flight,
            server_threads=server_threads,
            replicas=replicas,
            places=places or 0,
            optimizer=self.use_optimizer(optimizer),
            initializer=initializer_text(initializer),
            eviction=eviction_number(eviction),
            max_age=seconds_of_age(max_age),
            admission=uses_of_admission(admission),
            compression=compression_text(compression),
        )
        if curve is not None:
            zeromq.load()
            self.secure(*curve)
        begin_trace(self, trace_keys)
        if metrics_port is not None:
            self._serve_metrics(metrics_port, metrics_host)

    def _serve_metrics(self, port: int, interface: str | None) -> None:
        from pyps.watching.endpoint import Endpoint

        try:
            self._endpoint = Endpoint(self, port, interface)
        except BaseException:
            super().shutdown(0)
            raise
        weakref.finalize(self, self._endpoint.close)
        self.set_metrics_address(self.rank, self._endpoint.address)

    @property
    def metrics_address(self) -> str:
        """Where this node's statistics can be read over HTTP, ``http://host:port``; empty without a `metrics_port`."""
        return self._endpoint.address if self._endpoint else ""

    @property
    def address(self) -> str:
        """The address at which processes of this user on this host can attach; its first use starts a thread."""
        zeromq.load()  # for tables, which these may ask for
        return self.listen()

    def stats(self) -> dict[str, int]:
        """Return this node's statistics, as a dict of int; `pyps.Node.stats` lists them, with their units.

        If messages were refused, the reason of the first one is logged once, by this method or at the end.
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
        """Return what happened here to the `trace_keys` since the last call. Works also after `shutdown`."""
        return take_trace(self)

    def shutdown(self, timeout: float | None = None) -> None:
        """Close the node for every worker. May be called again.

        In a cluster other nodes may still need keys that are on this one. So its workers are finished, but it serves
        the other nodes until all of them have called shutdown, too. It does not wait if this process has created
        another node of the cluster that has not called it yet.

        Parameters
        ----------
        timeout : float, optional
            Seconds to wait for the other nodes; default 300. With 0 it closes at once.

        Raises
        ------
        WaitTimeoutError
            Some nodes did not call it in time. This node is closed, and their operations on its keys fail.
        """
        if self.places > 1:
            with suppress(ClosedError):  # it may have been shut down already, also by another thread
                self.stats()
        try:
            super().shutdown(timeout)
        finally:
            if self._endpoint:
                self._endpoint.close()

    def leave(self, timeout: float | None = None) -> None:
        """Leave a cluster that goes on without this node, and shut it down.

        This node's workers end. Its keys and those of its tables move to the other nodes, and what had a copy here gets
        one elsewhere. No call on another node fails, and nothing is lost, not even if another node is lost meanwhile.
        It needs `replicas`.

        Parameters
        ----------
        timeout : float, optional
            Seconds until all keys must have moved; default 300.

        Raises
        ------
        WaitTimeoutError
            Some keys are still here. The node serves other nodes on; call it again, or `shutdown`.
        MemoryError
            Another node has no room for the keys. The node serves on, as above.
        ValueError
            There are no replicas.
        RuntimeError
            No other node is left.
        """
        self.hand_over(timeout)
        self.shutdown(0)

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

        Call it once per node; processes that attach to the node can sample as well. Nodes may have different settings.

        Parameters
        ----------
        scheme : str
            "naive": keys are drawn when a sample is prepared, and pulled from wherever they live. "preloc": the same,
            with an intent for the drawn keys. "pool": keys come from pools that were drawn and made local before, and
            each draw is used several times. "local": each drawn key is replaced by the next key that lives on this
            node. So if intents bring keys here, "local" mostly gives keys that this node's workers use anyway.
        with_replacement : bool
            Whether a sample may have a key several times. If not, its keys are drawn one after another, each from the
            keys that are left.
        distribution : str
            "uniform"; "log-uniform", where key ``min + k`` has the probability
            ``log((k + 2) / (k + 1)) / log(max - min + 1)``; "weighted", by `weights`.
        min, max : int
            Keys from [min, max) are drawn.
        weights : array of numbers, shape (max - min,), optional
            A key's probability is proportional to its weight. Weights must be finite, not negative and not all zero.
            They are read during the call only; the node keeps 8 bytes for each.
        seed : int, optional
            With a seed, the n-th worker that joins a node draws the same keys in every run. Different workers draw
            different keys. Without a seed, every run draws other keys.
        pool_size, pool_uses : int
            For "pool": how many draws a pool has, and how often each is used. Each sample by itself has the same
            distribution as with "naive". But samples depend on each other as long as they come from the same pools;
            a worker uses two pools at a time.

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
