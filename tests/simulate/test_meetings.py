"""Nodes that start through one store."""

from __future__ import annotations

from benchmarks.simulate.meetings import started
from pyps.rendezvous.offers import Offer


def test_each_node_reads_the_offers_of_all() -> None:
    least = len(Offer(0, "", "", "", "", {}).encode())
    seen = started(8)
    assert seen.bytes > 8 * 8 * least
    assert 0 < seen.seconds < 30
