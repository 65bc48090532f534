"""Operations on keys that have backups on another node (`replicas=1`), beside the same without."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack

import numpy as np
from numpy.typing import NDArray

import pyps
from benchmarks.harness import Row, seconds_per_call
from benchmarks.nodes.in_process import worker_of_first

NAME = "parameter server: owners with replicas"
KEYS, LENGTH = 10_000, 10
COUNTS = (1, 1000)  # keys a call
PUSH, PULL = "<= 1.6x", "<= 1.05x"


def run(quick: bool) -> list[Row]:
    """Measure everything; `quick` only sees that it works."""
    with ExitStack() as stack:
        without, backed_up = (
            worker_of_first(stack, 2, KEYS, LENGTH, replicas=replicas) for replicas in (0, 1)
        )
        return [row for count in COUNTS for row in operations(without, backed_up, count, quick)]


def operations(without: pyps.Worker, backed_up: pyps.Worker, count: int, quick: bool) -> Iterator[Row]:
    """Time pushes and pulls in turn, of keys that live on the other node and of keys that live here."""
    for where, first in (("another node", 1), ("here", 0)):
        keys = np.random.default_rng(1).permutation(KEYS // 2)[:count] * 2 + first
        functions = [call for kv in (without, backed_up) for call in calls(kv, keys)]
        push, pull, push_backed_up, pull_backed_up = seconds_per_call(*functions, quick=quick)
        for what, ours, theirs, target in (
            ("push", push_backed_up, push, PUSH if first and count > 1 else ""),
            ("pull", pull_backed_up, pull, PULL if count > 1 else ""),
        ):
            yield Row(
                table=f"{NAME}: {count} keys x {LENGTH} float32",
                what=f"{what}, {where}",
                ours=1e6 * ours,
                unit="us",
                peer="without replicas",
                theirs=1e6 * theirs,
                target=target,
            )


def calls(kv: pyps.Worker, keys: NDArray[np.int64]) -> tuple[Callable[[], object], Callable[[], object]]:
    """Return a push and a pull of the keys."""
    values, out = (np.ones((len(keys), LENGTH), np.float32) for _ in range(2))
    return lambda: kv.push(keys, values), lambda: kv.pull(keys, out)
