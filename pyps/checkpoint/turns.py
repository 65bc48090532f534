"""How the nodes that are there divide the work of a checkpoint: by their positions among each other."""

from __future__ import annotations

from typing import NamedTuple

from pyps._core import Member
from pyps.errors import ClosedError


class Turn(NamedTuple):
    """A node's position among the nodes that are there, from 0, and how many these are."""

    position: int
    nodes: int

    @property
    def is_first(self) -> bool:
        """Whether this node decides."""
        return self.position == 0

    @property
    def share(self) -> slice:
        """Which of the shards are this node's, where the nodes divide them."""
        return slice(self.position, None, self.nodes)


def turn_of(node: Member) -> Turn:
    """Return a node's turn; nodes that join or go meanwhile are not seen."""
    if node.places == node.num_nodes:  # all of them are needed: a loss is an error of the call
        return Turn(node.rank, node.num_nodes)
    members = node.members
    if node.rank not in members:
        raise ClosedError(f"node {node.rank} is no member of its cluster any more")
    return Turn(members.index(node.rank), len(members))
