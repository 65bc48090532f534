"""Which node a process belongs to, and whether it creates it."""

from __future__ import annotations

from dataclasses import dataclass

from pyps.rendezvous.environment import Torchrun


@dataclass(frozen=True)
class Place:
    """A process's place in a cluster.

    Attributes
    ----------
    node, num_nodes : int
        The number of its node, and how many nodes there are.
    creates : bool
        Whether it creates the node; otherwise it attaches to it.
    process, num_processes : int
        Its own number, and how many processes there are.
    local_process : int
        Its number among the processes of this host; 0 if the job does not tell.
    processes_here : int
        How many processes its node has; 0 if that is not known.
    """

    node: int
    num_nodes: int
    creates: bool
    process: int
    num_processes: int
    local_process: int = 0
    processes_here: int = 0

    @property
    def is_shared(self) -> bool:
        """Whether processes attach to nodes."""
        return self.num_processes > self.num_nodes


def place_of_node(node: int, num_nodes: int, processes_here: int = 0) -> Place:
    """Return the place of a process that is a node by itself.

    Raises
    ------
    ValueError
        There is no such node.
    """
    if num_nodes < 1:
        raise ValueError(f"num_nodes is {num_nodes}; it must be at least 1")
    if not 0 <= node < num_nodes:
        raise ValueError(f"rank is {node}; it must be in [0, {num_nodes})")
    return Place(node, num_nodes, True, node, num_nodes, processes_here=processes_here)


def place_under_torchrun(run: Torchrun) -> Place:
    """Return the place of a process on its host: nodes get processes in order, and the first one creates the node.

    Raises
    ------
    ValueError
        A host has fewer processes than nodes.
    """
    per_host, processes = run.nodes_per_host, run.local_world_size
    if per_host > processes:
        raise ValueError(f"PYPS_NODES_PER_HOST is {per_host}, but this host has {processes} processes")
    index = run.local_rank * per_host // processes
    first, end = (-(-number * processes // per_host) for number in (index, index + 1))
    return Place(
        node=run.group_rank * per_host + index,
        num_nodes=run.group_world_size * per_host,
        creates=run.local_rank == first,
        process=run.rank,
        num_processes=run.world_size,
        local_process=run.local_rank,
        processes_here=end - first,
    )
