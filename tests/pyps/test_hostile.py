"""A live node under hostile traffic: nothing crashes, no value changes, workers go on."""

from __future__ import annotations

import json
import resource
import socket
import struct
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack

import numpy as np
import pytest

from tests.pyps import hostile
from tests.pyps.cluster import Cluster
from tests.pyps.conftest import Program, finish


@pytest.fixture
def cluster() -> Iterator[Cluster]:
    """Two nodes with values of several lengths, which a worker uses meanwhile."""
    with Cluster(2, 20, np.arange(20) % 3 + 1, dtype="int64") as cluster, hostile.in_use(cluster):
        yield cluster


@pytest.mark.slow
def test_damaged_messages_of_strangers_change_nothing(cluster: Cluster) -> None:
    hostile.attack(cluster.nodes[0], cluster.endpoints[0], 5000, seed=1)


def junk(seed: int) -> Callable[[socket.socket], None]:
    def send(peer: socket.socket) -> None:
        peer.sendall(np.random.default_rng(seed).bytes(3000))

    return send


def a_large_frame(peer: socket.socket) -> None:
    """Announce a message of 2^62 bytes, and one that memory would hold."""
    peer.sendall(hostile.GREETING + hostile.READY)
    peer.sendall(b"\x02" + struct.pack(">Q", 2**62) + bytes(1000))


BYTES: dict[str, Callable[[socket.socket], None]] = {
    **{f"random bytes {seed}": junk(seed) for seed in range(5)},
    "HTTP": lambda peer: peer.sendall(hostile.HTTP),
    "a part of a greeting": lambda peer: peer.sendall(hostile.GREETING[:20]),
    "a greeting and random bytes": lambda peer: peer.sendall(hostile.GREETING + bytes(range(256)) * 20),
    "a large frame": a_large_frame,
    "a reset": lambda peer: peer.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0)),
}


@pytest.mark.parametrize("name", BYTES)
def test_what_is_no_message_at_all_changes_nothing(cluster: Cluster, name: str) -> None:
    for _ in range(10):
        with hostile.connected(cluster.endpoints[0]) as peer:
            BYTES[name](peer)
            time.sleep(0.002)
    with cluster.nodes[0].worker() as kv:
        kv.pull([0, 1], np.zeros(3, np.int64))


def test_many_connections_that_say_nothing_or_little_keep_nobody_out(cluster: Cluster) -> None:
    files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    with ExitStack() as stack:
        peers = [
            stack.enter_context(hostile.connected(cluster.endpoints[0])) for _ in range(min(files // 8, 100))
        ]
        for at in range(30):  # each sends its greeting byte by byte
            for peer in peers[::2]:
                peer.send(hostile.GREETING[at : at + 1])
        with cluster.nodes[1].worker() as kv:
            kv.pull(np.arange(20), np.zeros(cluster.nodes[0].total_values, np.int64))


FLOOD = """
import resource, sys
from tests.pyps.hostile import connected
_, most = resource.getrlimit(resource.RLIMIT_NOFILE)
resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
peers = [connected(sys.argv[1]) for _ in range(160)]
print("there", flush=True)
sys.stdin.read()
"""
FLOODED = """
import resource, subprocess
from tests.pyps.cluster import Cluster
_, most = resource.getrlimit(resource.RLIMIT_NOFILE)
resource.setrlimit(resource.RLIMIT_NOFILE, (150, most))

def no_descriptors():
    try:
        os.close(os.open("/dev/null", os.O_RDONLY))
    except OSError:
        return True
    return False

one = np.ones(1, np.int64)
with Cluster(2, 10, dtype="int64") as cluster, cluster.nodes[1].worker() as first:
    first.push([0], one)
    command = [sys.executable, "-c", sys.argv[1], cluster.endpoints[0]]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as flood:
        assert flood.stdout.readline() == "there\\n"
        while not no_descriptors():
            time.sleep(0.01)
        first.push([0], one)
        errors = []
        for _ in range(3):
            try:
                with cluster.nodes[1].worker() as second:
                    second.push([0], one)
            except OSError as error:
                errors.append(str(error))
        flood.communicate()
    while no_descriptors():
        time.sleep(0.01)
    time.sleep(0.5)
    with cluster.nodes[1].worker() as second:
        second.push([0], one)
    out = np.zeros(1, np.int64)
    first.pull([0], out)
    print(json.dumps([errors, int(out[0])]))
"""


@pytest.mark.slow
def test_a_process_without_descriptors_left_says_so_and_recovers(program: Program) -> None:
    """So many connections that a node's process can open no more."""
    errors, total = json.loads(finish(program(FLOODED, FLOOD)))
    assert len(errors) == 3
    assert all("Too many open files" in error for error in errors)
    assert total == 3
