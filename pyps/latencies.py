"""How long operations took, as counts by length of time, and percentiles of these."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pyps import _core

OPERATIONS = ("pull", "push", "set", "localize")
PLACES = ("local", "remote")
# In nanoseconds: count i is of times below the limit i and not below the one before it. The last has no limit.
LIMITS = tuple(_core.latency_limits())


@dataclass(frozen=True)
class Latencies:
    """How long operations of one kind took.

    Attributes
    ----------
    total_ns : int
        The time of all that were counted.
    counts : sequence of int
        How many took how long, by `LIMITS`: four counts for each doubling of the time.
    """

    total_ns: int
    counts: Sequence[int]

    def __sub__(self, before: Latencies) -> Latencies:
        """Return what was counted since an earlier reading."""
        counts = [now - then for now, then in zip(self.counts, before.counts, strict=True)]
        return Latencies(self.total_ns - before.total_ns, counts)

    @property
    def counted(self) -> int:
        """How many were counted."""
        return sum(self.counts)

    def percentile(self, percent: float) -> float | None:
        """Return the seconds that so many percent of them took at most, give or take an eighth; None if there are none.

        Of the count in which it lies the upper limit is taken, and of the last one, which has none, its lower limit.
        """
        wanted, seen = self.counted * percent / 100, 0
        for count, limit in zip(self.counts, (*LIMITS[:-1], LIMITS[-2]), strict=True):
            seen += count
            if seen and seen >= wanted:
                return limit / 1e9
        return None
