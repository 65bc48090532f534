"""A graph as social ones are: few nodes have most edges, and edges like to stay within a class.

Its neighbours lie in shared tensors in compressed rows: those of node i are ``neighbours[begins[i]:begins[i + 1]]``.
"""

from __future__ import annotations

from typing import NamedTuple

import torch

from pyps import wholememory as wm

CLASSES = 16
WITHIN = 0.7  # of the edges stay in a class
NOISE = 3.0  # of features: a node alone hardly tells its class


class Graph(NamedTuple):
    """A graph in shared tensors.

    Attributes
    ----------
    begins : torch.Tensor of int64, shape (nodes + 1,)
    neighbours : torch.Tensor of int32, shape (edges,)
    features : torch.Tensor of float32, shape (nodes, length)
    labels : torch.Tensor of int64, shape (nodes,)
    """

    begins: torch.Tensor
    neighbours: torch.Tensor
    features: torch.Tensor
    labels: torch.Tensor


def generate(nodes: int, edges: int, length: int = 32, seed: int = 0) -> Graph:
    """Make a graph whose degrees follow a power law, in tensors that ranks share."""
    generator = torch.Generator().manual_seed(seed)

    def ends() -> torch.Tensor:
        """Draw nodes; a node's share of edges falls with the root of its number."""
        return (nodes * torch.rand(edges, generator=generator, dtype=torch.float64).square()).long()

    order = torch.randperm(nodes, generator=generator)  # no number tells how many edges a node has
    source, target = ends(), ends()
    same = torch.rand(edges, generator=generator) < WITHIN
    target = torch.where(same, target - target % CLASSES + source % CLASSES, target).clamp_(max=nodes - 1)
    labels = torch.empty(nodes, dtype=torch.int64)
    labels[order] = torch.arange(nodes) % CLASSES
    source, by_source = order[source].sort()
    begins = torch.zeros(nodes + 1, dtype=torch.int64)
    torch.cumsum(torch.bincount(source, minlength=nodes), 0, out=begins[1:])
    graph = Graph(
        wm.create_tensor([nodes + 1], [], torch.int64, True, []),
        wm.create_tensor([edges], [], torch.int32, True, []),
        wm.create_tensor([nodes, length], [], torch.float32, True, []),
        wm.create_tensor([nodes], [], torch.int64, True, []),
    )
    graph.begins.copy_(begins)
    graph.neighbours.copy_(order[target[by_source]])
    graph.labels.copy_(labels)
    centres = torch.randn(CLASSES, length, generator=generator)
    graph.features.normal_(0, NOISE, generator=generator).add_(centres[labels])
    return graph


def sample(graph: Graph, nodes: torch.Tensor, count: int) -> torch.Tensor:
    """Draw neighbours with replacement; a node without any is its own.

    Parameters
    ----------
    nodes : torch.Tensor of int64, shape (n,)

    Returns
    -------
    torch.Tensor of int64, shape (n, count)
    """
    first = wm.gather(graph.begins, nodes)[:, None]
    degree = wm.gather(graph.begins, nodes + 1)[:, None] - first
    chosen = first + (torch.rand(len(nodes), count) * degree).long().minimum((degree - 1).clamp(min=0))
    chosen.clamp_(max=len(graph.neighbours) - 1)
    return torch.where(degree > 0, wm.gather(graph.neighbours, chosen).long(), nodes[:, None])
