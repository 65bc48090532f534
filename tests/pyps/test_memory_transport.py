"""Clusters within one process over memory://: nodes that are cut off, broken connections, what cannot be reached."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from typing import Any

import numpy as np
import pytest

import pyps

LIMIT = 10.0  # seconds until everybody must know
QUICK = {"heartbeat": 0.1, "lost_after": 0.5}
CUT = "memory://*?cut=0.5"
KEYS = 24

Start = Callable[..., tuple[list[pyps.Server], list[pyps.Worker]]]


@pytest.fixture
def start() -> Iterator[Start]:
    """Connect nodes at these endpoints, with a worker each; all are closed with the test."""
    with ExitStack() as stack:

        def begin(endpoints: Sequence[str], **options: Any) -> Any:
            nodes = [
                pyps.Server(KEYS, 1, dtype="int64", num_nodes=len(endpoints), rank=rank, cluster=7, **options)
                for rank in range(len(endpoints))
            ]
            for node in nodes:
                stack.callback(node.shutdown, timeout=0)
            taken = [node.bind(endpoint) for node, endpoint in zip(nodes, endpoints, strict=True)]
            for node in nodes:
                node.connect(taken)
            workers = [node.worker() for node in nodes]
            for worker in workers:
                stack.callback(worker.finalize, timeout=0)
            return nodes, workers

        yield begin


def pull(kv: pyps.Worker, *keys: int) -> list[int]:
    out = np.zeros(len(keys), np.int64)
    kv.pull(np.array(keys), out)
    return out.tolist()


def lost(kv: pyps.Worker, key: int) -> pyps.NodeLost:
    """Pull a key until that raises; return the error."""
    end = time.monotonic() + LIMIT
    while time.monotonic() < end:
        try:
            pull(kv, key)
        except pyps.NodeLost as error:
            return error
        time.sleep(0.01)
    raise AssertionError(f"key {key} can still be pulled")


@pytest.mark.slow
def test_a_node_that_is_cut_off_ends_the_cluster(start: Start) -> None:
    _, workers = start(["memory://*", "memory://*", CUT], **QUICK)
    assert pull(workers[0], 0, 1, 2) == [0, 0, 0]
    for kv in workers[:2]:
        error = lost(kv, 2)
        assert error.node == 2
        assert "has not been heard of for about 0.5 s" in str(error) or "says node" in str(error)
    assert lost(workers[2], 0).node in (0, 1)


@pytest.mark.slow
@pytest.mark.parametrize("techniques", ["all", "replication_only"])
def test_the_others_go_on_without_a_node_that_is_cut_off(start: Start, techniques: str) -> None:
    endpoints = ["memory://*", CUT, "memory://*"]
    _, (first, cut, last) = start(endpoints, on_loss="continue", techniques=techniques, **QUICK)
    first.push(np.arange(KEYS), np.ones(KEYS, np.int64))
    for _ in range(2):  # each time
        assert lost(first, 1).node == lost(last, 4).node == 1
    living = [key for key in range(KEYS) if key % 3 != 1]
    last.push(np.array(living), np.ones(len(living), np.int64))
    first.localize(np.array(living))
    assert pull(first, *living) == pull(last, *living) == [2] * len(living)
    assert "sees too few of the others to go on" in str(lost(cut, 0))


@pytest.mark.slow
def test_a_call_that_waits_for_a_node_that_is_cut_off_raises(start: Start) -> None:
    endpoints = ["memory://*", "memory://*", "memory://*?cut=0.2&delay=0.5"]
    _, workers = start(endpoints, on_loss="continue", **QUICK)
    with pytest.raises(pyps.NodeLost) as caught:
        pull(workers[0], 2)
    assert caught.value.node == 2


@pytest.mark.slow
def test_a_connection_that_breaks_between_nodes_loses_one_of_them(start: Start) -> None:
    endpoints = ["memory://*", "memory://*", "memory://*?breaks=0.3"]
    _, (first, second, broken) = start(endpoints, on_loss="continue", **QUICK)
    assert lost(first, 2).node == lost(second, 2).node == 2
    assert pull(first, 0, 1) == pull(second, 0, 1) == [0, 0]
    assert lost(broken, 0).node == 2


def test_a_node_that_ends_is_lost_at_once(start: Start) -> None:
    nodes, (kv, *_) = start(["memory://*"] * 3, heartbeat=0.5, lost_after=60.0)
    assert pull(kv, 2) == [0]
    begin = time.monotonic()
    nodes[2].shutdown(timeout=0)
    assert lost(kv, 2).node == 2
    assert time.monotonic() - begin < LIMIT


def test_messages_of_a_table_take_as_long_as_those_of_its_server(start: Start) -> None:
    delay = 0.05
    nodes, (kv, _) = start([f"memory://*?delay={delay}"] * 2)
    nodes[0].table("users", dim=1, num_keys=2)
    for worker in (kv, kv.table("users")):
        begin = time.monotonic()
        worker.pull([1])  # a message there and one back
        assert time.monotonic() - begin >= 2 * delay


@pytest.mark.slow
def test_a_pull_follows_pushes_that_are_on_their_way(start: Start) -> None:
    delay = 0.2
    _, (kv, _) = start([f"memory://*?delay={delay}"] * 2)
    pull(kv, 1)  # which introduces the worker to its server
    out = np.zeros(3, np.int64)
    begin = time.monotonic()
    kv.push([1, 3], np.array([5, 7]), asynchronous=True)
    kv.push([1], np.array([20]), asynchronous=True)
    pulled = kv.pull([1, 2, 3], out, asynchronous=True)
    assert time.monotonic() - begin < delay  # the owner has heard nothing
    kv.wait(pulled)
    assert time.monotonic() - begin < 3 * delay  # one way there and one back, for all of it
    assert out.tolist() == [25, 0, 7]


@pytest.mark.slow
@pytest.mark.parametrize("first", ["set", "localize"])
def test_a_pull_waits_for_other_operations_that_are_on_their_way(start: Start, first: str) -> None:
    delay = 0.1
    _, (kv, _) = start([f"memory://*?delay={delay}"] * 2)
    pull(kv, 1)
    begin = time.monotonic()
    if first == "set":
        kv.set([1], np.array([5]), asynchronous=True)
    else:
        kv.localize([1], asynchronous=True)
    out = np.zeros(1, np.int64)
    pulled = kv.pull([1], out, asynchronous=True)
    assert time.monotonic() - begin >= 2 * delay
    kv.wait(pulled)
    assert out.tolist() == [5 if first == "set" else 0]


@pytest.mark.slow
def test_a_worker_goes_on_while_what_it_pushed_to_a_replica_is_exchanged(start: Start) -> None:
    delay = 0.2
    _, (owner, kv) = start([f"memory://*?delay={delay}"] * 2)
    for worker in (owner, kv):
        worker.intent([0], 0, 1000)
        worker.wait_sync(LIMIT)
    begin = time.monotonic()
    kv.push([0], np.ones(1, np.int64))
    kv.wait_sync(LIMIT, behind=1)
    assert time.monotonic() - begin < delay  # the owner has heard nothing
    kv.push([0], np.ones(1, np.int64))
    with pytest.raises(pyps.WaitTimeoutError, match="the exchange with other nodes has not finished"):
        kv.wait_sync(delay / 4, behind=1)
    kv.wait_sync(LIMIT, behind=1)  # for the exchange that the call began that was too late
    assert time.monotonic() - begin >= 2 * delay
    assert pull(owner, 0) == [2]
    with pytest.raises(ValueError, match="behind is -1; it must not be negative"):
        kv.wait_sync(behind=-1)


@pytest.mark.slow
def test_a_process_that_attached_is_told_that_it_reaches_no_other_node(start: Start, program: Any) -> None:
    nodes, workers = start(["memory://*"] * 2)
    source = """
kv = pyps.attach(sys.argv[1]).worker()
kv.push([0], np.ones(1, np.int64))
try:
    kv.push([1], np.ones(1, np.int64))
except pyps.AttachError as error:
    print(error)
"""
    output = program(source, nodes[0].address).communicate(timeout=50)[0]
    assert (
        "which only threads of the process that created it reach: bind the nodes to tcp:// or ipc://"
        in output
    )
    assert pull(workers[1], 0) == [1]


def test_endpoints_that_do_not_fit_are_refused() -> None:
    with (
        pyps.Server(KEYS, 1, num_nodes=2, rank=0) as node,
        pyps.Server(KEYS, 1, num_nodes=2, rank=1) as other,
    ):
        for endpoint, why in {
            "udp://127.0.0.1:1": "must begin with one of tcp://, ipc://, memory://",
            "memory://": "has no name",
            "memory://a?rain=1": "'rain=1' is no option .* delay, jitter, beside, backlog, cut and breaks",
            "memory://a?delay=-1": "'-1' must be a number that is not negative",
        }.items():
            with pytest.raises(ValueError, match=why):
                node.bind(endpoint)
        assert node.bind("memory://here?delay=0.001") == "memory://here"
        with pytest.raises(OSError, match="memory://here is taken by another node of this process"):
            other.bind("memory://here")
        with pytest.raises(
            ValueError, match=r"bound to memory://here cannot reach one at tcp://127\.0\.0\.1:1"
        ):
            node.connect(["memory://here", "tcp://127.0.0.1:1"])
