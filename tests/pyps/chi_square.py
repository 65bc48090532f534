"""Pearson's test of counts against probabilities."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

DEVIATIONS = 5.0  # of the normal distribution: a true fit is refused once in 3.5 million times


def statistic(counts: NDArray[np.int64], probabilities: NDArray[np.float64]) -> float:
    """Return Pearson's statistic; infinite where something came that cannot."""
    possible = probabilities > 0
    if counts[~possible].any():
        return math.inf
    expected = counts.sum() * probabilities[possible] / probabilities.sum()
    assert expected.min() > 5, "draw more: the test needs five of each"
    return float(((counts[possible] - expected) ** 2 / expected).sum())


def quantile(freedom: int, deviations: float = DEVIATIONS) -> float:
    """Return what the statistic exceeds as rarely as a normal variable so many standard deviations.

    The approximation of E. Wilson and M. Hilferty (1931).
    """
    part = 2 / (9 * freedom)
    return freedom * (1 - part + deviations * math.sqrt(part)) ** 3


def fits(counts: NDArray[np.int64], probabilities: NDArray[np.float64], *, repeats: int = 1) -> bool:
    """Tell whether counts may come from the probabilities; `repeats`: each draw was counted up to so many times."""
    freedom = int((probabilities > 0).sum()) - 1
    return statistic(counts, probabilities) < repeats * quantile(freedom)
