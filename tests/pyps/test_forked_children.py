"""Forked children that end as programs do: by their last line, sys.exit, or letting go of what they inherited."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.python_path import python_path

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
PROLOGUE = """
import os, sys, threading
import numpy as np
import pyps
from tests.pyps.cluster import Cluster

ONE = np.ones(1, np.int64)

def in_child(body):
    pid = os.fork()
    if pid == 0:
        body()
        sys.exit(0)
    done, status = os.waitpid(pid, 0)
    if status != 0:
        raise SystemExit(f"the child ended with {status}")

def values(kv, *keys):
    return kv.pull(keys).ravel().tolist()
"""
NODE = """
with pyps.Server(10, 1, dtype="int64") as node, node.worker() as kv:
    BODY
print("the parent ended")
"""
TWO_NODES = """
with Cluster(2, 10, dtype="int64") as cluster:
    node = cluster.nodes[0]
    kv = node.worker()
    kv.push([1], ONE)  # on the other node
    BODY
    kv.push([1], ONE)
    kv.finalize()
print("the parent ended")
"""
ON_A_NODE = {
    "a worker of its own": """
    def child():
        kv.push([1], ONE)
        assert kv.id == 2
        kv.push([1], ONE)
        assert kv.advance_clock() == 1
        kv.finalize()
    in_child(child)
    assert values(kv, 1) == [2]
    assert kv.id == 1
    assert kv.current_clock() == 0""",
    "closes": """
    address = node.address
    def child():
        kv.finalize()
        node.shutdown()
    in_child(child)
    kv.push([1], ONE)
    assert node.is_open
    with pyps.attach(address) as attached:
        assert attached.is_open""",
    "finalized before": """
    other = node.worker()
    other.finalize()
    def child():
        try:
            other.push([1], ONE)
        except pyps.ClosedError:
            return
        raise AssertionError("the worker was used")
    in_child(child)""",
    "a child of its own": """
    def grandchild():
        kv.push([2], ONE)
    def child():
        kv.push([2], ONE)
        in_child(grandchild)
        kv.push([2], ONE)
    in_child(child)
    assert values(kv, 2) == [3]""",
    # A lock that another thread holds at that moment must not be waited for in the child.
    "during pushes": """
    ended = threading.Event()
    def use():
        while not ended.is_set():
            kv.push(np.zeros(2000, np.int64), np.ones(2000, np.int64))
    thread = threading.Thread(target=use)
    thread.start()
    for _ in range(20):
        in_child(lambda: kv.push([0], ONE))
    ended.set()
    thread.join(20)
    assert values(kv, 0)[0] % 2000 == 20""",
}
ON_TWO_NODES = {
    "let go": """
    def child():
        global kv
        del kv
    in_child(child)""",
    "exit": """
    in_child(lambda: None)""",
    "inside with": """
    with node.worker() as other:
        other.push([1], ONE)
        in_child(lambda: None)""",
    "own work": """
    def child():
        kv.push([1, 0], np.ones(2, np.int64))  # a worker of the child's own from here on
        kv.finalize()
    in_child(child)""",
    "a worker of its parent's node": """
    kv.push([0], ONE)
    def child():
        kv.push([0, 1], np.ones(2, np.int64))
        with cluster.nodes[1].worker() as other:
            other.push([0, 1], np.ones(2, np.int64))
        assert values(kv, 1, 0) == [3, 3]
    in_child(child)
    assert cluster.settles_at(np.array([3, 3] + [0] * 8))""",
    "shuts down": """
    def child():
        kv.finalize()
        for each in cluster.nodes:
            each.shutdown()
    in_child(child)
    kv.push([1], ONE)
    assert cluster.settles_at(np.array([0, 2] + [0] * 8))""",
    "beside a thread": """
    at_work = threading.Event()
    ended = threading.Event()
    def work():
        with node.worker() as other:
            while not ended.is_set():
                other.push([1, 3], np.ones(2, np.int64))
                at_work.set()
    thread = threading.Thread(target=work)
    thread.start()
    at_work.wait(20)
    for _ in range(10):
        in_child(lambda: None)
    ended.set()
    thread.join(20)""",
    "multiprocessing": """
    import multiprocessing
    child = multiprocessing.get_context("fork").Process(target=kv.push, args=([1], ONE))
    child.start()
    child.join(20)
    if child.exitcode != 0:
        raise SystemExit(f"the child ended with {child.exitcode}")""",
}
NODES_THAT_MET = """
from tests.ports import OWN, free_port
from tests.pyps.test_rendezvous import check_that_they_share, start

nodes = start(2, f"tcp://{OWN}:{free_port(OWN)}")
def child():
    for node in nodes:
        node.shutdown(timeout=0)
in_child(child)
check_that_they_share(nodes)
for node in nodes:
    node.shutdown()
print("the parent ended")
"""


def ran(*command: str) -> str:
    """Return what a program says that has to end by itself, with all of its children."""
    program = subprocess.Popen(
        command,
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": python_path(), "PYTHONWARNINGS": "ignore"},
        start_new_session=True,
    )
    try:
        said, errors = program.communicate(timeout=40)
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(program.pid, signal.SIGKILL)
        program.communicate()
    assert (program.returncode, errors) == (0, "")
    return said


def check(source: str, body: str = "") -> None:
    program = PROLOGUE + source.replace("    BODY\n", body.lstrip("\n") + "\n")
    # A child comes by the last line only if it was told nothing else.
    assert ran(sys.executable, "-c", program) == "the parent ended\n"


@pytest.mark.long
@pytest.mark.parametrize("body", ON_A_NODE)
def test_a_child_of_a_node_s_process_ends(body: str) -> None:
    check(NODE, ON_A_NODE[body])


@pytest.mark.threads_after_fork
@pytest.mark.parametrize("body", ON_TWO_NODES)
def test_a_child_ends_that_inherited_a_worker_of_two_nodes(body: str) -> None:
    check(TWO_NODES, ON_TWO_NODES[body])


@pytest.mark.long
def test_a_child_shuts_down_only_its_own_part_of_nodes_that_met() -> None:
    check(NODES_THAT_MET)
