"""Values are what they should be while keys move and replicas come and go, on one, two and four nodes."""

from __future__ import annotations

import numpy as np
import pytest

from tests.pyps import workloads
from tests.pyps.cluster import Cluster
from tests.pyps.conftest import ClusterOf

pytestmark = pytest.mark.slow

TECHNIQUES = ["all", "replication_only", "relocation_only", "auto"]


def rounds(cluster: Cluster, most: int) -> int:
    """As many as fit into about a second."""
    return most // 4 if cluster.slow else most


def columns(numbers: list[list[int]], width: int) -> np.ndarray[tuple[int, ...], np.dtype[np.int64]]:
    return np.repeat(np.sum(numbers, 0), width).reshape(-1, width)


def test_the_sum_of_all_pushes_to_one_key_is_exact(cluster_of: ClusterOf) -> None:
    cluster = cluster_of(1, 2, dtype="int64")
    pushed = cluster.run(workloads.push_ones_to_one_key, rounds=rounds(cluster, 800), moves_every=8)
    assert cluster.settles_at(np.full((1, 2), sum(pushed)))


def test_reads_do_not_go_back_and_see_a_workers_own_pushes(cluster_of: ClusterOf) -> None:
    cluster = cluster_of(5, 3, dtype="int64")
    pushed = cluster.run(workloads.watch, rounds=rounds(cluster, 100))
    assert cluster.settles_at(columns(pushed, 3))


def test_pulls_are_right_while_keys_move(cluster_of: ClusterOf) -> None:
    cluster = cluster_of(6, 20, dtype="int64")
    cluster.run(workloads.set_whole_values, rounds=rounds(cluster, 100))


def test_push_and_revert_returns_to_the_start_on_all_nodes(cluster_of: ClusterOf) -> None:
    cluster = cluster_of(12, 3, dtype="int64")
    start = np.arange(36).reshape(12, 3)
    with cluster.nodes[0].worker() as kv:
        kv.set(np.arange(12), start)
    cluster.run(workloads.push_and_revert, rounds=rounds(cluster, 100))
    assert cluster.settles_at(start)


def test_values_of_many_lengths_are_right_here_elsewhere_and_on_their_way(cluster_of: ClusterOf) -> None:
    keys = np.arange(13)
    lengths = workloads.lengths_of(keys)
    cluster = cluster_of(13, lengths, dtype="int64")
    pushed = cluster.run(workloads.push_values_of_many_lengths, rounds=rounds(cluster, 80))
    assert cluster.settles_at(np.repeat((keys + 1) * np.sum(pushed, 0), lengths))


@pytest.mark.parametrize("techniques", TECHNIQUES)
@pytest.mark.parametrize("count", [2, 4])
def test_sums_are_exact_with_every_technique(count: int, techniques: str) -> None:
    with Cluster(count, 4, 3, dtype="int64", techniques=techniques) as cluster:
        pushed = cluster.run(workloads.watch, rounds=100)
        assert cluster.settles_at(columns(pushed, 3))
