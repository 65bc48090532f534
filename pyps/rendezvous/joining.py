"""The start of one node by itself: one that joins a cluster that works, or the first one of a cluster."""

from __future__ import annotations

import contextlib
import secrets
import time
from dataclasses import replace

from pyps.rendezvous.door import Invitation, ask_for_place
from pyps.rendezvous.interfaces import is_loopback
from pyps.rendezvous.start import ClusterServer, Wanted, warn_if_open


def begin(wanted: Wanted) -> ClusterServer:
    """Start the only node of a cluster that others can join."""
    return _start(wanted, 0, 1, secrets.randbits(63) + 1, None)


def join(text: str, wanted: Wanted) -> ClusterServer:
    """Start a node that joins the cluster of an invitation; return when it is a member.

    Raises
    ------
    ValueError
        It is no invitation, or the arguments do not fit those of the cluster.
    WaitTimeoutError
        The nodes did not let it in.
    StartError
        No node answers, or the cluster has no place.
    """
    invitation = Invitation.read(text)
    deadline = time.monotonic() + wanted.timeout
    welcome = ask_for_place(invitation, wanted.agreed(0), wanted.timeout)
    sponsor = next(endpoint for endpoint in welcome.endpoints if endpoint)
    if is_loopback(wanted.endpoint) and not is_loopback(sponsor):
        raise ValueError(
            f"this node would listen at {wanted.endpoint}, which the cluster's nodes, for example at {sponsor}, cannot "
            "reach: name an interface or address (interface=..., DMLC_INTERFACE or DMLC_NODE_HOST)"
        )
    there = replace(wanted, options={**wanted.options, "places": welcome.places})
    left = max(0.1, deadline - time.monotonic())
    return _start(
        replace(there, timeout=left), welcome.number, welcome.num_nodes, invitation.cluster, welcome.endpoints
    )


def _start(
    wanted: Wanted, rank: int, num_nodes: int, cluster: int, members: list[str] | None
) -> ClusterServer:
    with contextlib.ExitStack() as on_failure:
        node = wanted.create(rank, num_nodes, cluster)
        on_failure.push(node)  # closes the node at once, without waiting for others
        node.endpoint = node.bind(wanted.endpoint)
        if members is None:
            node.connect([node.endpoint])
        else:
            members[rank] = node.endpoint
            node.join(members, wanted.timeout)
        node.watch(None, "")
        node.open_door(wanted.agreed(num_nodes), cluster)
        on_failure.pop_all()
    warn_if_open(node, wanted)
    return node
