"""What nodes do while nobody changes anything: nothing, however much they hold; and they are there at once."""

from __future__ import annotations

import time

import numpy as np
import pytest

from tests.pyps.conftest import Start

pytestmark = pytest.mark.slow

TIMEOUT = 50.0
ENDLESS = 2**62


def test_an_idle_cluster_with_many_replicas_uses_hardly_any_processor(cluster: Start) -> None:
    """Everything runs in this process: looking at 20,000 replicas each millisecond takes a good part of a core."""
    num_keys = 20_000
    nodes = cluster(2, num_keys, 1, dtype="int64")
    keys = np.arange(num_keys)
    with nodes[0].worker() as one, nodes[1].worker() as two:
        for kv in (one, two):
            kv.intent(keys, 0, ENDLESS)
        for kv in (one, two):
            kv.wait_sync(TIMEOUT)
        time.sleep(0.3)
        before = time.process_time()
        time.sleep(1.0)
        assert time.process_time() - before < 0.05


@pytest.mark.long
@pytest.mark.parametrize("pause", [0.0, 0.02, 0.25])
def test_a_push_to_a_replica_is_seen_soon_after_the_nodes_were_idle(cluster: Start, pause: float) -> None:
    """Both nodes are woken; without that they would look up to a tenth of a second later."""
    nodes = cluster(2, 100, 1, dtype="int64")
    keys, out = np.arange(100), np.zeros(1, np.int64)
    with nodes[0].worker() as one, nodes[1].worker() as two:
        for kv in (one, two):
            kv.intent(keys, 0, ENDLESS)
        for kv in (one, two):
            kv.wait_sync(TIMEOUT)
        waits = []
        for round_ in range(1, 8):
            for key, (by, at) in enumerate([(one, two), (two, one)]):
                time.sleep(pause)
                start = time.monotonic()
                by.push([key], np.ones(1, np.int64))
                while at.pull_if_local([key], out) and out[0] < round_:
                    assert time.monotonic() < start + TIMEOUT
                    time.sleep(0.0002)
                waits.append(time.monotonic() - start)
        assert np.median(waits) < 0.03


def test_an_intent_ends_soon_after_its_clock_although_the_nodes_were_idle(cluster: Start) -> None:
    nodes = cluster(2, 2, 1, dtype="int64")
    out = np.zeros(1, np.int64)
    with nodes[0].worker() as owner, nodes[1].worker() as kv:
        owner.intent([0], 0, ENDLESS)
        waits = []
        for _ in range(9):
            kv.intent([0], kv.current_clock(), kv.current_clock() + 1)
            kv.wait_sync(TIMEOUT)
            assert kv.pull_if_local([0], out)
            time.sleep(0.25)
            start = time.monotonic()
            kv.advance_clock()
            while kv.pull_if_local([0], out):
                assert time.monotonic() < start + TIMEOUT
                time.sleep(0.0002)
            waits.append(time.monotonic() - start)
        assert np.median(waits) < 0.03
