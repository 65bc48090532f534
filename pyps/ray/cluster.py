"""`Cluster`: actors of Ray that are the nodes of a parameter server, as a context manager."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Literal, Self

import ray
import zmq
from ray.exceptions import GetTimeoutError, RayError
from ray.util.placement_group import placement_group, remove_placement_group
from ray.util.scheduling_strategies import PlacementGroupSchedulingStrategy

from pyps.named_settings import initializer_text, optimizer_text
from pyps.parameters import Parameters, settle, together
from pyps.ray.member import Member, held_here

if TYPE_CHECKING:
    from ray.data import Dataset

OWN = ("num_nodes", "rank", "curve", "places", "cluster")  # options of a server that the cluster decides
PATIENCE = 10.0  # seconds that nodes which work get to end

log = logging.getLogger(__name__)


class Cluster:
    """A parameter server whose nodes are actors of Ray; it ends with the context, and with the program.

    Messages between nodes are encrypted, with keys that are drawn for this cluster.

    Parameters
    ----------
    nodes : int
        How many actors.
    num_keys, value_length, **options
        As in `Server`. `num_workers` is 1 by default: barriers of workers wait until each node has had one. Those of a
        later `run` wait only for workers that are there; ``node.barrier()`` waits for all nodes.
    placement : {"STRICT_SPREAD", "SPREAD", "PACK", "STRICT_PACK"}
        As of Ray's placement groups: by default each node has a host of its own.
    resources : dict of str to float, optional
        What Ray keeps for each node; by default one CPU.
    interface : str, optional
        Where nodes listen: the name of an interface that all hosts have. By default the address that Ray has for the
        actor's host.
    timeout : float
        Seconds that Ray gets to find a place for all nodes, and that waits for other nodes take at most.

    Raises
    ------
    RuntimeError
        Ray was not started in this process.
    TimeoutError
        Ray had no place for so many nodes.
    TypeError, ValueError
        An argument is wrong, as a node says.
    """

    def __init__(
        self,
        nodes: int,
        num_keys: int | None = None,
        value_length: Any = 1,
        *,
        placement: Literal["STRICT_SPREAD", "SPREAD", "PACK", "STRICT_PACK"] = "STRICT_SPREAD",
        resources: dict[str, float] | None = None,
        interface: str | None = None,
        timeout: float = 300.0,
        **options: Any,
    ) -> None:
        if not ray.is_initialized():
            raise RuntimeError("Ray was not started in this process: call ray.init() before")
        if given := [name for name in OWN if name in options]:
            raise TypeError(f"{', '.join(given)}: the cluster decides that; nodes= says how many there are")
        if nodes < 1:
            raise ValueError(f"nodes is {nodes}; it must be at least 1")
        options["optimizer"] = optimizer_text(options.get("optimizer"))
        options["initializer"] = initializer_text(options.get("initializer"))
        options.setdefault("num_workers", 1)
        options |= {"num_keys": num_keys, "value_length": value_length, "num_nodes": nodes}
        options["curve"] = tuple(key.decode() for key in zmq.curve_keypair())
        self._timeout = timeout
        self._members: list[Any] = []
        each = {"CPU": 1.0} if resources is None else resources
        self._group = _place(nodes, each, placement, timeout)
        try:
            self._members = [_start_actor(self._group, rank, each) for rank in range(nodes)]
            ranks = [{**options, "rank": rank} for rank in range(nodes)]
            endpoints = self._all("start", [(interface, of_rank) for of_rank in ranks])
            self._all("connect", [(endpoints,)] * nodes)
        except BaseException:
            self._end()
            raise

    def run(
        self, fn: Callable[..., Any], *args: Any, dataset: Dataset | None = None, batch_size: int = 1024
    ) -> list[Any]:
        """Call a function on all nodes at the same time; return what it returned on each, by their ranks.

        Parameters
        ----------
        fn : callable
            ``fn(node, *args)``, or with a dataset ``fn(node, batches, *args)``: `node` is a `pyps.Server`, `batches`
            yields the node's rows once, as dicts of a numpy array for each column.
        *args
            They travel with it, as Ray sends arguments.
        dataset : ray.data.Dataset, optional
            Its blocks go to whichever node asks for some, and all nodes have to: Ray waits for all of them. Reading
            needs a CPU that no node has.
        batch_size : int
            Rows of a batch.

        Raises
        ------
        RuntimeError
            The cluster has ended.
        ValueError
            No CPU is left to read the dataset.
        Exception
            What `fn` raised on one node, with its traceback there, or an error of Ray if an actor was lost. The
            cluster has ended then.
        """
        if not self._members:
            raise RuntimeError("the cluster has ended: make a new one")
        streams: Sequence[Any] = [None] * len(self._members)
        if dataset is not None:
            if ray.available_resources().get("CPU", 0) <= 0:
                raise ValueError(
                    f"no CPU is left to read the dataset: Ray has {ray.cluster_resources().get('CPU', 0):g}, "
                    "all in use; make the cluster with less of them, as resources={'CPU': 0.5}"
                )
            streams = dataset.streaming_split(len(self._members))
        shared = ray.put(fn)
        try:
            return self._all("call", [(shared, rows, batch_size, *args) for rows in streams])
        except BaseException:
            self._end()
            raise

    def parameters(self) -> dict[str, Parameters]:
        """Return what all keys hold, as `pyps.spark.Parameters`: of each named table, and under "" of the server's own.

        For models that this process has no room for, let all nodes save a checkpoint:
        ``cluster.run(lambda node: pyps.checkpoint.save(directory, node))``.
        """
        self.run(settle, self._timeout)
        nodes: list[dict[str, Parameters]] = self.run(held_here, self._timeout)
        return {name: together([node[name] for node in nodes]) for name in nodes[0]}

    def close(self) -> None:
        """End the nodes and their actors. May be called again."""
        if not self._members:
            return
        try:
            with suppress(RayError):  # of an actor that was lost
                self._all("close", [(PATIENCE,)] * len(self._members))
        finally:
            self._end()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _all(self, method: str, arguments: Sequence[tuple[Any, ...]]) -> list[Any]:
        """Call a method of all members, and raise what the first one raises that fails."""
        calls = {
            getattr(member, method).remote(*given): rank
            for rank, (member, given) in enumerate(zip(self._members, arguments, strict=True))
        }
        results: dict[int, Any] = {}
        waiting = list(calls)
        while waiting:
            (done,), waiting = ray.wait(waiting, num_returns=1)
            try:
                results[calls[done]] = ray.get(done)
            except Exception as error:
                error.add_note(f"on node {calls[done]} of {len(calls)}")
                raise
        return [results[rank] for rank in range(len(calls))]

    def _end(self) -> None:
        for member in self._members:
            ray.kill(member)
        self._members = []
        remove_placement_group(self._group)


def _place(nodes: int, resources: dict[str, float], placement: str, timeout: float) -> Any:
    """Let Ray find a place for all nodes."""
    group = placement_group([resources] * nodes, strategy=placement)
    wanted = f"{nodes} nodes with {resources} each, {placement}"
    end = time.monotonic() + timeout
    try:
        if not group.wait(min(1.0, timeout)):
            log.warning("Ray has no place for %s yet (%s): waiting up to %g s", wanted, _there_is(), timeout)
            ray.get(group.ready(), timeout=max(end - time.monotonic(), 0))
    except GetTimeoutError:
        remove_placement_group(group)
        raise TimeoutError(
            f"Ray had no place for {wanted}, within {timeout:g} s: {_there_is()}; STRICT_SPREAD needs a host for each "
            "node, placement='SPREAD' does not"
        ) from None
    except BaseException:
        remove_placement_group(group)
        raise
    return group


def _there_is() -> str:
    hosts = [host for host in ray.nodes() if host["Alive"]]
    free = {name: value for name, value in ray.available_resources().items() if name in ("CPU", "GPU")}
    return f"there are {len(hosts)} hosts, and free are {free}"


def _start_actor(group: Any, rank: int, resources: dict[str, float]) -> Any:
    others = {name: value for name, value in resources.items() if name not in ("CPU", "GPU")}
    place = PlacementGroupSchedulingStrategy(group, placement_group_bundle_index=rank)
    remote = ray.remote(Member).options(
        num_cpus=resources.get("CPU", 0),
        num_gpus=resources.get("GPU", 0),
        resources=others,
        scheduling_strategy=place,
    )
    return remote.remote()
