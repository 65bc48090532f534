"""How the nodes that are there divide the work of a checkpoint: by their positions among each other."""

from __future__ import annotations

from typing import NamedTuple

from pyps._core import Member
from pyps.checkpoint.rows import Rows
from pyps.errors import CheckpointError, ClosedError, NodeLost


class Turn(NamedTuple):
    """The numbers of the nodes that take part, and this node's position among them, from 0."""

    members: tuple[int, ...]
    position: int

    @property
    def nodes(self) -> int:
        """How many nodes take part."""
        return len(self.members)

    @property
    def is_first(self) -> bool:
        """Whether this node decides."""
        return self.position == 0

    @property
    def share(self) -> slice:
        """Which of the shards are this node's, where the nodes divide them."""
        return slice(self.position, None, self.nodes)


def turn_of(node: Member) -> Turn:
    """Return a node's turn among the nodes that are there; without replicas all of the cluster are needed."""
    members = members_of(node)
    if node.rank not in members:
        raise ClosedError(f"node {node.rank} is no member of its cluster any more")
    return Turn(members, members.index(node.rank))


def members_of(node: Member) -> tuple[int, ...]:
    """Return the numbers of the nodes among which all keys are."""
    return tuple(node.members if node.replicas else range(node.num_nodes))


class Presence(NamedTuple):
    """Looks at whether the nodes of a turn are still those that are there, from one of them.

    `timeout` is in seconds, for each look: of the others it learns from them.
    """

    turn: Turn
    node: Member
    rows: Rows
    timeout: float

    def require(self) -> None:
        """Raise what keeps this node from going on: NodeLost if one has gone, CheckpointError if another has joined."""
        self.rows.wait_sync(self.timeout)  # without replicas it raises NodeLost itself
        for gone in self.gone() if self.node.replicas else ():
            raise NodeLost(
                f"node {gone} was lost or has left meanwhile: call it again on the others", node=gone
            )
        for new in set(members_of(self.node)) - set(self.turn.members):
            raise CheckpointError(f"node {new} has joined meanwhile: call it again, on all nodes")

    def gone(self) -> set[int]:
        """Return the numbers of the nodes that are not there any more."""
        return set(self.turn.members) - set(self.node.members)
