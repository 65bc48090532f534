"""System calls of an operation with another node's key; most of them are ZeroMQ's."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.python_path import python_path

PULLS = """
import sys
import numpy as np
import pyps

def pull(node, times):
    key, out = np.array([1]), np.zeros(1, np.float32)
    with node.worker() as kv:
        for _ in range(times):
            kv.pull(key, out)
"""
WORKER = (
    PULLS
    + """
with pyps.attach(sys.argv[1]) as node:
    pull(node, int(sys.argv[2]))
"""
)
NODES = (
    PULLS
    + """
import subprocess
from tests.pyps.cluster import Cluster

worker, pulls = sys.argv[1:]
with Cluster(2, 10, 1, heartbeat=5, lost_after=60) as cluster:
    if worker:
        subprocess.run([sys.executable, "-c", worker, cluster.nodes[0].address, pulls], check=True)
    else:
        pull(cluster.nodes[0], int(pulls))
"""
)


def system_calls(worker: str, pulls: int, counts: Path) -> int:
    """Count those of the nodes' process and of the worker's, from their start to their end."""
    subprocess.run(
        ["strace", "-f", "-c", "-o", counts, sys.executable, "-c", NODES, worker, str(pulls)],
        env={**os.environ, "PYTHONPATH": python_path()},
        timeout=60,
        check=True,
    )
    *_, total = counts.read_text().splitlines()
    _, _, _, calls, *_, name = total.split()
    assert name == "total"
    return int(calls)


@pytest.mark.long
@pytest.mark.parametrize(
    ("worker", "most"),
    [pytest.param(WORKER, 54, id="attached"), pytest.param("", 57, id="in the server's process")],
)
def test_a_pull_of_another_node_s_key_takes_few_system_calls(worker: str, most: int, tmp_path: Path) -> None:
    if shutil.which("strace") is None:
        pytest.skip("strace is missing (Debian: apt-get install strace)")
    few, many = (system_calls(worker, pulls, tmp_path / "counts") for pulls in (100, 1100))
    assert 30 < (many - few) / 1000 <= most  # ZeroMQ alone takes 46
