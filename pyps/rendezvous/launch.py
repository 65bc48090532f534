"""`init`: start or join the cluster that the arguments or the environment describe."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pyps.familiar import NODE, pointing
from pyps.node import Node
from pyps.rendezvous import dmlc, joining
from pyps.rendezvous.environment import Torchrun, read_environment
from pyps.rendezvous.interfaces import at_port, find_address, split_endpoint
from pyps.rendezvous.places import Place, place_of_node, place_under_torchrun
from pyps.rendezvous.start import START_TIMEOUT, Rendezvous, Wanted, start
from pyps.rendezvous.store import Store, reach_store, reach_unused_store, serve_or_reach_store, serve_store
from pyps.server import Server


@pointing(NODE)
def init(
    num_keys: int | None = None,
    value_length: Any = 1,
    *,
    nodes: Sequence[str] | None = None,
    join: str | None = None,
    rendezvous: str | Store | None = None,
    num_nodes: int | None = None,
    rank: int | None = None,
    interface: str | None = None,
    curve: tuple[str, str] | None = None,
    timeout: float = START_TIMEOUT,
    **options: Any,
) -> Node:
    """Start this process's part of a cluster; return when all nodes work.

    The arguments describe the cluster, or else the environment: DMLC_ROLE, DMLC_PS_ROOT_URI, DMLC_PS_ROOT_PORT and
    DMLC_NUM_SERVER (see `scheduler`), or the variables that torchrun sets. Under torchrun each host is one node, or
    PYPS_NODES_PER_HOST nodes; a node's first process creates it, and its other processes attach to it. Without any of
    these the node is the only one. If the number of a node's processes is known, its barriers wait until each of them
    has had a worker, and the process that created the node serves it until the others have left.

    Parameters
    ----------
    num_keys, value_length, **options
        As in `Server`; the same in all processes. PYPS_METRICS_PORT in the environment is a default `metrics_port`.
    nodes : sequence of str, optional
        Where each node listens, for example ``["tcp://10.0.0.1:5000", "tcp://10.0.0.2:5000"]``. With a `rendezvous`
        a port may be ``*``.
    join : str, optional
        The `invitation` of a node of a cluster that works and has `places` left: this process becomes another node of
        it, with the same arguments. Keys move to it in the background. Neither `nodes`, `rendezvous`, `num_nodes` nor
        `rank` are given then. By default PYPS_JOIN, before the other variables.
    rendezvous : str or torch.distributed.Store, optional
        ``tcp://host:port``, where node 0 serves a store for the start, or a store that exists already. With `nodes` the
        default is on node 0's host, at the port after the highest port of that host's nodes.
    num_nodes : int, optional
        How many nodes meet at the rendezvous.
    rank : int, optional
        The number of this node, from 0, with `nodes` or a rendezvous.
    interface : str, optional
        Where the node listens: an interface ("eth0"), an address or a name of this host. By default DMLC_NODE_HOST,
        DMLC_INTERFACE or the loopback. A node never listens at all interfaces.
    curve : tuple of str, optional
        The cluster's public and secret CURVE key, 40 characters each, as ``zmq.curve_keypair()`` makes them. Messages
        between nodes and workers are then encrypted, and connections without these keys are refused. By default
        PYPS_CURVE_PUBLIC and PYPS_CURVE_SECRET.
    timeout : float
        Seconds within which all nodes must have come.

    Returns
    -------
    Node
        In the process that created the node, a `Server`. The processes may shut down in any order. With `places` it has
        an `invitation`, with which other nodes join.

    Raises
    ------
    ValueError
        The arguments or the environment contradict themselves, or differ from those of other nodes.
    WaitTimeoutError
        Nodes did not come in time. The message names them.
    StartError
        A node failed, or the rendezvous cannot be reached.

    Examples
    --------
    >>> with init(1000, 10) as node, node.worker() as kv:
    ...     kv.set([3], np.ones(10, np.float32))
    """
    environment = read_environment()
    if environment.metrics_port is not None:
        options.setdefault("metrics_port", environment.metrics_port)
    curve = curve or environment.curve
    endpoint = f"tcp://{at_port(find_address(interface or environment.interface), '*')}"
    if join is not None and (nodes, rendezvous, num_nodes, rank) != (None,) * 4:
        raise ValueError("join says which cluster it is: leave nodes, rendezvous, num_nodes and rank out")
    explicit = nodes is not None or rendezvous is not None
    join = join or (None if explicit else environment.join)
    if join is not None:
        return joining.join(join, Wanted(num_keys, value_length, options, endpoint, curve, timeout))
    if not explicit and (num_nodes is not None or rank is not None):
        raise ValueError("num_nodes and rank say nothing without nodes=[...] or rendezvous='tcp://host:port'")
    if not explicit and environment.dmlc and environment.torchrun:
        raise ValueError(
            "the environment has both DMLC_* and torchrun's variables: unset one, or pass rendezvous= and rank="
        )
    if not explicit and environment.dmlc:
        return dmlc.join(
            num_keys,
            value_length,
            interface=interface,
            curve=curve,
            timeout=timeout,
            environment=environment,
            **options,
        )
    run = environment.torchrun
    if explicit:
        place = _explicit_place(nodes, num_nodes, rank)
    elif run is not None:
        place = place_under_torchrun(run)
    else:
        place = place_of_node(0, 1)
    if place.num_processes == 1 and options.get("places") in (None, 1):
        return Server(num_keys, value_length, **options)
    if nodes is not None:
        host, port = split_endpoint(nodes[place.node], f"nodes[{place.node}]")
        endpoint = f"tcp://{at_port(find_address(host), port or '*')}"
    wanted = Wanted(num_keys, value_length, options, endpoint, curve, timeout)
    if place.num_processes == 1:
        return joining.begin(wanted)
    if run is not None and not explicit:
        return start(_rendezvous_of_torchrun(run, timeout), place, wanted)
    if rendezvous is None and nodes is not None:
        rendezvous = _after_the_nodes(nodes)
    return start(_explicit_rendezvous(rendezvous, place, timeout), place, wanted)


def _explicit_place(nodes: Sequence[str] | None, num_nodes: int | None, rank: int | None) -> Place:
    if isinstance(nodes, str):
        raise TypeError(f"nodes is {nodes!r}; it must be a sequence with one endpoint per node")
    if num_nodes is None:
        if nodes is None:
            raise ValueError("num_nodes is missing: how many nodes meet at the rendezvous")
        num_nodes = len(nodes)
    if nodes is not None and len(nodes) != num_nodes:
        raise ValueError(f"num_nodes is {num_nodes}, but nodes has {len(nodes)} endpoints")
    if rank is None:
        raise ValueError("rank is missing: which of the nodes this is, from 0")
    return place_of_node(rank, num_nodes)


def _after_the_nodes(nodes: Sequence[str]) -> str:
    """Return the default rendezvous for the nodes' endpoints."""
    places = [split_endpoint(endpoint, f"nodes[{number}]") for number, endpoint in enumerate(nodes)]
    first = places[0][0]
    ports = [port for host, port in places if host == first]
    if 0 in ports:
        raise ValueError("a port of * leaves open where the nodes meet: give them ports, or pass rendezvous=")
    return f"tcp://{at_port(first, max(ports) + 1)}"


def _explicit_rendezvous(where: str | Store | None, place: Place, timeout: float) -> Rendezvous:
    if where is None:
        raise ValueError("rendezvous is missing: where the nodes meet")
    if not isinstance(where, str):
        return Rendezvous(where, "explicit", "a store", 0, "user")
    host, port = split_endpoint(where, "rendezvous")
    if port == 0:
        raise ValueError(f"rendezvous is {where!r}; all nodes must know its port")
    if place.node > 0:
        store, _ = reach_unused_store(host, port, f"pyps/explicit/came/{place.node}", 1, timeout)
        return Rendezvous(store, "explicit", host, port, "guest")
    return Rendezvous(serve_store(host, port), "explicit", host, port, "host")


def _rendezvous_of_torchrun(run: Torchrun, timeout: float) -> Rendezvous:
    scope = f"torchrun/{run.restart}"
    if run.has_store:
        return Rendezvous(reach_store(run.host, run.port, timeout), scope, run.host, run.port, "stranger")
    if run.rank > 0:
        return Rendezvous(reach_store(run.host, run.port, timeout), scope, run.host, run.port, "guest")
    return Rendezvous(serve_or_reach_store(run.host, run.port, timeout), scope, run.host, run.port, "host")
