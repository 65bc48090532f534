"""Samples on one, two and four nodes, in threads and in attached processes: which keys come, and from where."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.pyps import chi_square, sampling_work
from tests.pyps.cluster import Cluster
from tests.pyps.conftest import ClusterOf

SIZE = 48
POOL_USES = 16


def sampling(cluster_of: ClusterOf, scheme: str, replacement: bool, distribution: str, size: int) -> Cluster:
    """Make a cluster whose workers draw of all keys; every element of a value is its key."""
    cluster = cluster_of(size, 3, dtype="int64")
    for node in cluster.nodes:
        options = sampling_work.settings(distribution, size)
        node.enable_sampling_support(scheme, replacement, distribution, 0, size, **options)
    with cluster.nodes[0].worker() as kv:
        kv.set(np.arange(size), np.repeat(np.arange(size), 3))
    return cluster


def counted(cluster: Cluster, samples: int, **options: Any) -> list[NDArray[np.int64]]:
    """Return how often each node's workers drew each key."""
    rows = cluster.run(sampling_work.count, samples=samples // (4 if cluster.slow else 1), **options)
    return [np.sum(rows[2 * rank : 2 * rank + 2], 0) for rank in range(len(cluster))]


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["naive", "preloc", "pool"])
def test_keys_come_as_often_as_their_weights_say(cluster_of: ClusterOf, scheme: str) -> None:
    cluster = sampling(cluster_of, scheme, True, "weighted", SIZE)
    expected = sampling_work.probabilities("weighted", SIZE)
    counts = np.sum(counted(cluster, 200, n=30, distinct=False), 0)
    assert chi_square.fits(counts, expected, repeats=POOL_USES if scheme == "pool" else 1)


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["naive", "preloc", "pool", "local"])
def test_distinct_keys_are_distinct(cluster_of: ClusterOf, scheme: str) -> None:
    cluster = sampling(cluster_of, scheme, False, "log-uniform", SIZE)
    for counts in counted(cluster, 40, n=30, distinct=True):
        assert counts.sum() == 2 * 30 * (10 if cluster.slow else 40)


def test_local_draws_stand_for_the_keys_before_them(cluster_of: ClusterOf) -> None:
    """A key comes as often as it and those between the local key before and it are drawn, wrapping at the end."""
    cluster = sampling(cluster_of, "local", True, "log-uniform", SIZE)
    drawn = sampling_work.probabilities("log-uniform", SIZE)
    for rank, counts in enumerate(counted(cluster, 200, n=30, distinct=False)):
        expected = np.zeros(SIZE)
        for key in range(SIZE):
            expected[(key + (rank - key) % len(cluster)) % SIZE] += drawn[key]
        assert chi_square.fits(counts, expected)


@pytest.mark.slow
@pytest.mark.parametrize("replacement", [True, False])
def test_local_never_asks_another_node(cluster_of: ClusterOf, replacement: bool) -> None:
    """Also while keys move; each node keeps some of those beyond the first half, which nobody moves."""
    cluster = sampling(cluster_of, "local", replacement, "uniform", SIZE)
    movable = SIZE // 2
    results = cluster.run(sampling_work.sample_while_keys_move, samples=60, n=4, movable=movable)
    assert results == [0] * (2 * len(cluster))


def test_local_asks_others_where_nothing_is_here(cluster_of: ClusterOf) -> None:
    cluster = sampling(cluster_of, "local", True, "uniform", SIZE)
    with cluster.nodes[0].worker() as kv:
        kv.localize(np.arange(SIZE))
    with cluster.nodes[-1].worker() as kv:
        keys = sampling_work.pulled(kv, kv.prepare_sample(20, 0), 20)
        assert len(np.unique(keys)) > 5
        assert sampling_work.elsewhere(kv) == (20 if len(cluster) > 1 else 0)


def test_local_finds_the_few_keys_that_are_here(cluster_of: ClusterOf) -> None:
    """Keys that come and go are found in a large range."""
    cluster = sampling(cluster_of, "local", True, "uniform", 5000)
    with cluster.nodes[0].worker() as kv:
        kv.localize(np.arange(5000))
    with cluster.nodes[-1].worker() as kv:
        for here in ([2600], [2600, 800], [2600, 800, 4999]):
            kv.localize(here)
            keys = sampling_work.pulled(kv, kv.prepare_sample(300, 0), 300)
            assert set(keys) == set(here) or len(cluster) == 1
        assert sampling_work.elsewhere(kv) == 0
        with cluster.nodes[0].worker() as other:
            other.localize([2600, 4999])
        keys = sampling_work.pulled(kv, kv.prepare_sample(300, 0), 300)
        assert set(keys) == {800} or len(cluster) == 1


@pytest.mark.slow
def test_local_without_replacement_takes_all_that_is_here_first(cluster_of: ClusterOf) -> None:
    cluster = sampling(cluster_of, "local", False, "uniform", SIZE)
    here = SIZE // len(cluster)
    with cluster.nodes[0].worker() as kv:
        sampling_work.pulled(kv, kv.prepare_sample(here, 0), here)
        assert sampling_work.elsewhere(kv) == 0
        keys = sampling_work.pulled(kv, kv.prepare_sample(SIZE, 0), SIZE)
        assert len(np.unique(keys)) == SIZE
        assert sampling_work.elsewhere(kv) == SIZE - here


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["preloc", "pool"])
def test_samples_become_local(cluster_of: ClusterOf, scheme: str) -> None:
    """One worker of the first node; keys are given to it, for no other wants them."""
    cluster = sampling(cluster_of, scheme, True, "uniform", 10 * SIZE)
    with cluster.nodes[0].worker() as kv:
        assert sampling_work.get_local_in_time(kv, 0, n=40) == 0


def test_naive_samples_stay_where_they_are(cluster_of: ClusterOf) -> None:
    cluster = sampling(cluster_of, "naive", True, "uniform", 10 * SIZE)
    with cluster.nodes[0].worker() as kv:
        for _ in range(20):
            sampling_work.pulled(kv, kv.prepare_sample(40, 0), 40)
        local = 1 - sampling_work.elsewhere(kv) / 800
        assert abs(local - 1 / len(cluster)) < 0.1


@pytest.mark.slow
def test_samples_of_a_pool_that_is_here_are_local_at_once(cluster_of: ClusterOf) -> None:
    """Of 320 keys; among them may be some of the next pool, which a slow network has not brought yet."""
    cluster = sampling(cluster_of, "pool", True, "uniform", 10 * SIZE)
    with cluster.nodes[0].worker() as kv:
        missed, later = sampling_work.go_on_with_pools(kv, 0, n=40, samples=8)
    assert missed == 0
    assert later <= 40


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["preloc", "pool"])
def test_samples_of_all_nodes_get_local_together(cluster_of: ClusterOf, scheme: str) -> None:
    """Several nodes want the same keys, so that they get replicas."""
    cluster = sampling(cluster_of, scheme, True, "uniform", SIZE)
    missed = cluster.run(sampling_work.get_local_in_time, n=40)
    assert missed == [0] * (2 * len(cluster))
