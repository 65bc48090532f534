"""Servers that share a node's keys among several threads: what users are promised holds as with one."""

from __future__ import annotations

import re
import signal
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pyps
from tests.pyps.cluster import Cluster
from tests.pyps.nodes import Cluster as Processes

TIMEOUT = 30.0
NUM_KEYS, LENGTH = 400, 50
ALL = np.arange(NUM_KEYS)


@pytest.fixture
def pair() -> Iterator[list[pyps.Server]]:
    with Cluster(2, NUM_KEYS, LENGTH, dtype="int64", server_threads=4) as cluster:
        yield cluster.nodes


def channels() -> dict[int, int]:
    """The threads of this process that see to channels, with the processor time of each in nanoseconds."""
    found = {}
    for task in Path("/proc/self/task").iterdir():
        with suppress(FileNotFoundError, ProcessLookupError):  # it has ended
            if re.fullmatch(r"ps channel \d+\n", (task / "comm").read_text()):
                found[int(task.name)] = int((task / "schedstat").read_text().split()[0])
    return found


def test_a_server_has_a_thread_for_each_channel_but_the_first_and_ends_them() -> None:
    assert not channels()
    with Cluster(2, NUM_KEYS, LENGTH, server_threads=4):
        end = time.monotonic() + TIMEOUT
        while len(channels()) < 2 * 3 and time.monotonic() < end:  # they have names as soon as they run
            time.sleep(0.01)
        assert len(channels()) == 2 * 3
    assert not channels()


def carriers() -> int:
    """Count the threads of this process that carry ZeroMQ's messages."""
    return sum(
        (task / "comm").read_text().startswith("ZMQbg/IO/") for task in Path("/proc/self/task").iterdir()
    )


@pytest.mark.parametrize("threads", [1, 4])
def test_as_many_threads_carry_a_nodes_messages_as_its_server_has(threads: int) -> None:
    before = carriers()
    with Cluster(2, NUM_KEYS, LENGTH, server_threads=threads):
        end = time.monotonic() + TIMEOUT
        while (
            carriers() - before < 2 * threads and time.monotonic() < end
        ):  # they have names as soon as they run
            time.sleep(0.01)
        assert carriers() - before == 2 * threads


def test_the_only_node_has_no_server_and_no_such_thread() -> None:
    with pyps.Server(NUM_KEYS, LENGTH, server_threads=4) as server, server.worker() as kv:
        kv.push(ALL, np.ones((NUM_KEYS, LENGTH), np.float32))
        assert not channels()


@pytest.mark.slow
def test_many_workers_are_served_by_all_threads() -> None:
    """Each of them asks for much at once, more than one thread is left with."""

    def all_have_worked() -> bool:
        times = channels().values()  # they have names as soon as they run
        return (
            len(times) == 2 * 2 and min(times) >= 1_000_000
        )  # idle, one needs less than a tenth of it in seconds

    def ask(kv: pyps.Worker, number: int) -> None:
        out = np.zeros((40, NUM_KEYS, LENGTH), np.int64)
        while not all_have_worked():
            for one in out:
                kv.push(ALL, one, asynchronous=True)
                kv.pull(ALL, one, asynchronous=True)
            kv.waitall(TIMEOUT)

    with Cluster(2, NUM_KEYS, LENGTH, dtype="int64", server_threads=3) as cluster:
        cluster.run(ask, workers=3)


def test_one_request_has_keys_of_all_channels_here_elsewhere_and_on_their_way(
    pair: list[pyps.Server],
) -> None:
    with pair[0].worker() as kv, pair[1].worker() as other:
        expected = np.repeat(ALL, LENGTH).reshape(NUM_KEYS, LENGTH)
        kv.set(ALL, expected)
        for begin in range(0, NUM_KEYS, 50):
            moved = kv.localize(ALL[begin : begin + 50], asynchronous=True)
            assert (other.pull(ALL) == expected).all()
            other.push(ALL, expected)
            moved.wait(TIMEOUT)
            expected = 2 * expected
            assert (kv.pull(ALL) == expected).all()
        assert pair[0].stats()["keys_held"] == NUM_KEYS


@pytest.mark.slow
def test_a_key_that_is_set_twice_in_a_call_has_its_last_value(pair: list[pyps.Server]) -> None:
    keys = np.concatenate([ALL, ALL[::-1], ALL])
    values = np.repeat(np.arange(len(keys)), LENGTH).reshape(len(keys), LENGTH)
    with pair[0].worker() as kv, pair[1].worker() as other:
        for _ in range(20):
            moved = other.localize(ALL, asynchronous=True)
            kv.set(keys, values)
            moved.wait(TIMEOUT)
            assert (kv.pull(ALL) == values[-NUM_KEYS:]).all()
            kv.localize(ALL)


def test_what_is_pushed_to_replicas_is_everywhere_after_quiesce(pair: list[pyps.Server]) -> None:
    with pair[0].worker() as kv, pair[1].worker() as other:
        for worker in (kv, other):
            worker.intent(ALL, 0, 1)
            worker.wait_sync(TIMEOUT)
        for _ in range(10):
            for worker in (kv, other):
                worker.push(ALL, np.ones((NUM_KEYS, LENGTH), np.int64))
        assert pair[0].stats()["replicas_held"] + pair[1].stats()["replicas_held"] == NUM_KEYS
        kv.wait_sync(TIMEOUT)
        other.wait_sync(TIMEOUT)
        for worker in (kv, other):
            worker.quiesce(TIMEOUT)
            assert (worker.pull(ALL) == 20).all()


def test_what_has_no_room_is_refused_as_a_whole() -> None:
    num_keys, limit = 20_000, 7_000_000
    there = np.arange(1, num_keys, 2)
    with (
        Cluster(2, num_keys, 100, memory_limit=limit, server_threads=4) as cluster,
        cluster.nodes[0].worker() as kv,
    ):
        with pytest.raises(MemoryError, match="no room on this node"):
            kv.localize(there)
        assert cluster.nodes[0].stats()["keys_held"] == num_keys // 2
        for begin in range(0, 4000, 500):
            kv.localize(there[begin : begin + 500])
        assert cluster.nodes[0].stats()["keys_held"] == num_keys // 2 + 4000
        assert cluster.nodes[0].stats()["committed_bytes"] <= limit


@pytest.mark.slow
def test_the_others_go_on_when_a_node_is_lost() -> None:
    keys = list(range(60))
    with Processes(
        3, num_keys=60, on_loss="continue", heartbeat=0.1, lost_after=1.0, server_threads=3
    ) as nodes:
        nodes.nodes[0].value(f"kv.push({keys}, values({keys}))")
        nodes.nodes[1].send_signal(signal.SIGKILL)
        living = [key for key in keys if key % 3 != 1]
        for actor in (nodes.nodes[0], nodes.nodes[2]):
            for _ in range(2):
                assert actor.until("pull([1])", "NodeLost")["node"] == 1
        for actor in (nodes.nodes[0], nodes.nodes[2]):
            actor.value(f"kv.localize({living})")
            actor.value(f"kv.push({living}, values({living}))")
        assert nodes.nodes[2].value(f"pull({living})") == [3] * len(living)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"server_threads": 0}, "server_threads must be above 0"),
        ({"server_threads": 65}, r"server_threads is 65; it must be in \[1, 64\]"),
        ({"server_threads": -1}, "server_threads"),
        ({"server_threads": 2, "max_workers": 4094}, "max_workers is 4094 and server_threads 2; together"),
    ],
)
def test_a_number_of_threads_that_is_none_is_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        pyps.Server(10, 1, num_nodes=2, **options)
