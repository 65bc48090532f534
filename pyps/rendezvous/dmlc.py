"""The DMLC_* environment of Lapse and AdaPM: nodes find each other by a scheduler, which numbers them as they come."""

from __future__ import annotations

import contextlib
import logging
import selectors
import socket
from typing import Any, cast

from pyps.errors import NodeLost
from pyps.node import Node
from pyps.rendezvous.environment import Dmlc, Environment, read_environment
from pyps.rendezvous.interfaces import at_port, find_address
from pyps.rendezvous.places import place_of_node
from pyps.rendezvous.presence import Reception, left_in_order, read_introduction
from pyps.rendezvous.start import PATIENCE_AT_THE_END, START_TIMEOUT, Rendezvous, Wanted, start
from pyps.rendezvous.store import reach_unused_store, serve_store

SCOPE = "dmlc"

logger = logging.getLogger(__name__)


def join(
    num_keys: int | None = None,
    value_length: Any = 1,
    *,
    interface: str | None = None,
    curve: tuple[str, str] | None = None,
    timeout: float = START_TIMEOUT,
    environment: Environment | None = None,
    **options: Any,
) -> Node:
    """Become one of the DMLC_NUM_SERVER nodes; return when all of them work.

    Parameters
    ----------
    num_keys, value_length, **options
        As in `pyps.Server`.
    interface, curve, timeout
        As in `pyps.init`.
    environment : Environment, optional
        If it was read already.

    Raises
    ------
    ValueError
        A variable of the environment is missing, or the nodes differ.
    WaitTimeoutError, StartError
        The scheduler or nodes are missing, or failed.
    """
    environment = environment or read_environment()
    dmlc = _require(environment)
    if dmlc.is_scheduler:
        raise ValueError("DMLC_ROLE is 'scheduler' in the environment: call pyps.scheduler() in this process")
    address = find_address(interface or environment.interface)
    wanted = Wanted(
        num_keys, value_length, options, f"tcp://{at_port(address, '*')}", curve or environment.curve, timeout
    )
    store, node = reach_unused_store(
        dmlc.host, dmlc.port, f"pyps/{SCOPE}/arrivals", dmlc.num_servers, timeout
    )
    expected = int(store.get(f"pyps/{SCOPE}/num_servers"))
    if expected != dmlc.num_servers:
        raise ValueError(f"DMLC_NUM_SERVER is {dmlc.num_servers} here and {expected} at the scheduler")
    rendezvous = Rendezvous(store, SCOPE, dmlc.host, dmlc.port, "guest")
    return start(rendezvous, place_of_node(node, expected, processes_here=1), wanted)


def scheduler(*, timeout: float = START_TIMEOUT, environment: Environment | None = None) -> None:
    """Bring the nodes of the DMLC_* environment together; return when all have shut down.

    Parameters
    ----------
    timeout : float
        Seconds within which all nodes must have started. The loss of a node later on is noticed when its process ends,
        or 25 seconds after its machine has stopped.
    environment : Environment, optional
        If it was read already.

    Raises
    ------
    ValueError
        A variable of the environment is missing.
    OSError
        It cannot listen at DMLC_PS_ROOT_URI and DMLC_PS_ROOT_PORT.
    WaitTimeoutError, StartError
        Nodes did not come, or failed to start.
    NodeLost
        The job is over, but some nodes ended without shutting down. The message names them.
    """
    dmlc = _require(environment or read_environment())
    if not dmlc.is_scheduler:
        raise ValueError(
            "DMLC_ROLE is 'server' in the environment: only the scheduler's process calls scheduler()"
        )
    store = serve_store(dmlc.host, dmlc.port)
    store.set(f"pyps/{SCOPE}/num_servers", str(dmlc.num_servers))
    rendezvous = Rendezvous(store, SCOPE, dmlc.host, dmlc.port, "host")
    meeting, reception = rendezvous.meet("scheduler", timeout)
    assert reception is not None
    with contextlib.closing(reception):
        try:
            meeting.wait_until_all_work(dmlc.num_servers)
            lost = _see_all_leave(reception, meeting.cluster(), dmlc.num_servers)
        finally:
            meeting.wait_until_all_left(PATIENCE_AT_THE_END)
    if lost:
        nodes = ", ".join(map(str, lost))
        raise NodeLost(
            f"the job is over, but of {dmlc.num_servers} nodes these ended without shutting down: {nodes}",
            node=lost[0],
        )


def _see_all_leave(reception: Reception, cluster: int, num_nodes: int) -> list[int]:
    """Wait until the connections of all nodes have ended; return the nodes that did not say goodbye."""
    lines = _welcome(reception, cluster, num_nodes)
    lost = sorted(set(range(num_nodes)) - set(lines.values()))
    for node in lost:
        logger.error("node %d of %d was lost at the start", node, num_nodes)
    with selectors.DefaultSelector() as selector:
        for line in lines:
            selector.register(line, selectors.EVENT_READ)
        while selector.get_map():
            for key, _ in selector.select():
                ended = cast(socket.socket, key.fileobj)
                selector.unregister(ended)
                if not left_in_order(ended):
                    lost.append(lines[ended])
                    logger.error(
                        "node %d of %d was lost: it ended without shutting down", lines[ended], num_nodes
                    )
                ended.close()
    return sorted(lost)


def _welcome(reception: Reception, cluster: int, num_nodes: int) -> dict[socket.socket, int]:
    """Return the connections of the nodes; each has made its own before it told that it works."""
    lines: dict[socket.socket, int] = {}
    while len(lines) < num_nodes and (line := reception.accept(PATIENCE_AT_THE_END)) is not None:
        node = read_introduction(line, cluster, num_nodes)
        if node is None or node in lines.values():
            line.close()
        else:
            lines[line] = node
    return lines


def _require(environment: Environment) -> Dmlc:
    if environment.dmlc is None:
        raise ValueError(
            "the environment has no DMLC_ROLE and DMLC_PS_ROOT_URI: set them, DMLC_PS_ROOT_PORT and DMLC_NUM_SERVER"
        )
    return environment.dmlc
