"""Pushes of gradients to optimizers on the server, beside pushes that add, and beside a worker that uses numpy."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack

import numpy as np

import pyps
from benchmarks.harness import Row, seconds_per_call
from benchmarks.nodes.in_process import worker_of_first

NAME = "parameter server: optimizers"
COUNT, LENGTH, RATE = 1000, 64, 0.1
OPTIMIZERS = ("adagrad", "sgd", "sgd:momentum=0.9", "rowwise_adagrad", "adam", "rmsprop", "ftrl")
STORES = (10_000, 1_000_000)  # keys: within the caches, beyond them


def run(quick: bool) -> list[Row]:
    """Measure everything; `quick` only sees that it works."""
    return [
        row
        for num_keys in STORES[: 1 if quick else None]
        for away in (False, True)
        for row in pushes(num_keys, away, quick)
    ]


def pushes(num_keys: int, away: bool, quick: bool) -> Iterator[Row]:
    """Time them in turn, on a store of this process or, if `away`, from a node that has none of the keys."""
    random = np.random.default_rng(1)
    keys = random.permutation(num_keys // 2)[:COUNT] * 2 + 1  # with two nodes those of the second
    gradients = random.normal(size=(COUNT, LENGTH)).astype(np.float32)
    with ExitStack() as stack:

        def worker(optimizer: str = "", length: int = LENGTH) -> pyps.Worker:
            return worker_of_first(stack, 1 + away, num_keys, length, optimizer=optimizer)

        def push(kv: pyps.Worker) -> Callable[[], object]:
            return lambda: kv.push(keys, gradients)

        both = worker(length=2 * LENGTH)  # values and sums, beside each other
        rows = np.empty((COUNT, 2 * LENGTH), np.float32)

        def by_numpy() -> None:
            both.pull(keys, rows)
            values, sums = rows[:, :LENGTH], rows[:, LENGTH:]
            sums += gradients**2
            values -= RATE * gradients / (np.sqrt(sums) + 1e-10)
            both.set(keys, rows)

        optimizers = [worker(f"{name}{',' if ':' in name else ':'}lr={RATE}") for name in OPTIMIZERS]
        functions = [push(kv) for kv in (worker(), *optimizers)]
        add, *ours, numpys = (1e6 * t for t in seconds_per_call(*functions, by_numpy, quick=quick))
    table = f"{NAME}: push of {COUNT} keys x {LENGTH} float32 of {num_keys:,}, {'another node' if away else 'here'}"
    for name, time in zip(OPTIMIZERS, ours, strict=True):
        target = "<= 1.3x" if name == "adagrad" else ""
        yield Row(
            table=table, what=name, ours=time, unit="us", peer="push that adds", theirs=add, target=target
        )
    yield Row(
        table=table,
        what="adagrad, beside numpy",
        ours=ours[0],
        unit="us",
        peer="pull, numpy, set",
        theirs=numpys,
        target="<= 0.33x",
    )
