"""What a node of a large cluster needs of its process."""

from __future__ import annotations

import os
import resource
import socket
import struct
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import pyps
from tests.pyps.cluster import Cluster
from tests.pyps.conftest import finish
from tests.python_path import python_path

pytestmark = pytest.mark.slow

BIND_AND_CONNECT = """
import resource, sys
import pyps
soft, hard, nodes = map(int, sys.argv[1:4])
resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
try:
    with pyps.Server(nodes, 1, num_nodes=nodes, rank=0) as node:
        endpoint = node.bind("tcp://127.0.0.1:*")
        node.connect([endpoint] + ["tcp://127.0.0.1:9"] * (nodes - 1))
        print("connected", resource.getrlimit(resource.RLIMIT_NOFILE)[0])
        node.shutdown(timeout=0)
except OSError as error:
    print(error.strerror)
"""


def bind_and_connect(soft: int, hard: int, nodes: int) -> str:
    done = subprocess.run(
        [sys.executable, "-c", BIND_AND_CONNECT, str(soft), str(hard), str(nodes)],
        env={**os.environ, "PYTHONPATH": python_path()},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.stderr == ""
    return done.stdout


def test_a_large_cluster_raises_the_process_s_limit() -> None:
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    word, limit = bind_and_connect(1024, most, nodes=300).split()
    assert word == "connected"
    assert 1260 < int(limit) <= most


def test_a_large_cluster_without_descriptors_says_how_many_it_needs() -> None:
    text = bind_and_connect(1024, 1024, nodes=300)
    assert "a node of 300 needs about 1260 more file descriptors" in text
    assert "this process may have 1024: raise that (`ulimit -n`)" in text


def most_that_may_wait(port: int) -> int:
    """Return how many connections to this process's port may be there before it takes the first."""
    for entry in Path("/proc/self/fd").iterdir():
        if not entry.is_socket():
            continue
        with socket.socket(fileno=os.dup(int(entry.name))) as found:
            is_tcp = found.family == socket.AF_INET and found.type == socket.SOCK_STREAM
            if is_tcp and found.getsockname()[1] == port:
                info = found.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 32)
                return int(struct.unpack_from("I", info, 28)[0])  # tcpi_sacked: of a listener its backlog
    raise LookupError(f"nobody listens at {port}")


def test_all_nodes_of_a_large_cluster_may_connect_at_once() -> None:
    """A connection that finds no room is tried again after a second, then two, four."""
    limit = int(Path("/proc/sys/net/core/somaxconn").read_text())
    with pyps.Server(2, 1, num_nodes=2, rank=0) as node:
        port = int(node.bind("tcp://127.0.0.1:*").rpartition(":")[2])
        assert most_that_may_wait(port) == min(limit, 1 << 14)


def test_a_worker_connects_to_the_nodes_that_it_speaks_to(program: Any) -> None:
    source = """
with pyps.attach(sys.argv[1]) as node, node.worker() as kv:
    for keys in [0], [1], [1, 7], [2], range(6):
        kv.push(keys, np.ones(len(keys), np.float32))
        print(len(os.listdir("/proc/self/fd")))
"""
    with Cluster(6, 12, 1) as cluster:
        process = program(source, cluster.nodes[0].address)
        alone, one, one_again, two, all_five = map(int, finish(process).split())
    assert alone < one == one_again == two - 1 == all_five - 4


def test_many_nodes_are_measured() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tests.pyps.many_nodes", "6", "--heartbeat", "0.5", "--seconds", "0.5"],
        env={**os.environ, "PYTHONPATH": python_path()},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.stderr == ""
    nodes, processes, *_, descriptors, threads, _, _, _ = done.stdout.splitlines()[2].split()
    assert (nodes, processes) == ("6", "1")
    assert 6 * 4 < int(descriptors) < 60
    assert 3 < float(threads) < 8
