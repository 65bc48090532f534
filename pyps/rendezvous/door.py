"""How nodes join a cluster that works: a member's door tells them who is there, and gives each of them a number.

A node that wants to join has an invitation, ``tcp://host:port/secret``, of one of the members. It sends what it was
called with; if that fits, the member answers with a number that is free and the endpoints of all members. Then the
nodes among themselves decide when it becomes one of them.
"""

from __future__ import annotations

import hmac
import json
import logging
import socket
import time
import weakref
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from pyps.answering import MOST_BYTES, Answering
from pyps.errors import Error, StartError
from pyps.rendezvous.interfaces import at_port
from pyps.rendezvous.offers import Agreed, find_difference

if TYPE_CHECKING:
    from pyps.server import Server

END = b"\n"
TIMEOUT = 30.0  # seconds that the members may take to agree on a number
KNOWN_LATER = ("num_nodes", "places")  # which a node learns by its answer

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Invitation:
    """What a node must know in order to join.

    Attributes
    ----------
    host, port
        Where a member answers.
    cluster : int
        The cluster's number, which is known to nobody else.
    """

    host: str
    port: int
    cluster: int

    def __str__(self) -> str:
        return f"tcp://{at_port(self.host, self.port)}/{self.cluster:016x}"

    @classmethod
    def read(cls, text: str) -> Invitation:
        """Read what `str` returns.

        Raises
        ------
        ValueError
            It is no invitation.
        """
        try:
            parts = urlsplit(text)
            host, port, secret = parts.hostname, parts.port, int(parts.path.removeprefix("/"), 16)
        except ValueError:
            host, port, secret = None, None, 0
        if host is None or port is None or parts.scheme != "tcp":
            raise ValueError(
                f"join is {text!r}; it must be the `invitation` of a node of the cluster, tcp://host:port/secret"
            )
        return cls(host, port, secret)


@dataclass(frozen=True)
class Welcome:
    """What a node that joins is told.

    Attributes
    ----------
    number, num_nodes, places : int
        As `Server` takes them; `number` is its rank.
    endpoints : list of str, of length `places`
        Of the members; empty where there is none.
    """

    number: int
    num_nodes: int
    places: int
    endpoints: list[str]


class Door(Answering):
    """The door of a member, from now on until it is closed.

    Parameters
    ----------
    node : Server
        It is not kept alive.
    agreed : dict
        What must be the same on all nodes.
    cluster : int
    interface : str
        As for `Answering`.

    Attributes
    ----------
    invitation : str
    """

    def __init__(self, node: Server, agreed: Agreed, cluster: int, interface: str) -> None:
        self._node = weakref.ref(node)
        self._agreed = _without_later(agreed)
        self._cluster = cluster
        super().__init__(interface, 0, "pyps door", END)
        host, port = self._socket.getsockname()[:2]
        self.invitation = str(Invitation(host, port, cluster))

    def _answer(self, request: bytes) -> bytes:
        try:
            asked = json.loads(request)
            cluster, agreed = int(asked["cluster"]), dict(asked["agreed"])
        except (ValueError, KeyError, TypeError):
            return encode({"error": "this is no question of a node that joins"})
        if not hmac.compare_digest(str(cluster), str(self._cluster)):
            return encode({"error": "the invitation is another cluster's"})
        node = self._node()
        if node is None or not node.is_open:
            return encode({"error": "this node has shut down"})
        if (wrong := find_difference(agreed, self._agreed, f"node {node.rank}")) is not None:
            return encode({"differs": wrong})
        return encode(self._welcome(node))

    def _welcome(self, node: Server) -> dict[str, object]:
        try:
            number = node.take_place(TIMEOUT)
        except (Error, RuntimeError) as error:
            return {"error": str(error)}
        logger.info("node %d of %d lets another one join as node %d", node.rank, node.num_nodes, number)
        return asdict(Welcome(number, node.num_nodes, node.places, node.endpoints()))


def ask_for_place(invitation: Invitation, agreed: Agreed, timeout: float) -> Welcome:
    """Ask a member for a place; tell it what must be the same on all nodes.

    Raises
    ------
    StartError
        It cannot be reached, or has no place.
    ValueError
        The arguments do not fit those of the cluster.
    """
    question = {"cluster": invitation.cluster, "agreed": _without_later(agreed)}
    where = at_port(invitation.host, invitation.port)
    try:
        with socket.create_connection((invitation.host, invitation.port), timeout) as line:
            line.sendall(encode(question))
            answer = json.loads(_receive(line, timeout))
    except (OSError, ValueError) as error:
        raise StartError(f"no node of the cluster answers at {where}: {error or 'no answer'}") from None
    if "differs" in answer:
        raise ValueError(f"this node disagrees with the cluster: {answer['differs']}")
    if "error" in answer:
        raise StartError(f"the node at {where} does not let this one join: {answer['error']}")
    return Welcome(**answer)


def _without_later(agreed: Agreed) -> Agreed:
    return {name: value for name, value in agreed.items() if name not in KNOWN_LATER}


def encode(message: dict[str, object]) -> bytes:
    """Return a message as a line."""
    return json.dumps(message).encode() + END


def _receive(line: socket.socket, timeout: float) -> bytes:
    deadline = time.monotonic() + timeout
    received = b""
    while not received.endswith(END):
        line.settimeout(max(0.01, deadline - time.monotonic()))
        part = line.recv(MOST_BYTES)
        if not part:
            break
        received += part
    return received
