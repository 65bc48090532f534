"""How often keys are drawn, on one node."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

import pyps
from tests.pyps import chi_square, sampling_work

SIZE, FIRST = 40, 10  # keys that are drawn
POOL_USES = 16

schemes = pytest.mark.parametrize("scheme", ["naive", "preloc", "pool", "local"])
distributions = pytest.mark.parametrize("distribution", ["uniform", "log-uniform", "weighted"])


def counted(scheme: str, replacement: bool, distribution: str, *, n: int, first: bool) -> NDArray[np.int64]:
    """Return how often each key of the range was drawn, or drawn first."""
    options = sampling_work.settings(distribution, SIZE)
    with pyps.Server(SIZE + 2 * FIRST, 3, dtype="int64") as server, server.worker() as kv:
        kv.set(np.arange(server.num_keys), np.repeat(np.arange(server.num_keys), 3))
        server.enable_sampling_support(scheme, replacement, distribution, FIRST, FIRST + SIZE, **options)
        if first:
            counts = np.array(sampling_work.count_first(kv, 0, samples=10_000, n=n))
        else:
            counts = np.array(sampling_work.count(kv, 0, samples=2000, n=n, distinct=not replacement))
        assert counts[:FIRST].sum() == counts[FIRST + SIZE :].sum() == 0
    return counts[FIRST : FIRST + SIZE]


@schemes
@distributions
def test_keys_come_as_often_as_the_distribution_says(scheme: str, distribution: str) -> None:
    counts = counted(scheme, True, distribution, n=15, first=False)
    expected = sampling_work.probabilities(distribution, SIZE)
    assert chi_square.fits(counts, expected, repeats=POOL_USES if scheme == "pool" else 1)


@schemes
@distributions
def test_the_first_of_distinct_keys_has_the_distribution(scheme: str, distribution: str) -> None:
    counts = counted(scheme, False, distribution, n=5, first=True)
    expected = sampling_work.probabilities(distribution, SIZE)
    assert chi_square.fits(counts, expected, repeats=POOL_USES if scheme == "pool" else 1)


@schemes
def test_distinct_uniform_keys_come_equally_often(scheme: str) -> None:
    counts = counted(scheme, False, "uniform", n=15, first=False)
    expected = sampling_work.probabilities("uniform", SIZE)
    assert chi_square.fits(counts, expected, repeats=POOL_USES if scheme == "pool" else 1)


@pytest.mark.parametrize("distribution", ["uniform", "log-uniform"])
def test_the_test_tells_distributions_apart(distribution: str) -> None:
    counts = counted("naive", True, distribution, n=15, first=False)
    other = "uniform" if distribution == "log-uniform" else "log-uniform"
    assert not chi_square.fits(counts, sampling_work.probabilities(other, SIZE), repeats=POOL_USES)


def test_a_pool_is_used_several_times_and_so_varies_more() -> None:
    freedom = SIZE - 1
    uniform = sampling_work.probabilities("uniform", SIZE)
    preloc, pool = (
        chi_square.statistic(counted(scheme, True, "uniform", n=15, first=False), uniform)
        for scheme in ("preloc", "pool")
    )
    assert preloc < chi_square.quantile(freedom)
    assert pool > 2 * chi_square.quantile(freedom)


def test_workers_of_one_seed_draw_independently() -> None:
    with pyps.Server(1000, 1) as server:
        server.enable_sampling_support("naive", True, "uniform", 0, 1000, seed=1)
        rows = []
        for _ in range(50):
            with server.worker() as kv:
                keys = np.zeros(400, np.int64)
                kv.pull_sample(kv.prepare_sample(400, 0), keys, np.zeros(400, np.float32))
                rows.append(keys)
    assert chi_square.fits(np.bincount(np.concatenate(rows), minlength=1000), np.full(1000, 1e-3))
    together = np.corrcoef(np.array(rows))[~np.eye(50, dtype=bool)]
    assert np.abs(together).max() < 0.3  # six standard deviations
