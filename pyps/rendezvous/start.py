"""The start of one process of a cluster: it creates its node, or attaches to it, when all have come and agree."""

from __future__ import annotations

import contextlib
import inspect
import logging
import os
import socket
import threading
import time
import weakref
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from pyps.arrays import read_lengths
from pyps.dtypes import find_dtype
from pyps.errors import WaitTimeoutError
from pyps.named_settings import compression_text, initializer_text, optimizer_text
from pyps.node import Job, Node
from pyps.rendezvous.door import Door
from pyps.rendezvous.guests import Guests, be_guest
from pyps.rendezvous.interfaces import at_port, find_address, is_loopback, split_endpoint
from pyps.rendezvous.meeting import Meeting
from pyps.rendezvous.offers import (
    Agreed,
    Offer,
    describe,
    find_difference,
    find_disagreement,
    find_metrics,
    name_of_host,
)
from pyps.rendezvous.places import Place
from pyps.rendezvous.presence import Reception, say_goodbye, visit
from pyps.rendezvous.store import Store
from pyps.rendezvous.watch import Watch
from pyps.server import Server

# Options that must be the same on all nodes.
ALIKE = ("techniques", "heartbeat", "lost_after", "on_loss", "server_threads", "replicas", "places")
START_TIMEOUT = 120.0  # seconds
PATIENCE_WITH_GUESTS = 300.0  # seconds that a shutdown waits for processes that attached
PATIENCE_AT_THE_END = 2.0  # seconds that the host of the store gives others to read what they still need

logger = logging.getLogger(__name__)


@dataclass
class Rendezvous:
    """Where the processes meet.

    Attributes
    ----------
    store : torch.distributed.Store
    scope : str
        Other clusters may use the same store with another scope.
    host, port
        Where the store is served.
    role : str
        "host": this process serves the store and has a reception for the others. "guest": another process of the
        cluster does. "stranger": another program serves the store. "user": the caller has passed the store.
    """

    store: Store
    scope: str
    host: str
    port: int
    role: Literal["host", "guest", "stranger", "user"]

    @property
    def name(self) -> str:
        """The address, for messages."""
        return at_port(self.host, self.port)

    def meet(self, process: int | str, timeout: float) -> tuple[Meeting, Reception | None]:
        """Begin a start; the host makes a reception."""
        reception = Reception(find_address(self.host)) if self.role == "host" else None
        meeting = Meeting(self.store, self.scope, process, timeout)
        if reception is not None:
            meeting.receive_at(reception.place)
        return meeting, reception

    def find_line(self, meeting: Meeting, node: int) -> socket.socket | None:
        """Connect to the process that serves the store, if it is another one, to notice its end."""
        if self.role == "guest":
            return visit(meeting.reception(), (meeting.cluster(), node), START_TIMEOUT)
        return visit(self.name, None, START_TIMEOUT) if self.role == "stranger" else None


@dataclass(frozen=True)
class Wanted:
    """The node that is wanted: the arguments of `pyps.init`.

    Attributes
    ----------
    options : mapping
        Options of `Server`.
    endpoint : str
        Where it listens, for example ``tcp://127.0.0.1:*``.
    """

    num_keys: int | None
    value_length: Any
    options: Mapping[str, Any]
    endpoint: str
    curve: tuple[str, str] | None
    timeout: float

    def agreed(self, num_nodes: int) -> Agreed:
        """Return what must be the same on all nodes."""
        defaults = inspect.signature(Server).parameters
        options = {name: self.options.get(name, defaults[name].default) for name in ALIKE}
        options = {name: "the default" if value is None else value for name, value in options.items()}
        options["eviction"] = self.options.get("eviction") or "none"
        options["admission"] = self.options.get("admission", 1)
        options["max_age"] = self.options.get("max_age") or "none"
        options["optimizer"] = optimizer_text(self.options.get("optimizer")) or "none"
        options["compression"] = compression_text(self.options.get("compression")) or "none"
        options["initializer"] = initializer_text(self.options.get("initializer")) or "zeros"
        return describe(
            num_nodes,
            self.num_keys,
            read_lengths(self.value_length),
            find_dtype(self.options.get("dtype", "float32")).name,
            self.curve[0] if self.curve else None,
            options,
        )

    def create(self, rank: int, num_nodes: int, cluster: int, **defaults: Any) -> ClusterServer:
        """Create the node; `defaults` are options where the caller of `pyps.init` gave none."""
        return ClusterServer(
            self.num_keys,
            self.value_length,
            num_nodes=num_nodes,
            rank=rank,
            cluster=cluster,
            curve=self.curve,
            **{**defaults, **self.options},
        )


class ClusterServer(Server):
    """A node that was started together with the others of its cluster.

    Attributes
    ----------
    endpoint : str
        Where the other nodes reach it; empty if there are none.
    invitation : str
        What another node needs in order to join, see `pyps.init`; empty if there are no places for others. Who knows it
        can join: pass it on like a password.
    """

    endpoint = ""
    invitation = ""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._guests: Guests | None = None
        self._process = os.getpid()
        self._ending = contextlib.ExitStack()
        self._ending_lock = threading.Lock()

    def watch(self, line: socket.socket | None, host: str) -> None:
        """Start the thread that logs what happens around the node."""
        watch = Watch(self, line, host)
        # Not at exit: a process that ends without shutdown counts as lost.
        weakref.finalize(self, watch.close).atexit = False
        self._ending.callback(watch.close)

    def serve(self, meeting: Meeting, reception: Reception) -> None:
        """Serve the rendezvous as long as the node exists."""
        weakref.finalize(self, reception.close)
        self._ending.callback(reception.close)
        self._ending.callback(meeting.wait_until_all_left, PATIENCE_AT_THE_END)

    def open_door(self, agreed: Agreed, cluster: int) -> None:
        """Let other nodes join, if there are places for them."""
        if self.places == self.num_nodes:
            return
        host, _ = split_endpoint(self.endpoint, "endpoint")
        door = Door(self, agreed, cluster, host)
        weakref.finalize(self, door.close)
        self._ending.callback(door.close)
        self.invitation = door.invitation

    def expect(self, guests: Guests) -> None:
        """Let shutdown wait until these processes have attached and left."""
        weakref.finalize(self, guests.close)
        self._guests = guests

    def _wait_for_guests(self, timeout: float | None) -> float | None:
        """Wait for the guests; return what is left of the timeout."""
        guests, self._guests = self._guests, None
        if guests is None or not self.is_open or os.getpid() != self._process:
            return timeout
        with contextlib.closing(guests):
            if timeout == 0:
                return timeout
            end = time.monotonic() + (PATIENCE_WITH_GUESTS if timeout is None else timeout)
            missing = guests.wait_until_all_left(end - time.monotonic())
        if missing is not None:
            super().shutdown(0)
            raise WaitTimeoutError(f"the node was closed while others may need it: {missing}")
        return None if timeout is None else max(0.0, end - time.monotonic())

    def shutdown(self, timeout: float | None = None) -> None:
        """Do what `Server.shutdown` does, and leave the rendezvous. Any thread may call it, also more than once.

        First wait until the processes of the job that attach to this node have come, and have shut their node down or
        ended.
        """
        try:
            super().shutdown(self._wait_for_guests(timeout))
        finally:
            if os.getpid() == self._process:  # not in a forked child: the parent's part goes on
                with self._ending_lock:
                    self._ending.close()


class ClusterNode(Node):
    """A node that another process of the job created."""

    _line: socket.socket | None = None

    def announce(self, line: socket.socket) -> None:
        """Keep the connection to the creator, whose end tells it that this process has left."""
        self._line = line

    def shutdown(self, timeout: float | None = None) -> None:
        """Do what `Node.shutdown` does, and tell the creator. May be called again."""
        try:
            super().shutdown(timeout)
        finally:
            if self._line is not None:
                say_goodbye(self._line)


def start(rendezvous: Rendezvous, place: Place, wanted: Wanted) -> Node:
    """Start this process's part of a cluster; return when all nodes work.

    Returns
    -------
    Node
        The node that this process has created or attached to.

    Raises
    ------
    ValueError
        The nodes differ in what must be the same.
    WaitTimeoutError
        Nodes are missing. The message names them.
    StartError
        A node failed, or the rendezvous was lost.
    """
    agreed = wanted.agreed(place.num_nodes)
    meeting, reception = rendezvous.meet(place.process, wanted.timeout)
    with contextlib.ExitStack() as on_failure:
        if reception is not None:
            on_failure.callback(reception.close)
            on_failure.callback(meeting.wait_until_all_left, PATIENCE_AT_THE_END)
        try:
            create = _create if place.creates else _attach
            node = create(rendezvous, meeting, place, wanted, agreed)
        except BaseException as error:
            meeting.fail(f"node {place.node}: {str(error) or type(error).__name__}")
            raise
        finally:
            meeting.leave(place.num_processes)
        if isinstance(node, ClusterServer) and reception is not None:
            node.serve(meeting, reception)
        on_failure.pop_all()
    node.job = Job(place.process, place.num_processes, place.local_process)
    return node


def _create(
    rendezvous: Rendezvous, meeting: Meeting, place: Place, wanted: Wanted, agreed: Agreed
) -> ClusterServer:
    cluster = meeting.cluster()
    with contextlib.ExitStack() as on_failure:
        node = wanted.create(place.node, place.num_nodes, cluster, num_workers=place.processes_here)
        on_failure.push(node)  # closes the node at once, without waiting for the others
        guests = ""
        if place.processes_here > 1:
            to_come = Guests(cluster, place.node, place.num_nodes, place.processes_here - 1)
            node.expect(to_come)
            guests = to_come.place
        several = node.places > 1
        if several:
            node.endpoint = node.bind(wanted.endpoint)
        address = node.address if place.is_shared else ""
        host, metrics = name_of_host(), node.metrics_address
        offer = Offer(place.node, host, node.endpoint, address, guests, agreed, metrics)
        offers = [Offer.decode(text) for text in meeting.offer(place.node, place.num_nodes, offer.encode())]
        if (wrong := find_disagreement(offers)) is not None:
            raise ValueError(wrong)
        for number, url in enumerate(find_metrics(offers, host)):
            if url and number != place.node:
                node.set_metrics_address(number, url)
        if several:
            node.connect([offer.endpoint for offer in offers])
        node.watch(rendezvous.find_line(meeting, place.node), rendezvous.name)
        node.open_door(agreed, cluster)
        meeting.works(place.node, place.num_nodes)
        if several:  # a shutdown waits only for nodes that have been heard of
            node.barrier(wanted.timeout)
        on_failure.pop_all()
    if several:
        warn_if_open(node, wanted)
    return node


def warn_if_open(node: ClusterServer, wanted: Wanted) -> None:
    """Log if other hosts reach a node and need no keys."""
    if wanted.curve is None and not is_loopback(node.endpoint):
        logger.warning(
            "node %d listens at %s without CURVE keys: anyone who reaches it can read and change the parameters",
            node.rank,
            node.endpoint,
        )


def _attach(rendezvous: Rendezvous, meeting: Meeting, place: Place, wanted: Wanted, agreed: Agreed) -> Node:
    meeting.wait_until_all_work(place.num_nodes)
    offer = Offer.decode(meeting.offers([place.node])[0])
    if (wrong := find_difference(agreed, offer.agreed, f"node {place.node}")) is not None:
        raise ValueError(f"this process disagrees with its node: {wrong}")
    line = be_guest(offer.guests, meeting.cluster(), place.node, START_TIMEOUT)
    node = ClusterNode(offer.address)
    node.use_optimizer(wanted.options.get("optimizer"))
    node.announce(line)
    return node
