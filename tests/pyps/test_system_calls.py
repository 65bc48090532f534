"""System calls of an operation with another node's key; most of them are ZeroMQ's."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.python_path import python_path

WORKER = """
import sys
import numpy as np
import pyps

key, out = np.array([1]), np.zeros(1, np.float32)
with pyps.attach(sys.argv[1]) as node, node.worker() as kv:
    for _ in range(int(sys.argv[2])):
        kv.pull(key, out)
"""
NODES = """
import subprocess, sys
from tests.pyps.cluster import Cluster

worker, pulls = sys.argv[1:]
with Cluster(2, 10, 1, heartbeat=5, lost_after=60) as cluster:
    subprocess.run([sys.executable, "-c", worker, cluster.nodes[0].address, pulls], check=True)
"""


def system_calls(pulls: int, counts: Path) -> int:
    """Count those of the nodes' process and of the worker's, from their start to their end."""
    subprocess.run(
        ["strace", "-f", "-c", "-o", counts, sys.executable, "-c", NODES, WORKER, str(pulls)],
        env={**os.environ, "PYTHONPATH": python_path()},
        timeout=60,
        check=True,
    )
    *_, total = counts.read_text().splitlines()
    _, _, _, calls, *_, name = total.split()
    assert name == "total"
    return int(calls)


@pytest.mark.slow
def test_a_pull_of_another_node_s_key_takes_few_system_calls(tmp_path: Path) -> None:
    if shutil.which("strace") is None:
        pytest.skip("strace is missing (Debian: apt-get install strace)")
    few, many = (system_calls(pulls, tmp_path / "counts") for pulls in (100, 1100))
    assert 30 < (many - few) / 1000 <= 56  # ZeroMQ alone takes 46
