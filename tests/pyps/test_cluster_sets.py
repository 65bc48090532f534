"""A set is made at the owner, in one order with all pushes, whoever has a replica."""

from __future__ import annotations

import time

import numpy as np
import pytest

import pyps
from tests.pyps import workloads
from tests.pyps.cluster import Cluster
from tests.pyps.conftest import ClusterOf

pytestmark = pytest.mark.slow

TIMEOUT = 20.0


def test_a_set_and_then_concurrent_pushes_add_up(cluster_of: ClusterOf) -> None:
    cluster = cluster_of(1, 3, dtype="int64")
    pushes = 50 if cluster.slow else 200
    workers = cluster.run(workloads.set_then_push, value=1_000_000, pushes=pushes)
    assert cluster.settles_at(np.full((1, 3), 1_000_000 + pushes * len(workers)))


def wait_for_replica(kv: pyps.Worker) -> None:
    kv.intent([0], 0, 1_000_000)
    out = np.zeros(1, np.int64)
    end = time.monotonic() + TIMEOUT
    while not kv.pull_if_local([0], out):
        assert time.monotonic() < end
        time.sleep(0.001)


@pytest.mark.parametrize("setter", [0, 1])
@pytest.mark.parametrize("slow", [False, True], ids=["direct", "slow"])
def test_sets_and_a_push_on_a_replica_lose_and_add_nothing(setter: int, slow: bool) -> None:
    """Set 5, set 3, push 100: 103 on both nodes, and never more on the way there."""
    with (
        Cluster(2, 1, 1, dtype="int64", slow=slow) as cluster,
        cluster.nodes[0].worker() as one,
        cluster.nodes[1].worker() as two,
    ):
        for _ in range(3):
            for kv in (one, two):
                wait_for_replica(kv)
            kv = (one, two)[setter]
            kv.set([0], np.array([5]))
            kv.set([0], np.array([3]))
            kv.push([0], np.array([100]))
            out = np.zeros((2, 1), np.int64)
            end = time.monotonic() + TIMEOUT
            while not (out == 103).all():
                assert time.monotonic() < end
                one.pull([0], out[0])
                two.pull([0], out[1])
                assert out.max() <= 103
            assert cluster.settles_at(np.array([[103]]))
