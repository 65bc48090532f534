"""What a node counts of all the workers that it has had: what they did, and how long it took."""

from __future__ import annotations

import itertools
import time
from typing import Any

import numpy as np
import pytest

import pyps
from pyps.latencies import LIMITS, Latencies
from tests.pyps.conftest import Start

TIMED_EVERY = 61
NUM_KEYS = 40
HOME = [np.arange(rank, NUM_KEYS, 2) for rank in range(2)]  # by node, of two


def values(keys: Any) -> np.ndarray[Any, Any]:
    return np.ones(len(keys), np.int64)


@pytest.fixture
def pair(cluster: Start) -> list[pyps.Server]:
    return cluster(2, NUM_KEYS, 1, dtype="int64")


def counted(node: pyps.Node) -> dict[tuple[str, str], int]:
    """What has any counts."""
    return {kind: found.counted for kind, found in node.latencies().items() if found.counted}


def test_limits_rise_by_a_quarter_of_a_doubling_at_most() -> None:
    assert LIMITS[0] == 32
    assert LIMITS[-1] == 2**63 - 1
    steps = [later / earlier for earlier, later in itertools.pairwise(LIMITS[:-1])]
    assert min(steps) > 1.1
    assert max(steps) == 1.25
    assert LIMITS[-2] > 100e9


def test_every_61st_local_call_of_a_kind_is_timed(pair: list[pyps.Server]) -> None:
    keys = HOME[0][:3]
    with pair[0].worker() as kv:
        for _ in range(3 * TIMED_EVERY):
            kv.pull(keys, values(keys))
            kv.push(keys, values(keys))
        for _ in range(TIMED_EVERY - 1):
            kv.set(keys, values(keys))
        assert counted(pair[0]) == {("pull", "local"): 3, ("push", "local"): 3}
        kv.set(keys, values(keys))
        for _ in range(TIMED_EVERY):
            kv.localize(keys)
            assert kv.pull_if_local(keys, values(keys))
        assert counted(pair[0]) == {
            ("pull", "local"): 4,
            ("push", "local"): 3,
            ("set", "local"): 1,
            ("localize", "local"): 1,
        }
        assert kv.stats()["localizes"] == TIMED_EVERY
    assert counted(pair[1]) == {}


def test_every_remote_call_is_timed_at_the_node_of_its_worker(pair: list[pyps.Server]) -> None:
    with pair[0].worker() as kv:
        for _ in range(5):
            kv.pull([0, 1], values(range(2)))  # one of them is here
        kv.push(HOME[1], values(HOME[1]))
        kv.wait(kv.set([1], values([1]), asynchronous=True))
        kv.localize(HOME[1])
    assert counted(pair[0]) == {
        ("pull", "remote"): 5,
        ("push", "remote"): 1,
        ("set", "remote"): 1,
        ("localize", "remote"): 1,
    }
    assert counted(pair[1]) == {}


def test_the_times_are_those_that_the_worker_waited(pair: list[pyps.Server]) -> None:
    with pair[0].worker() as kv:
        pushed = kv.push([1], values([1]), asynchronous=True)
        time.sleep(0.05)
        assert pair[0].stats()["operations_pending"] == 1
        kv.wait(pushed)
        assert pair[0].stats()["operations_pending"] == 0
        found = pair[0].latencies()["push", "remote"]
        assert found.total_ns == kv.stats()["remote_wait_ns"]
    middle = found.percentile(50)
    assert middle is not None
    assert 0.8 * found.total_ns <= middle * 1e9 <= 1.25 * found.total_ns


def test_percentiles_are_the_limits_of_the_counts_in_which_they_lie() -> None:
    counts = [0] * len(LIMITS)
    counts[10], counts[20], counts[30] = 50, 49, 1
    found = Latencies(0, counts)
    assert [found.percentile(p) for p in (50, 50.1, 99, 99.1, 100)] == [
        LIMITS[10] / 1e9,
        LIMITS[20] / 1e9,
        LIMITS[20] / 1e9,
        LIMITS[30] / 1e9,
        LIMITS[30] / 1e9,
    ]
    assert (found - found).percentile(50) is None
    counts[-1] = 1000
    assert found.percentile(50) == LIMITS[-2] / 1e9


def test_a_node_adds_up_what_its_workers_did_before_they_ended(pair: list[pyps.Server]) -> None:
    for _ in range(3):
        with pair[0].worker() as kv:
            kv.pull([0, 1], values(range(2)))
            kv.push([0], values([0]))
    found = pair[0].worker_stats()
    names = (
        "pulls",
        "pushes",
        "sets",
        "keys_pulled",
        "keys_pulled_local",
        "keys_remote",
        "remote_operations",
    )
    assert [found[name] for name in names] == [3, 3, 0, 6, 3, 3, 3]
    assert set(pair[1].worker_stats().values()) == {0}


def test_setups_count_for_the_node(pair: list[pyps.Server]) -> None:
    with pair[0].worker() as kv:
        kv.pull([0], values([0]))
        kv.begin_setup()
        kv.set(HOME[0], values(HOME[0]))
        kv.end_setup(50)
        assert (kv.stats()["sets"], pair[0].worker_stats()["sets"]) == (0, 1)
        kv.set([0], values([0]))
        assert (kv.stats()["sets"], kv.stats()["pulls"], pair[0].worker_stats()["sets"]) == (1, 1, 2)


@pytest.mark.slow
def test_what_killed_workers_did_stays_counted(program: Any) -> None:
    calls = 2 * TIMED_EVERY
    with pyps.Server(10, 1, max_workers=1) as server:
        for round_number in range(1, 3):  # in the same place
            process = program(
                f"kv = pyps.attach(sys.argv[1]).worker(); out = np.zeros(1, np.float32)\n"
                f"for _ in range({calls}): kv.pull([1], out)\n"
                "print('done', flush=True); time.sleep(60)",
                server.address,
            )
            assert process.stdout.readline() == "done\n"
            process.kill()
            process.wait(10)
            assert server.worker_stats()["pulls"] == calls * round_number
            assert counted(server) == {("pull", "local"): 2 * round_number}
        with server.worker() as kv:
            assert set(kv.stats().values()) == {0}


def test_who_attached_reads_the_same(program: Any) -> None:
    with pyps.Server(10, 1) as server, pyps.attach(server.address) as node, server.worker() as kv:
        for _ in range(TIMED_EVERY):
            kv.pull([1], np.zeros(1, np.float32))
        assert node.worker_stats() == server.worker_stats()
        assert node.latencies() == server.latencies()
        with pytest.raises(ValueError, match="operation 4 is unknown"):
            node.latency_counts(4, False)


def test_lost_nodes_are_counted(cluster: Start) -> None:
    first, second = cluster(2, NUM_KEYS, 1, on_loss="continue", heartbeat=0.05, lost_after=0.3)
    assert first.stats()["nodes_lost"] == 0
    second.shutdown(0)
    end = time.monotonic() + 20
    while first.stats()["nodes_lost"] == 0 and time.monotonic() < end:
        time.sleep(0.01)
    assert first.stats()["nodes_lost"] == 1
