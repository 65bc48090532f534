"""Nodes that all live in the benchmark's own process."""

from __future__ import annotations

from contextlib import ExitStack
from typing import Any

import pyps
from benchmarks.nodes.cluster import LOOPBACK


def worker_of_first(
    stack: ExitStack, num_nodes: int, *shape: Any, endpoint: str = LOOPBACK, **options: Any
) -> pyps.Worker:
    """Start nodes of servers with these arguments; return a worker of the first one."""
    nodes = [
        stack.enter_context(pyps.Server(*shape, num_nodes=num_nodes, rank=rank, **options))
        for rank in range(num_nodes)
    ]
    if num_nodes > 1:
        endpoints = [node.bind(endpoint) for node in nodes]
        for node in nodes:
            node.connect(endpoints)
        for node in nodes:
            stack.callback(node.shutdown, timeout=0)  # without waiting for each other
    return stack.enter_context(nodes[0].worker())
