"""The processes of a local cluster, and the variables by which `pyps.init` and torch.distributed know their places."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

# Variables of another way into a cluster: with both, a program could not tell which is meant.
FOREIGN = ("DMLC_ROLE", "DMLC_PS_ROOT_URI", "DMLC_PS_ROOT_PORT", "DMLC_NUM_SERVER")


@dataclass(frozen=True)
class Process:
    """One process: its label for people, and the variables that it gets."""

    label: str
    node: int
    variables: Mapping[str, str]


def plan(nodes: int, workers_per_node: int, port: int, metrics_port: int | None = None) -> list[Process]:
    """Return the processes in the order of their ranks, `workers_per_node` for each node.

    Parameters
    ----------
    port : int
        Where the launcher serves the store, on the loopback.
    metrics_port : int, optional
        That of node 0; each other node has the next one. 0: each takes a free one.
    """
    processes = nodes * workers_per_node
    common = {
        "WORLD_SIZE": str(processes),
        "LOCAL_WORLD_SIZE": str(processes),
        "GROUP_RANK": "0",
        "GROUP_WORLD_SIZE": "1",
        "MASTER_ADDR": "127.0.0.1",
        "MASTER_PORT": str(port),
        "TORCHELASTIC_USE_AGENT_STORE": "True",
        "TORCHELASTIC_RESTART_COUNT": "0",
        "PYPS_NODES_PER_HOST": str(nodes),
        "PYTHONUNBUFFERED": "1",
    }
    found = []
    for rank in range(processes):
        node, worker = divmod(rank, workers_per_node)
        label = f"node {node}" + (f" worker {worker}" if workers_per_node > 1 else "")
        variables = {**common, "RANK": str(rank), "LOCAL_RANK": str(rank)}
        if metrics_port is not None:
            variables["PYPS_METRICS_PORT"] = str(metrics_port + node if metrics_port else 0)
        found.append(Process(label, node, variables))
    return found


def environment(process: Process) -> dict[str, str]:
    """Return the whole environment of a process."""
    ours = {name: value for name, value in os.environ.items() if name not in FOREIGN}
    return {**ours, **process.variables}


def command(script: str, arguments: Sequence[str]) -> list[str]:
    """Return what is run: a Python file by this interpreter, anything else by itself."""
    interpreter = [sys.executable] if script.endswith(".py") else []
    return [*interpreter, script, *arguments]
