"""What a node does with messages that do not fit: it counts them, says so once, and goes on."""

from __future__ import annotations

import logging
import struct
import time
from collections.abc import Iterator

import numpy as np
import pytest

import pyps
from tests.pyps.cluster import Cluster
from tests.pyps.hostile import CLUSTER, dealer, node_name, worker_name

TIMEOUT = 20.0
MANY = 900_000  # keys of one int64: with positions more than 16 MiB


def header(kind: int, count: int = 0, *, sender: int = 1, cluster: int = CLUSTER) -> bytes:
    return struct.pack("<4sBBHQII", b"MTPS", 3, kind, sender, cluster, 0, count)


def push(key: int, value: int, *, node: int = 1, worker: int = 3) -> bytes:
    return header(4, 1, sender=node) + struct.pack("<QIHHHxxxxxxQq", 0, worker, node, 2, 1, key, value)


# of key 0
TRANSFER = header(8, 1) + struct.pack("<QQIIQHIq", 0, 9, 0, 0, 0, 0, 0, 5)


@pytest.fixture
def pair() -> Iterator[Cluster]:
    """Two nodes with ten keys of one int64; who takes a node's name breaks its connection, which they see too late."""
    with Cluster(2, 10, dtype="int64", heartbeat=10.0, lost_after=60.0) as cluster:
        yield cluster


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


def send(pair: Cluster, name: bytes, *parts: bytes) -> None:
    """Send a message until it is refused: a node whose name is used takes its place back meanwhile.

    ZeroMQ may then leave a connection open that it no longer reads; so each try has one of its own.
    """
    for _ in range(40):
        with dealer(pair.endpoints[0], name) as socket:
            socket.send_multipart(parts)
            end = time.monotonic() + TIMEOUT / 40
            while time.monotonic() < end:
                if pair.nodes[0].stats()["refused"]:
                    return
                time.sleep(0.002)
    pytest.fail("it was not refused")


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
    "a pull of more than one answer has": (
        header(4, MANY) + struct.pack("<QIHHHxxxxxx", 0, 3, 1, 2, 0) + bytes(8 * MANY),
        b"too much for one message",
    ),
}


@pytest.mark.parametrize("case", MESSAGES)
def test_a_message_that_does_not_fit_is_refused_with_its_reason(pair: Cluster, case: str) -> None:
    message, reason = MESSAGES[case]
    send(pair, worker_name(1, 3), message)
    assert reason.decode() in pair.nodes[0].first_refusal()


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
        TRANSFER,
        "from no other node",
    ),
    "a node that sends a key that is here": (
        node_name(1),
        TRANSFER,
        "a key comes that is here",
    ),
    "a node that sends a backup": (
        node_name(1),
        header(30, 1) + struct.pack("<QQHxxIq", 1, 9, 0, 0, 5),
        "a backup comes, but keys have none",
    ),
    "a node that moves keys of another home": (
        node_name(1),
        header(7, 1) + struct.pack("<HxxxxxxQ", 1, 0),
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
def test_a_message_of_a_wrong_sender_is_refused_and_changes_nothing(pair: Cluster, case: str) -> None:
    name, message, reason = SENDERS[case]
    send(pair, name, message)
    assert reason in pair.nodes[0].first_refusal()
    assert [value_of(node, 0) for node in pair.nodes] == [0, 0]


def test_a_message_of_several_parts_is_refused_whole(pair: Cluster) -> None:
    send(pair, worker_name(1, 3), push(0, 1), push(0, 1), push(0, 1))
    assert "more than one part" in pair.nodes[0].first_refusal()
    assert value_of(pair.nodes[0], 0) == 0


def test_the_same_message_of_its_own_sender_is_taken(pair: Cluster) -> None:
    """That the messages above are refused for what is wrong with them and not altogether."""
    with dealer(pair.endpoints[0], worker_name(1, 3)) as socket:
        socket.send(push(0, 5))
        assert socket.poll(int(1000 * TIMEOUT))
        socket.recv()
    assert value_of(pair.nodes[1], 0) == 5
    assert pair.nodes[0].stats()["refused"] == 0


def test_a_stranger_does_not_take_a_nodes_place(pair: Cluster) -> None:
    """A sender that does not know the cluster's number cannot use the name that the node has at the router."""
    with pair.nodes[1].worker() as kv:
        kv.push([0], np.ones(1, np.int64))
        for name in (b"N\1\0", b"W\1\0\1\0\0\0", node_name(1, 0), worker_name(1, 1, 0)):
            with dealer(pair.endpoints[0], name) as socket:
                socket.send(b"mine now")
                kv.push([0], np.ones(1, np.int64))
        kv.localize([0])
    assert value_of(pair.nodes[0], 0) == 5


def test_a_key_that_does_not_fit_is_refused_alone(pair: Cluster) -> None:
    """Node 1 tells that two keys are lost: one lives on node 0, of the other it has a replica, which ends."""
    with pair.nodes[0].worker() as kv, pair.nodes[1].worker() as other:
        for worker in (other, kv):
            worker.intent([1], 0, 10)
            worker.wait_sync(TIMEOUT)
        assert pair.nodes[0].stats()["replicas_held"] == 1
        send(pair, node_name(1), header(19, 2) + struct.pack("<HxxxxxxQQ", 1, 0, 1))
        assert pair.nodes[0].first_refusal() == "a key is lost that is here"
        end = time.monotonic() + TIMEOUT
        while pair.nodes[0].stats()["replicas_held"] and time.monotonic() < end:
            time.sleep(0.01)
        assert pair.nodes[0].stats()["replicas_held"] == 0


def test_refusals_are_logged_once(pair: Cluster, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING, "pyps"):
        with dealer(pair.endpoints[0]) as socket:
            for _ in range(3):
                socket.send(b"nonsense")
            refused(pair.nodes[0], 3)
        for node in pair.nodes:
            node.shutdown()
    messages = [record.getMessage() for record in caplog.records]
    assert len(messages) == 1
    assert messages[0].startswith("node 0 refused ")
    assert "it ends 16 bytes too early" in messages[0]
