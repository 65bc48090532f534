"""What generated data is made of: numbers that follow from a seed and an id, and ids by Zipf's law.

Nothing of it is held, so that there may be as many ids as one likes.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from examples.apps.management import Keys

GOLDEN = 0x9E3779B97F4A7C15  # the steps of splitmix64 (Steele, Lea, Flood 2014)
PARTS = 4  # uniform numbers of 16 bits, whose sum is nearly normal


def mixed(ids: Any, seed: int) -> NDArray[np.uint64]:
    """Return a random number of 64 bits for each id, as splitmix64 does."""
    bits = np.asarray(ids).astype(np.uint64) * np.uint64(GOLDEN) + np.uint64(seed * GOLDEN % 2**64)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        bits = (bits ^ (bits >> np.uint64(shift))) * np.uint64(factor)
    return bits ^ (bits >> np.uint64(31))


def normal(ids: Keys, width: int, seed: int) -> NDArray[np.float32]:
    """Return numbers for each id, shape (n, width), which look as if drawn from the standard normal distribution."""
    bits = mixed(mixed(ids, seed)[:, None] + np.arange(width, dtype=np.uint64), seed)
    sums = np.zeros(bits.shape, np.float32)
    for part in range(PARTS):
        sums += ((bits >> np.uint64(16 * part)) & np.uint64(0xFFFF)).astype(np.float32)
    sums -= PARTS * 2**15
    sums *= (12 / PARTS) ** 0.5 / 2**16
    return sums


def zipf(random: np.random.Generator, count: int, size: int, exponent: float) -> Keys:
    """Draw from [0, size): the k-th is drawn nearly in proportion to ``k ** -exponent``.

    The law is that of a continuous variable, rounded down, as its distribution can be inverted without a table.
    """
    at = random.random(count)
    if exponent == 1:
        drawn = (size + 1.0) ** at
    else:
        power = 1 - exponent
        drawn = (((size + 1.0) ** power - 1) * at + 1) ** (1 / power)
    return np.minimum(drawn.astype(np.int64), size) - 1
