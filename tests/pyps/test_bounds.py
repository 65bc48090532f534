"""One message has a bounded length: a large operation is several, and who begins a longer one is cut off."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.pyps import hostile
from tests.pyps.cluster import Cluster

MEBI = 1 << 20
MOST = 16 * MEBI  # bytes in a message of a worker's operation
NUM_KEYS = 4500
MANY = 9 * MEBI // 2  # keys, half of them remote: a message names 2 Mi of an intent, 1.4 Mi of a localize
TIMEOUT = 50.0
LENGTHS = {
    "even": 4096,
    "uneven": np.arange(NUM_KEYS) * 37 % 2000 * 4 + 1,
    "one longer than a message": np.append(np.arange(NUM_KEYS - 1) * 37 % 2000 * 4 + 1, 5 * MEBI),
}

Array = np.ndarray[Any, np.dtype[np.int32]]


@pytest.fixture(params=LENGTHS)
def cluster(request: pytest.FixtureRequest) -> Iterator[Cluster]:
    """Three nodes with about 70 MiB of values; they refuse nothing."""
    with Cluster(3, NUM_KEYS, LENGTHS[request.param], dtype="int32") as cluster:
        yield cluster
        assert [node.stats()["refused"] for node in cluster.nodes] == [0, 0, 0]


def received(cluster: Cluster) -> Array:
    return np.array([node.stats()["messages_received"] for node in cluster.nodes], np.int32)


@pytest.mark.slow
def test_large_operations_are_several_messages_and_have_right_values(cluster: Cluster) -> None:
    node, keys = cluster.nodes[0], np.random.default_rng(1).permutation(NUM_KEYS)
    assert node.total_values * 4 > 4 * MOST
    values = np.arange(node.total_values, dtype=np.int32)
    before = received(cluster)
    with node.worker() as kv:
        out = np.zeros_like(values)
        kv.set(keys, values)
        kv.pull(keys, out)
        np.testing.assert_array_equal(out, values)
        kv.push(keys, values)
        kv.push(keys[::-1], np.ones_like(values))
        kv.pull(keys, out)
        np.testing.assert_array_equal(out, values * 2 + 1)
    assert (received(cluster) - before)[1:].min() >= 5 * 2


@pytest.mark.slow
def test_a_large_operation_on_one_other_node_has_right_values(cluster: Cluster) -> None:
    keys = np.arange(1, NUM_KEYS, 3)
    values = np.arange(cluster.nodes[1].total_length(keys), dtype=np.int32)
    before = received(cluster)
    with cluster.nodes[1].worker() as owner, cluster.nodes[0].worker() as kv:
        owner.set(keys, values)
        out = np.zeros((3, len(values)), np.int32)
        kv.pull(np.tile(keys, 3), out)
        np.testing.assert_array_equal(out, np.tile(values, (3, 1)))
    assert (received(cluster) - before)[1] >= 4


@pytest.mark.slow
def test_a_large_pull_has_right_values_while_its_keys_move(cluster: Cluster) -> None:
    keys = np.arange(NUM_KEYS)
    values = np.arange(cluster.nodes[0].total_values, dtype=np.int32)
    with ExitStack() as stack:
        kv, mover, other = (stack.enter_context(node.worker()) for node in cluster.nodes)
        pool = stack.enter_context(ThreadPoolExecutor(1))
        mover.set(keys, values)

        def move() -> None:
            for _ in range(2):
                mover.localize(keys)
                other.localize(keys)

        moving = pool.submit(move)
        out = np.zeros_like(values)
        while not moving.done():
            out[:] = 0
            kv.pull(keys, out)
            np.testing.assert_array_equal(out, values)
        moving.result(TIMEOUT)


@pytest.mark.long
@pytest.mark.parametrize("call", ["localize", "intent"])
def test_many_keys_come_by_several_messages(call: str) -> None:
    keys = np.arange(1, MANY, 2)
    with Cluster(2, MANY, 1, dtype="int32") as cluster, cluster.nodes[0].worker() as kv:
        here, there = cluster.nodes
        before = received(cluster)[0]
        if call == "localize":
            kv.localize(keys)
        else:
            kv.intent(keys, 0, 5)
            kv.wait_sync(TIMEOUT)
        assert received(cluster)[0] >= before + 2
        assert (here.stats()["keys_held"], there.stats()["keys_held"]) == (MANY, 0)
        assert (here.stats()["refused"], there.stats()["refused"]) == (0, 0)


LENGTH = struct.pack(">Q", 10_000_000_000)
STREAMED = 256 * MEBI  # bytes that the stranger would send
GREETED = hostile.GREETING + hostile.READY
ANNOUNCED = {
    "a message": GREETED + b"\x02" + LENGTH,
    "a part of one": GREETED + b"\x03" + LENGTH,
    "a command instead of a handshake": hostile.GREETING + b"\x06" + LENGTH,
    "a message of an old version": b"\xff" + LENGTH + b"\x00",
    "one byte more than the longest": GREETED + b"\x02" + struct.pack(">Q", 2 * MOST + 8 + 1),
}


def resident() -> int:
    """The bytes that this process, and the nodes in it, have of memory."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096


@pytest.mark.parametrize("what", ANNOUNCED)
def test_who_announces_too_long_a_frame_is_cut_off_before_it_is_read(what: str) -> None:
    with Cluster(2, 10, 2, dtype="int32") as cluster:
        with hostile.connected(cluster.endpoints[0]) as stranger:
            before = resident()
            stranger.sendall(ANNOUNCED[what])
            with pytest.raises(ConnectionError):
                stranger.sendall(bytes(STREAMED))
            assert resident() < before + STREAMED / 8
        with cluster.nodes[1].worker() as kv:
            out = np.zeros(20, np.int32)
            kv.push(np.arange(10), np.ones_like(out))
            kv.pull(np.arange(10), out)
            assert (out == 1).all()
