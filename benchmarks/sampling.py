"""Samples of 100 keys with their values: each scheme beside numpy's draws and a pull of them.

One node, so that the schemes differ by their draws alone; what they do about keys elsewhere is in the applications.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import pyps
from benchmarks.harness import Row, seconds_per_call

NAME = "parameter server: sampling"
NUM_KEYS, LENGTH, COUNT = 1_000_000, 10, 100  # 40 MB of values, more than the caches hold
SCHEMES = ("naive", "preloc", "pool", "local")


def run(quick: bool) -> list[Row]:
    """Measure everything; `quick` only sees that it works."""
    rng = np.random.default_rng(1)
    weights = rng.random(NUM_KEYS)
    share = weights / weights.sum()
    draws: dict[tuple[str, bool], tuple[str, Callable[[], Any]]] = {
        ("uniform", True): ("Generator.integers", lambda: rng.integers(0, NUM_KEYS, COUNT)),
        ("uniform", False): (
            "Generator.choice(replace=False)",
            lambda: rng.choice(NUM_KEYS, COUNT, replace=False),
        ),
        ("log-uniform", True): (
            "exp(Generator.random)",
            lambda: np.exp(rng.random(COUNT) * np.log(NUM_KEYS + 1)).astype(np.int64) - 1,
        ),
        ("weighted", True): ("Generator.choice(p=)", lambda: rng.choice(NUM_KEYS, COUNT, p=share)),
    }
    return [
        row
        for (distribution, replacement), (name, draw) in draws.items()
        for row in samples(
            distribution, replacement, weights if distribution == "weighted" else None, name, draw, quick
        )
    ]


def samples(
    distribution: str, replacement: bool, weights: Any, name: str, draw: Callable[[], Any], quick: bool
) -> Iterator[Row]:
    """Time prepare_sample and pull_sample of every scheme in turn, and numpy's draws with a pull."""
    keys, vals = np.zeros(COUNT, np.int64), np.zeros((COUNT, LENGTH), np.float32)
    workers = []
    try:
        for scheme in SCHEMES:
            kv = pyps.local(NUM_KEYS, LENGTH)
            workers.append(kv)
            kv.push(np.arange(NUM_KEYS), np.ones((NUM_KEYS, LENGTH), np.float32))
            assert isinstance(kv.node, pyps.Server)
            kv.node.enable_sampling_support(
                scheme, replacement, distribution, 0, NUM_KEYS, weights=weights, seed=1
            )
        functions: list[Callable[[], object]] = [
            lambda kv=kv: kv.pull_sample(kv.prepare_sample(COUNT, 0), keys, vals)  # type: ignore[misc]
            for kv in workers
        ]
        *ours, theirs = (
            1e6 * t for t in seconds_per_call(*functions, lambda: workers[0].pull(draw(), vals), quick=quick)
        )
    finally:
        for kv in workers:
            kv.finalize()
    kind = distribution if replacement else f"{distribution}, distinct"
    for scheme, time in zip(SCHEMES, ours, strict=True):
        yield Row(
            table=f"{NAME}: {COUNT} of {NUM_KEYS:,} keys x {LENGTH} float32",
            what=f"{kind}: {scheme}",
            ours=time,
            unit="us",
            peer=f"{name}, pull",
            theirs=theirs,
        )
