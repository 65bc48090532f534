"""Several nodes in one process: each holds its share, and values are the same from everywhere."""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import numpy as np
import pytest

import pyps
from tests.pyps.cluster import Cluster
from tests.pyps.conftest import Start

TIMEOUT = 50.0
NUM_KEYS = 60

Nodes = list[pyps.Server]


@pytest.fixture(params=itertools.product([2, 4], ["tcp", "memory"]), ids="{0[0]}-{0[1]}".format)
def nodes(request: pytest.FixtureRequest) -> Iterator[Nodes]:
    """Sixty keys of three int64 on two or four nodes."""
    count, transport = request.param
    with Cluster(count, NUM_KEYS, 3, dtype="int64", transport=transport) as cluster:
        yield cluster.nodes


def numbers(keys: Any, width: int = 3) -> np.ndarray[Any, Any]:
    return np.repeat(np.asarray(keys), width).reshape(-1, width)


def test_every_node_holds_its_share(nodes: Nodes) -> None:
    assert [node.stats()["keys_held"] for node in nodes] == [NUM_KEYS // len(nodes)] * len(nodes)


def test_a_value_is_the_same_from_every_node(nodes: Nodes) -> None:
    keys = np.arange(NUM_KEYS)
    with nodes[0].worker() as kv:
        kv.set(keys, numbers(keys))
        kv.push(keys[::-1].copy(), numbers(keys[::-1]))
    for node in nodes:
        out = np.zeros((NUM_KEYS, 3), np.int64)
        with node.worker() as kv:
            kv.pull(keys, out)
        assert (out == 2 * numbers(keys)).all()


@pytest.mark.slow
def test_repeated_keys_of_other_nodes_get_every_push(nodes: Nodes) -> None:
    with nodes[0].worker() as kv:
        kv.push([1, 0, 1, 1], np.ones((4, 3), np.int64))
        out = np.zeros((3, 3), np.int64)
        kv.pull([1, 0, 1], out)
    assert out[:, 0].tolist() == [3, 1, 3]


def test_values_of_different_lengths_travel(nodes: Nodes) -> None:
    lengths = np.arange(20) % 7 + 1
    keys = np.array([19, 4, 3, 0])
    values = np.arange(lengths[keys].sum(), dtype=np.float32)
    with (
        Cluster(len(nodes), 20, lengths) as cluster,
        cluster.nodes[0].worker() as kv,
        cluster.nodes[1].worker() as other,
    ):
        kv.set(keys, values)
        out = np.zeros(lengths[keys[1:]].sum(), np.float32)
        other.pull(keys[1:], out)
    assert out.tolist() == values[lengths[19] :].tolist()


def test_an_asynchronous_pull_ends_when_it_is_waited_for(nodes: Nodes) -> None:
    with nodes[0].worker() as kv:
        kv.push([1], np.ones((1, 3), np.int64))
        out = np.zeros((1, 6), np.int64)
        pulled = kv.pull([1], out[:, ::2], asynchronous=True)
        assert pulled >= 0
        pulled.wait(TIMEOUT)
        assert pulled.done()
        assert out.tolist() == [[1, 0, 1, 0, 1, 0]]


@pytest.mark.slow
def test_a_pull_sees_the_asynchronous_pushes_before_it(nodes: Nodes) -> None:
    with nodes[0].worker() as kv:
        out = np.zeros(3, np.int64)
        for number in range(1, 200):
            kv.push([1], np.ones(3, np.int64), **{"async": True})
            kv.pull([1], out)
            assert out.tolist() == [number] * 3


def test_a_localized_key_is_local(nodes: Nodes) -> None:
    keys = np.arange(NUM_KEYS)
    with nodes[0].worker() as kv:
        kv.push(keys, numbers(keys))
        out = np.zeros((NUM_KEYS, 3), np.int64)
        assert not kv.pull_if_local(keys, out)
        kv.localize(keys)
        assert kv.pull_if_local(keys, out)
        assert (out == numbers(keys)).all()
    assert [node.stats()["keys_held"] for node in nodes] == [NUM_KEYS] + [0] * (len(nodes) - 1)


@pytest.mark.slow
def test_an_unknown_timestamp_is_refused(nodes: Nodes) -> None:
    with nodes[0].worker() as kv, pytest.raises(ValueError, match="timestamp 7 was not returned"):
        kv.wait(7)


def test_a_node_without_the_others_says_so() -> None:
    with (
        pyps.Server(10, 1, num_nodes=2) as node,
        node.worker() as kv,
        pytest.raises(ValueError, match="not connected to the others"),
    ):
        kv.push([1], np.ones(1, np.float32))


def test_a_worker_that_leaves_has_pushed_everything(nodes: Nodes) -> None:
    keys = np.arange(NUM_KEYS)
    for _ in range(50):
        with nodes[0].worker() as kv:
            kv.push(keys, np.ones((NUM_KEYS, 3), np.int64), asynchronous=True)
    with nodes[1].worker() as kv:
        out = np.zeros((NUM_KEYS, 3), np.int64)
        kv.pull(keys, out)
    assert (out == 50).all()


def quiet(stack: ExitStack) -> pyps.Server:
    """Return a node whose only other one never answers."""
    nodes = [pyps.Server(10, 1, num_nodes=2, rank=rank) for rank in range(2)]
    for node in nodes:
        stack.callback(node.shutdown, timeout=0)
    nodes[0].connect([node.bind("tcp://127.0.0.1:*") for node in nodes])
    stack.callback(nodes[0].shutdown, timeout=0)  # nobody else will come to it
    return nodes[0]


@pytest.mark.slow
def test_a_worker_leaves_although_its_operations_do_not_end() -> None:
    with ExitStack() as stack:
        kv = quiet(stack).worker()
        kv.push([1], np.ones(1, np.float32), asynchronous=True)
        with pytest.raises(pyps.WaitTimeoutError):
            kv.finalize(timeout=0.1)
        assert kv.id == 0
        kv.finalize()


@pytest.mark.slow
def test_an_error_in_a_with_statement_waits_for_nothing() -> None:
    with ExitStack() as stack:
        node, start = quiet(stack), time.monotonic()
        with pytest.raises(ValueError, match="timestamp 7"), node.worker() as kv:
            kv.wait(kv.push([1], np.ones(1, np.float32), asynchronous=True) + 7)
        assert time.monotonic() < start + TIMEOUT


@pytest.mark.slow
def test_two_pulls_into_one_buffer_are_refused_while_the_first_is_on_its_way() -> None:
    with ExitStack() as stack:
        kv = quiet(stack).worker()
        stack.callback(kv.finalize, timeout=0)
        out = np.zeros(4, np.float32)
        kv.pull([1, 3], out[:2], asynchronous=True)
        for begin, end in ((0, 2), (1, 2), (1, 3), (0, 1)):
            with pytest.raises(
                ValueError, match="being filled by an earlier pull: wait for its timestamp, 0"
            ):
                kv.pull(np.arange(5, 5 + 2 * (end - begin), 2), out[begin:end], asynchronous=True)
        assert kv.pull([1, 3], out[2:], asynchronous=True) == 1
        assert not kv.pull_if_local([5], out[3:])


def test_a_buffer_may_be_pushed_and_then_pulled_into(nodes: Nodes) -> None:
    buffer = np.zeros((2, 3), np.int64)
    with nodes[0].worker() as kv:
        for number in range(50):
            buffer[:] = number
            kv.push([1, 3], buffer, asynchronous=True)
            kv.pull([1, 3], buffer, asynchronous=True)
            kv.push([5, 7], buffer, asynchronous=True)  # what was pulled
            kv.pull([5, 7], buffer, asynchronous=True).wait(TIMEOUT)
        totals = np.cumsum(np.arange(50))
        assert (buffer == totals.sum()).all()


@pytest.mark.slow
def test_a_process_that_attaches_needs_no_pyzmq(open_cluster: Start, program: Any) -> None:
    nodes = open_cluster(2, NUM_KEYS, 3, dtype="int64")
    source = (
        "kv = pyps.attach(sys.argv[1]).worker(); kv.push([1, 2], np.ones((2, 3), np.int64)); kv.finalize()\n"
        "print('zmq' in sys.modules)"
    )
    assert program(source, nodes[0].address).communicate(timeout=TIMEOUT)[0] == "False\n"
    with nodes[1].worker() as kv:
        out = np.zeros((3, 3), np.int64)
        kv.pull([0, 1, 2], out)
    assert out[:, 0].tolist() == [0, 1, 1]
