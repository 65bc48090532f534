"""The memory in which workers keep former values: one value per worker, given back when the worker has left."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pyps
from tests.pyps.cluster import Cluster

WORKERS, LENGTH = 20, 1_000_000
VALUE = 4 * LENGTH  # bytes
SLACK = 300_000  # pages that areas share, slots, the directory

PUSH_FOREVER = """
kv = pyps.attach(sys.argv[1]).worker()
ones = np.ones((1, int(sys.argv[2])), np.float32)
kv.push([0], ones)
print("pushed", flush=True)
while True:
    kv.push([0], ones)
"""


def taken(server: pyps.Server) -> int:
    return int(server.stats()["committed_bytes"])


def test_each_worker_takes_one_value_and_gives_it_back() -> None:
    with pyps.Server(1, LENGTH) as server:
        before = taken(server)
        workers = [server.worker() for _ in range(WORKERS)]
        for kv in workers:
            kv.push([0], np.ones((1, LENGTH), np.float32))
        assert 0 <= taken(server) - before - WORKERS * VALUE < SLACK
        for kv in workers:
            kv.finalize()
        assert taken(server) - before < SLACK
        with server.worker() as kv:
            assert (kv.pull([0]) == WORKERS).all()
            assert 0 <= taken(server) - before - VALUE < SLACK


@pytest.mark.slow
def test_what_a_killed_worker_took_comes_back(program: Any) -> None:
    with pyps.Server(1, LENGTH) as server:
        before = taken(server)
        process = program(
            PUSH_FOREVER,
            server.address,
            str(LENGTH),
        )
        assert process.stdout.readline() == "pushed\n"
        assert taken(server) - before >= VALUE
        process.kill()
        process.wait()
        with server.worker() as kv:
            assert taken(server) - before - VALUE < SLACK
            value = kv.pull([0])
            assert value[0, 0] >= 1
            assert (value == value[0, 0]).all()


def test_room_is_kept_for_workers_that_may_come_again() -> None:
    limit = 12 * VALUE
    with pyps.Server(1, LENGTH, memory_limit=limit) as server:
        for _ in range(3):
            workers = [server.worker() for _ in range(10)]
            assert taken(server) <= limit
            for kv in workers:
                kv.finalize()


def test_a_node_among_others_keeps_what_a_push_to_a_replica_changes() -> None:
    with Cluster(2, 2, LENGTH) as cluster:
        node = cluster.nodes[0]
        before = taken(node)
        with node.worker():
            assert 0 <= taken(node) - before - 2 * VALUE < SLACK
        assert taken(node) - before < SLACK
