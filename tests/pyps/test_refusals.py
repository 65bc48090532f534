"""What a node does with messages that do not fit: it counts them, says so once, and goes on."""

from __future__ import annotations

import logging
import struct
import time
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import pytest
import zmq

import pyps

CLUSTER = 77
TIMEOUT = 20.0


@contextmanager
def stranger(endpoint: str, name: bytes = b"") -> Iterator[zmq.Socket[bytes]]:
    """A socket of somebody else at a node's router."""
    context = zmq.Context()
    socket = context.socket(zmq.DEALER)
    socket.linger = 5000
    if name:
        socket.routing_id = name
    socket.connect(endpoint)
    try:
        yield socket
    finally:
        socket.close()
        context.term()


def node_name(node: int, cluster: int = CLUSTER) -> bytes:
    return struct.pack("<cHQ", b"N", node, cluster)


def worker_name(node: int, worker: int, cluster: int = CLUSTER) -> bytes:
    return struct.pack("<cHIQ", b"W", node, worker, cluster)


def header(kind: int, count: int = 0, *, sender: int = 1, cluster: int = CLUSTER) -> bytes:
    return struct.pack("<4sBBHQII", b"MTPS", 1, kind, sender, cluster, 0, count)


def push(key: int, value: int, *, node: int = 1, worker: int = 3) -> bytes:
    return header(4, 1, sender=node) + struct.pack("<QIHHHxxxxxxQq", 0, worker, node, 2, 1, key, value)


class Node(pyps.Server):
    """A node that knows its endpoint."""

    endpoint: str


Pair = list[Node]


@pytest.fixture
def pair() -> Iterator[Pair]:
    """Two nodes with ten keys of one int64."""
    with (
        Node(10, dtype="int64", num_nodes=2, rank=0, cluster=CLUSTER) as one,
        Node(10, dtype="int64", num_nodes=2, rank=1, cluster=CLUSTER) as two,
    ):
        nodes = [one, two]
        for node in nodes:
            node.endpoint = node.bind("tcp://127.0.0.1:*")
        for node in nodes:
            node.connect([each.endpoint for each in nodes])
        yield nodes


def refused(node: pyps.Server, count: int) -> str:
    """Wait until a node has refused so many messages; return the first reason."""
    end = time.monotonic() + TIMEOUT
    while node.stats()["refused"] < count and time.monotonic() < end:
        time.sleep(0.005)
    assert node.stats()["refused"] == count
    return node.first_refusal()


def value_of(node: pyps.Server, key: int) -> int:
    out = np.zeros(1, np.int64)
    with node.worker() as kv:
        kv.pull([key], out)
    return int(out[0])


def send(node: Node, name: bytes, *parts: bytes) -> None:
    with stranger(node.endpoint, name) as socket:
        socket.send_multipart(parts)
        refused(node, 1)


MESSAGES = {
    "nothing": (b"", b"ends 24 bytes too early"),
    "text": (b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n", b"does not begin like a message"),
    "a part of a header": (header(1)[:10], b"ends 14 bytes too early"),
    "another version": (b"MTPS\x09" + header(1)[5:], b"version 9 of the protocol"),
    "another cluster": (header(1, cluster=5), b"another cluster"),
    "an unknown kind": (header(99), b"kind, 99, is unknown"),
    "a node that is not there": (header(1, sender=7), b"node 7 of 2"),
    "more keys than bytes": (header(6, 2**32 - 1) + bytes(8), b"bytes too early"),
    "a key that is not there": (push(10, 1), b"key 10 is outside [0, 10)"),
    "bytes too many": (header(1) + b"x", b"1 bytes too many"),
    "no key": (header(4), b"about no key"),
}


@pytest.mark.parametrize("case", MESSAGES)
def test_a_message_that_does_not_fit_is_refused_with_its_reason(pair: Pair, case: str) -> None:
    message, reason = MESSAGES[case]
    send(pair[0], worker_name(1, 3), message)
    assert reason.decode() in pair[0].first_refusal()


SENDERS = {
    "nobody": (b"", push(0, 1), "no node and no worker of this cluster"),
    "somebody of another cluster": (
        worker_name(1, 3, 5),
        push(0, 1),
        "no node and no worker of this cluster",
    ),
    "a worker of another node": (worker_name(0, 3), push(0, 1), "from node 0 and says from node 1"),
    "another worker": (worker_name(1, 4), push(0, 1), "another one's request"),
    "a worker that plays a node": (
        worker_name(1, 3),
        header(8, 1) + struct.pack("<QQQIIq", 0, 9, 9, 0, 0, 5),
        "from no other node",
    ),
    "a node that sends a key that is here": (
        node_name(1),
        header(8, 1) + struct.pack("<QQQIIq", 0, 9, 9, 0, 0, 5),
        "a key comes that is here",
    ),
    "a node that moves keys of another home": (
        node_name(1),
        header(7, 1) + struct.pack("<HxxxxxxQQ", 1, 0, 3),
        "node 1 is not the home of key 0",
    ),
    "a node that asks who is not the home": (
        node_name(1),
        header(6, 1) + struct.pack("<HxxxxxxQ", 1, 1),
        "node 0 is not the home of key 1",
    ),
    "another node's worker that localizes": (
        worker_name(1, 3),
        header(4, 1) + struct.pack("<QIHHHxxxxxxQ", 0, 3, 1, 2, 3, 1),
        "no worker of this node",
    ),
    "another node's worker that intends": (
        worker_name(1, 3),
        header(13, 1) + struct.pack("<IxxxxqqQ", 1, 0, 5, 1),
        "no worker of this node",
    ),
}


@pytest.mark.parametrize("case", SENDERS)
def test_a_message_of_a_wrong_sender_is_refused_and_changes_nothing(pair: Pair, case: str) -> None:
    name, message, reason = SENDERS[case]
    send(pair[0], name, message)
    assert reason in pair[0].first_refusal()
    assert [value_of(node, 0) for node in pair] == [0, 0]


def test_a_message_of_several_parts_is_refused_whole(pair: Pair) -> None:
    send(pair[0], worker_name(1, 3), push(0, 1), push(0, 1), push(0, 1))
    assert "more than one part" in pair[0].first_refusal()
    assert value_of(pair[0], 0) == 0


def test_the_same_message_of_its_own_sender_is_taken(pair: Pair) -> None:
    """That the messages above are refused for what is wrong with them and not altogether."""
    with stranger(pair[0].endpoint, worker_name(1, 3)) as socket:
        socket.send(push(0, 5))
        assert socket.poll(int(1000 * TIMEOUT))
        socket.recv()
    assert value_of(pair[1], 0) == 5
    assert pair[0].stats()["refused"] == 0


def test_a_stranger_does_not_take_a_nodes_place(pair: Pair) -> None:
    """Who does not know the cluster's number cannot use the name that the node has at the router."""
    with pair[1].worker() as kv:
        kv.push([0], np.ones(1, np.int64))
        for name in (b"N\1\0", b"W\1\0\1\0\0\0", node_name(1, 0), worker_name(1, 1, 0)):
            with stranger(pair[0].endpoint, name) as socket:
                socket.send(b"mine now")
                kv.push([0], np.ones(1, np.int64))
        kv.localize([0])
    assert value_of(pair[0], 0) == 5


def test_refusals_are_logged_once(pair: Pair, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING, "pyps"):
        with stranger(pair[0].endpoint) as socket:
            for _ in range(3):
                socket.send(b"nonsense")
            refused(pair[0], 3)
        for node in pair:
            node.shutdown()
    messages = [record.getMessage() for record in caplog.records]
    assert len(messages) == 1
    assert messages[0].startswith("node 0 refused ")
    assert "it ends 16 bytes too early" in messages[0]
