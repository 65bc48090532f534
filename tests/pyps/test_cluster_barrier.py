"""Barriers over all workers of several nodes, over the nodes, and the nodes' common end."""

from __future__ import annotations

import random
import signal
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from typing import Any

import numpy as np
import pytest

import pyps
from tests.pyps.conftest import Start

TIMEOUT = 50.0

Nodes = list[pyps.Server]


def together(*calls: Callable[[], Any]) -> list[Any]:
    """Run the calls in a thread each; return what they return."""
    with ThreadPoolExecutor(len(calls)) as pool:
        return [future.result(TIMEOUT) for future in [pool.submit(call) for call in calls]]


def count_rounds(node: pyps.Server, rounds: int) -> list[int]:
    """Push a one before each barrier; return the sums that are there after it."""
    seen = []
    with node.worker() as kv:
        for _ in range(rounds):
            kv.push([0], np.ones(1, np.int64))
            kv.barrier(TIMEOUT)
            out = np.zeros(1, np.int64)
            kv.pull([0], out)
            seen.append(out.item())
            kv.barrier(TIMEOUT)
    return seen


@pytest.mark.parametrize("count", [1, 2, 4])
def test_nobody_passes_before_all_workers_of_all_nodes_came(cluster: Start, count: int) -> None:
    nodes = cluster(count, 4, 1, dtype="int64", num_workers=2)
    work = [lambda node=node: count_rounds(node, 20) for node in nodes for _ in range(2)]
    for seen in together(*work):
        assert seen == [2 * count * (step + 1) for step in range(20)]


@pytest.mark.slow
def test_workers_in_processes_of_two_nodes_meet(open_cluster: Start, program: Any) -> None:
    nodes = open_cluster(2, 4, 1, num_workers=2)
    source = """
kv = pyps.attach(sys.argv[1]).worker()
kv.push([1], np.ones(1, np.float32))
kv.barrier(timeout=30)
out = np.zeros(1, np.float32)
kv.pull([1], out)
print(out.item())
"""
    processes = [program(source, node.address) for node in nodes for _ in range(2)]
    assert [process.communicate(timeout=TIMEOUT)[0] for process in processes] == ["4.0\n"] * 4


def test_a_node_without_workers_is_not_waited_for(cluster: Start) -> None:
    nodes = cluster(4, 4, 1)
    with nodes[2].worker() as kv:
        kv.barrier(TIMEOUT)
        kv.barrier(TIMEOUT)


@pytest.mark.parametrize("waiting", [0, 1])
def test_workers_that_another_node_expects_are_waited_for(cluster: Start, waiting: int) -> None:
    nodes = cluster(2, 4, 1, num_workers=1)
    with nodes[waiting].worker() as kv:
        with pytest.raises(pyps.WaitTimeoutError, match="not all workers of the 2 nodes"):
            kv.barrier(timeout=0.1)
        with nodes[1 - waiting].worker() as other:
            together(lambda: kv.barrier(TIMEOUT), lambda: other.barrier(TIMEOUT))
        kv.barrier(TIMEOUT)


@pytest.mark.slow
@pytest.mark.parametrize("waiting", [0, 1])
@pytest.mark.parametrize("way", ["finalize", "kill"])
def test_a_worker_of_another_node_that_goes_is_not_waited_for(
    open_cluster: Start, program: Any, waiting: int, way: str
) -> None:
    nodes = open_cluster(2, 4, 1)
    source = """
kv = pyps.attach(sys.argv[1]).worker()
print(kv.id, flush=True)
sys.stdin.readline()
kv.finalize()
time.sleep(60)
"""
    process = program(source, nodes[1 - waiting].address)
    process.stdout.readline()
    with nodes[waiting].worker() as kv:
        with pytest.raises(pyps.WaitTimeoutError):
            kv.barrier(timeout=0.2)
        if way == "kill":
            threading.Timer(0.1, process.kill).start()
        else:
            process.stdin.write("\n")
            process.stdin.flush()
        start = time.monotonic()
        kv.barrier(TIMEOUT)
        assert time.monotonic() - start < 10


def test_a_worker_that_lost_its_patience_was_not_counted_on(cluster: Start) -> None:
    """Everybody comes for a moment only, again and again; yet all see the same rounds."""
    rounds, nodes = 10, cluster(2, 4, 1, dtype="int64", num_workers=2)
    done = [0] * 4
    late = threading.Event()

    def come(number: int) -> None:
        source = random.Random(number)
        with nodes[number % 2].worker() as kv:
            assert number or late.wait(TIMEOUT)
            for step in range(rounds):
                while done[number] == step:
                    try:
                        kv.barrier(timeout=source.uniform(0.0001, 0.004))
                        done[number] += 1
                    except pyps.WaitTimeoutError:
                        late.set()
                        time.sleep(source.uniform(0, 0.001))
                assert min(done) >= step

    together(*(lambda number=number: come(number) for number in range(4)))
    assert late.is_set()
    assert done == [rounds] * 4


@pytest.mark.parametrize("count", [1, 2, 4])
def test_nodes_wait_for_each_other(cluster: Start, count: int) -> None:
    nodes = cluster(count, 4, 1)
    came: list[int] = []

    def come(node: pyps.Server) -> int:
        time.sleep(0.02 * node.rank)
        came.append(node.rank)
        node.barrier(TIMEOUT)
        return len(came)

    assert together(*(lambda node=node: come(node) for node in nodes)) == [count] * count


def test_a_barrier_of_nodes_times_out_and_can_be_tried_again(cluster: Start) -> None:
    nodes = cluster(2, 4, 1)
    for node in nodes:
        with pytest.raises(pyps.WaitTimeoutError, match="not all 2 nodes came to the barrier in time"):
            node.barrier(timeout=0.05)
    together(*(lambda node=node: node.barrier(TIMEOUT) for node in nodes))


@pytest.mark.slow
def test_only_its_creator_brings_a_node_to_a_barrier(open_cluster: Start, program: Any) -> None:
    nodes = open_cluster(2, 4, 1)
    source = """
try:
    pyps.attach(sys.argv[1]).barrier()
except ValueError as error:
    print(error)
"""
    output = program(source, nodes[0].address).communicate(timeout=TIMEOUT)[0]
    assert "only the process that created a node" in output


@pytest.mark.parametrize("when", ["before the workers", "while they wait"])
def test_a_barrier_ends_when_its_node_is_shut_down(cluster: Start, when: str) -> None:
    nodes = cluster(2, 4, 1)
    with nodes[0].worker() as kv, nodes[1].worker():
        if when == "while they wait":
            timer = threading.Timer(0.1, nodes[0].shutdown)
            timer.start()
        else:
            nodes[0].shutdown()
        with pytest.raises(pyps.ClosedError):
            kv.barrier(TIMEOUT)
        if when == "while they wait":
            timer.join(TIMEOUT)


NODE = """
rank = int(sys.argv[1])
node = pyps.Server(4, 1, num_nodes=2, rank=rank, cluster=3)
print(node.bind("tcp://127.0.0.1:*"), flush=True)
node.connect(sys.stdin.readline().split())
kv = node.worker()
kv.push([0, 1], np.ones(2, np.float32))
kv.barrier(timeout=30)
"""


def two_nodes(program: Any, *tails: str) -> list[Any]:
    """Start two nodes in processes of their own, connect them and run the rest."""
    processes = [program(NODE + tail, str(rank)) for rank, tail in enumerate(tails)]
    endpoints = " ".join(process.stdout.readline().strip() for process in processes)
    for process in processes:
        process.stdin.write(endpoints + "\n")
        process.stdin.flush()
    return processes


@pytest.mark.slow
@pytest.mark.parametrize("early", [0, 1])
def test_a_node_that_is_done_serves_the_others_until_all_are(program: Any, early: int) -> None:
    leave = "kv.finalize(); node.shutdown(timeout=30); print('left at', time.monotonic())"
    work = """
time.sleep(0.3)
out = np.zeros(2, np.float32)
kv.pull([0, 1], out)
assert out.tolist() == [2, 2]
print('done at', time.monotonic(), flush=True)
node.shutdown(timeout=30)
"""
    tails = [leave, work] if early == 0 else [work, leave]
    outputs = [process.communicate(timeout=TIMEOUT)[0] for process in two_nodes(program, *tails)]
    moments = {text.split()[0]: float(text.split()[-1]) for text in outputs}
    assert moments["left"] >= moments["done"]


@pytest.mark.slow
def test_a_node_does_not_wait_for_ever_for_the_others_to_end(program: Any) -> None:
    leave = """
try:
    node.shutdown(timeout=0.2)
except pyps.WaitTimeoutError as error:
    print(error, node.is_open)
"""
    first, second = two_nodes(program, leave, "sys.stdin.readline()")
    assert first.communicate(timeout=TIMEOUT)[0] == "not all of the 2 nodes came to their end in time False\n"
    assert second.poll() is None


@pytest.mark.slow
def test_after_an_exception_a_node_closes_at_once(program: Any) -> None:
    fail = """
start = time.monotonic()
try:
    with node:
        raise KeyError
except KeyError:
    print(time.monotonic() - start < 10)
"""
    first, second = two_nodes(program, fail, "node.shutdown(timeout=30); print('closed')")
    assert first.communicate(timeout=TIMEOUT)[0] == "True\n"
    assert second.communicate(timeout=TIMEOUT)[0] == "closed\n"


def test_nodes_of_one_process_end_one_after_the_other() -> None:
    with ExitStack() as stack:
        nodes = [stack.enter_context(pyps.Server(4, 1, num_nodes=2, rank=rank)) for rank in range(2)]
        endpoints = [node.bind("tcp://127.0.0.1:*") for node in nodes]
        for node in nodes:
            node.connect(endpoints)
        start = time.monotonic()
    assert time.monotonic() - start < 5


@pytest.mark.slow
def test_a_signal_ends_a_barrier_of_nodes(cluster: Start) -> None:
    class Interrupted(Exception):
        pass

    def interrupt(number: int, frame: object) -> None:
        raise Interrupted

    nodes = cluster(2, 4, 1)
    former = signal.signal(signal.SIGUSR1, interrupt)
    timer = threading.Timer(0.1, signal.raise_signal, (signal.SIGUSR1,))
    try:
        timer.start()
        with pytest.raises(Interrupted):
            nodes[0].barrier(TIMEOUT)
    finally:
        timer.join()
        signal.signal(signal.SIGUSR1, former)
    together(*(lambda node=node: node.barrier(TIMEOUT) for node in nodes))
