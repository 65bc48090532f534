"""What generated data is made of: Zipf's law, and numbers that follow from a seed and an id."""

from __future__ import annotations

import numpy as np
import pytest

from examples.apps.hidden import mixed, normal, zipf


@pytest.mark.parametrize("exponent", [0.8, 1.0, 1.3])
def test_ids_follow_the_law(exponent: float) -> None:
    """Far from the first ones, where rounding counts, the k-th is drawn as often as the law says."""
    drawn = zipf(np.random.default_rng(1), 400_000, 1000, exponent)
    counts = np.bincount(drawn, minlength=1000)
    assert len(counts) == 1000
    tens = counts[20:].reshape(-1, 20).sum(1)
    wanted = (np.arange(21.0, 1001) ** -exponent).reshape(-1, 20).sum(1)
    np.testing.assert_allclose(tens / tens.sum(), wanted / wanted.sum(), rtol=0.2)


def test_an_id_has_the_same_numbers_wherever_it_is_asked_for() -> None:
    ids = np.array([10**8, 3, 7])
    np.testing.assert_array_equal(normal(ids, 5, seed=2)[1:], normal(ids[1:], 5, seed=2))
    assert (normal(ids, 5, seed=2) != normal(ids, 5, seed=3)).all()


def test_hidden_numbers_look_normal_and_are_not_related() -> None:
    numbers = normal(np.arange(20_000), 4, seed=1)
    np.testing.assert_allclose(numbers.mean(0), 0, atol=0.03)
    np.testing.assert_allclose(np.cov(numbers.T), np.eye(4), atol=0.04)
    neighbours = np.corrcoef(numbers[:-1, 0], numbers[1:, 3])[0, 1]
    assert abs(neighbours) < 0.03


def test_hashes_fill_their_space() -> None:
    parts = np.bincount((mixed(np.arange(64_000), 1) % np.uint64(64)).astype(int), minlength=64)
    assert 850 < parts.min() < parts.max() < 1150
