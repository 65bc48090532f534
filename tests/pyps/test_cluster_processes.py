"""Several nodes in one process: beside other threads, idle, ended, begun anew."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

import pyps
from tests.pyps.cluster import Cluster
from tests.python_path import python_path

TIMEOUT = 20.0
ONE = np.ones(1, np.int64)


CALLS = {
    "pull": lambda kv: kv.pull([1], np.zeros(1, np.int64)),
    "push": lambda kv: kv.push([1], ONE),
    "set": lambda kv: kv.set([1], ONE),
    "localize": lambda kv: kv.localize([1]),
    "wait": lambda kv: kv.pull([1], np.zeros(1, np.int64), asynchronous=True).wait(TIMEOUT),
    "waitall": lambda kv: (kv.push([1], ONE, asynchronous=True), kv.waitall(TIMEOUT)),
}


@pytest.mark.slow
@pytest.mark.parametrize("call", CALLS)
def test_threads_that_wait_for_other_nodes_leave_python_to_the_rest(call: str) -> None:
    """Two of them, who get no answer until this thread lets messages through."""
    with Cluster(2, 10, dtype="int64", slow=True) as cluster, ThreadPoolExecutor(2) as pool:
        workers = [cluster.nodes[0].worker() for _ in range(2)]
        for kv in workers:
            kv.pull([1], np.zeros(1, np.int64))
        with cluster.silent():
            waiting = [pool.submit(CALLS[call], kv) for kv in workers]
            time.sleep(0.1)
            assert not any(each.done() for each in waiting)
        for each in waiting:
            each.result(TIMEOUT)
        for kv in workers:
            kv.finalize()


@pytest.mark.slow
def test_an_idle_cluster_takes_no_processor_time() -> None:
    """Four nodes, after they have had replicas: less than a hundredth of a core each."""
    with Cluster(4, 20, dtype="int64") as cluster:
        for node in cluster.nodes:
            with node.worker() as kv:
                kv.intent(np.arange(20), 0, 3)
                kv.pull(np.arange(20), np.zeros(20, np.int64))
        time.sleep(0.5)
        before = time.process_time()
        time.sleep(2)
        assert (time.process_time() - before) / 2 / len(cluster) < 0.01


@pytest.mark.slow
@pytest.mark.parametrize("slow", [False, True], ids=["direct", "slow"])
def test_workers_end_in_any_order_and_from_any_thread_while_operations_are_on_their_way(slow: bool) -> None:
    with Cluster(3, 12, dtype="int64", slow=slow) as cluster:
        for _ in range(5):
            workers = [node.worker() for node in cluster.nodes for _ in range(2)]
            for kv in workers:
                kv.push(np.arange(12), np.ones(12, np.int64), asynchronous=True)
                kv.localize(np.arange(12), asynchronous=True)
                kv.intent(np.arange(12), 0, 5)
            with ThreadPoolExecutor(6) as pool:
                for ended in [pool.submit(kv.finalize) for kv in workers * 2]:
                    ended.result(TIMEOUT)
        with cluster.nodes[0].worker() as kv:
            out = np.zeros(12, np.int64)
            kv.pull(np.arange(12), out)
            assert (out >= 0).all()


@pytest.mark.slow
@pytest.mark.parametrize("order", [(0, 1, 2), (2, 0, 1)])
def test_nodes_shut_down_in_any_order_while_operations_are_on_their_way(order: tuple[int, ...]) -> None:
    with Cluster(3, 12, dtype="int64") as cluster:
        workers = [node.worker() for node in cluster.nodes]
        for kv in workers:
            kv.push(np.arange(12), np.ones(12, np.int64), asynchronous=True)
            kv.localize(np.arange(12), asynchronous=True)
        began = time.monotonic()
        for at in order:
            cluster.nodes[at].shutdown()
            cluster.nodes[at].shutdown()
        for kv in workers:
            kv.finalize()
        assert time.monotonic() - began < TIMEOUT / 2


def test_a_cluster_begins_anew_in_place() -> None:
    """In the same process, at the same endpoints, with values from zero."""
    with Cluster(2, 10, dtype="int64") as cluster, cluster.nodes[0].worker() as kv:
        kv.push([1], ONE)
        endpoints = cluster.endpoints
    for _ in range(5):
        nodes = [pyps.Server(10, dtype="int64", num_nodes=2, rank=rank) for rank in range(2)]
        try:
            for node, endpoint in zip(nodes, endpoints, strict=True):
                node.bind(endpoint)
            for node in nodes:
                node.connect(endpoints)
            with nodes[0].worker() as kv:
                out = np.zeros(1, np.int64)
                kv.push([1], ONE)
                kv.pull([1], out)
            assert out.tolist() == [1]
        finally:
            for node in nodes:
                node.shutdown()


def test_two_clusters_in_one_process_are_apart() -> None:
    with Cluster(2, 10, dtype="int64") as one, Cluster(2, 10, dtype="int64") as two:
        with one.nodes[0].worker() as kv:
            kv.push([1], ONE)
        assert one.settles_at(np.array([0, 1] + [0] * 8))
        assert two.settles_at(np.zeros(10, np.int64))


def sockets(directory: Path) -> list[str]:
    return sorted(one.name for one in directory.iterdir())


def bound(directory: Path) -> pyps.Server:
    node = pyps.Server(10, 1, num_nodes=2, rank=0)
    node.bind(f"ipc://{directory}/socket")
    return node


def test_the_file_of_an_endpoint_goes_with_its_node(tmp_path: Path) -> None:
    with bound(tmp_path):
        assert sockets(tmp_path) == ["socket"]
    assert sockets(tmp_path) == []


def test_the_file_of_another_node_stays(tmp_path: Path) -> None:
    first = bound(tmp_path)
    with bound(tmp_path):  # ZeroMQ takes the file's place
        first.shutdown(timeout=0)
        assert sockets(tmp_path) == ["socket"]
    assert sockets(tmp_path) == []


WITHOUT_DESCRIPTORS = """
import os, resource, time
from pathlib import Path
from tests.pyps.cluster import Cluster
import pyps

def opened():
    return sorted(os.readlink(f"/proc/self/fd/{fd}") for fd in os.listdir("/proc/self/fd")
                  if os.path.exists(f"/proc/self/fd/{fd}"))

with Cluster(2, 10):
    pass  # what a process opens once
before = opened()
_, most = resource.getrlimit(resource.RLIMIT_NOFILE)
failures = 0
for limit in range(20, 400):
    resource.setrlimit(resource.RLIMIT_NOFILE, (limit, most))
    try:
        with Cluster(2, 10):
            break
    except (OSError, RuntimeError) as error:
        failures += 1
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    until = time.monotonic() + 5
    while opened() != before and time.monotonic() < until:
        time.sleep(0.01)
    assert opened() == before, (limit, opened(), before)
assert failures > 20, failures
"""


@pytest.mark.slow
def test_a_start_without_descriptors_leaves_none_behind() -> None:
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_DESCRIPTORS],
        env={**os.environ, "PYTHONPATH": python_path()},
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
