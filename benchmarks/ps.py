"""The parameter server on one node: pull, push and set beside numpy.take and torch.index_add_ on a plain table.

The peers take no latch, know one thread or process, and no other reader: they are the limit, not an alternative.
`benchmarks/nodes/` has what several nodes do.
"""

from __future__ import annotations

import itertools
import multiprocessing
import threading
import time
from collections.abc import Callable, Iterator
from functools import partial
from multiprocessing.synchronize import Barrier
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

import pyps
from benchmarks.harness import Row, in_threads, rates_in_turns, seconds_per_call
from benchmarks.nodes.growth import growth
from benchmarks.nodes.operations import operations
from benchmarks.nodes.server_threads import server_threads
from benchmarks.nodes.threads import two_threads

NAME = "parameter server"
ONE_NODE = f"{NAME}, one node"
COUNTS = (1, 10, 100, 1000, 10_000)
KEYS = {10: 1_000_000, 100: 100_000}  # by value length: 40 MB of values, more than the caches hold
BATCHES = 100
TARGETS = {  # microseconds, by operation, keys and length
    ("pull", 1, 10): 0.5,
    ("pull", 1000, 10): 30,
    ("push", 1000, 10): 35,
    ("pull", 1000, 100): 65,
    ("push", 1000, 100): 70,
}
SCALING_TARGET = ">= 1.7x"
SPREAD = np.int64(-0x61C8864680B583EB)  # times 1, 2, ...: keys as spread as hashes are


def run(quick: bool) -> list[Row]:
    """Measure everything; `quick` only sees that it works."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        rows = [row for length in KEYS for row in one_worker(length, quick)]
        rows += tensors(quick)
        rows += [
            row
            for length in KEYS
            for kind in ("thread", "process")
            for row in two_workers(length, kind, quick)
        ]
        return [
            *rows,
            memory(),
            *any_keys(quick),
            *operations(quick),
            *two_threads(quick),
            *server_threads(quick),
            *growth(quick),
        ]
    finally:
        torch.set_num_threads(threads)


def batches(length: int, count: int) -> list[NDArray[np.int64]]:
    """Return random batches, so many that their values are not in the caches when their turn comes again."""
    rng = np.random.default_rng(count)
    return list(rng.integers(0, KEYS[length], (BATCHES, count)))


def one_worker(length: int, quick: bool) -> Iterator[Row]:
    """Time one worker in this process beside the peers."""
    num_keys = KEYS[length]
    table = np.zeros((num_keys, length), np.float32)
    tensor = torch.from_numpy(table)
    with pyps.local(num_keys, length) as kv:
        kv.push(np.arange(num_keys), np.ones((num_keys, length), np.float32))
        for count in COUNTS:
            keys = itertools.cycle(batches(length, count))
            tensor_keys = itertools.cycle([torch.from_numpy(batch) for batch in batches(length, count)])
            vals = np.ones((count, length), np.float32)
            updates = torch.from_numpy(vals)
            functions: list[Callable[[], object]] = [
                lambda: kv.pull(next(keys), vals),  # noqa: B023
                lambda: np.take(table, next(keys), axis=0, out=vals, mode="clip"),  # noqa: B023
                lambda: kv.push(next(keys), vals),  # noqa: B023
                lambda: tensor.index_add_(0, next(tensor_keys), updates),  # noqa: B023
                lambda: kv.set(next(keys), vals),  # noqa: B023
            ]
            pull, take, push, index_add, put = (1e6 * t for t in seconds_per_call(*functions, quick=quick))
            for operation, ours, peer, theirs in (
                ("pull", pull, "numpy.take(out=)", take),
                ("push", push, "torch.index_add_", index_add),
                ("set", put, "", None),
            ):
                limit = TARGETS.get((operation, count, length))
                yield Row(
                    table=f"{ONE_NODE}: values of {length} float32, one worker",
                    what=f"{operation} {count} key{'s' if count > 1 else ''}",
                    ours=ours,
                    unit="us",
                    peer=peer,
                    theirs=theirs,
                    target=f"<= {limit:g} us" if limit else "",
                )


def any_keys(quick: bool) -> Iterator[Row]:
    """Compare keys that are any numbers with those of a range: pulls, pushes, and the memory of all but the values."""
    length, count = 10, 1000
    num_keys = 20_000 if quick else KEYS[length]
    names = np.random.default_rng(0).permutation(np.arange(1, num_keys + 1, dtype=np.int64) * SPREAD)
    vals = np.ones((count, length), np.float32)
    with (
        pyps.Server(value_length=length, capacity=num_keys) as server,
        server.worker() as ours,
        pyps.local(num_keys, length) as theirs,
    ):
        for first in range(0, num_keys, count):
            ours.push(names[first : first + count], vals)
            theirs.push(np.arange(first, first + count), vals)
        numbers = [batch % num_keys for batch in batches(length, count)]
        keys, other_keys = itertools.cycle([names[batch] for batch in numbers]), itertools.cycle(numbers)
        functions: list[Callable[[], object]] = [
            lambda: ours.pull(next(keys), vals),
            lambda: theirs.pull(next(other_keys), vals),
            lambda: ours.push(next(keys), vals),
            lambda: theirs.push(next(other_keys), vals),
        ]
        pull, other_pull, push, other_push = (1e6 * t for t in seconds_per_call(*functions, quick=quick))
        committed = server.stats()["committed_bytes"]
    table = f"{ONE_NODE}: {num_keys:,} keys that are any numbers, values of {length} float32"
    for operation, mine, peer in (("pull", pull, other_pull), ("push", push, other_push)):
        yield Row(
            table=table,
            what=f"{operation} {count} keys",
            ours=mine,
            unit="us",
            peer="with num_keys",
            theirs=peer,
            target="<= 1.6x",
        )
    yield Row(
        table=table,
        what="bytes per key beside its value",
        ours=committed / num_keys - 4 * length,
        unit="B",
        target="<= 32 B",
    )


def tensors(quick: bool) -> Iterator[Row]:
    """Time calls of one key with torch tensors."""
    table = torch.zeros(1000, 10)
    with pyps.local(1000, 10) as kv:
        keys, vals = torch.tensor([5]), torch.zeros(1, 10)
        times = seconds_per_call(
            lambda: kv.pull(keys, vals),
            lambda: torch.index_select(table, 0, keys, out=vals),
            lambda: kv.push(keys, vals),
            lambda: table.index_add_(0, keys, vals),
            quick=quick,
        )
    pull, select, push, add = (1e6 * t for t in times)
    what = f"{ONE_NODE}: torch tensors, values of 10 float32, one worker"
    yield Row(
        table=what,
        what="pull 1 key",
        ours=pull,
        unit="us",
        peer="torch.index_select(out=)",
        theirs=select,
        target="<= 0.5 us",
    )
    yield Row(table=what, what="push 1 key", ours=push, unit="us", peer="torch.index_add_", theirs=add)


def two_workers(length: int, kind: str, quick: bool) -> Iterator[Row]:
    """Compare the keys per second of two workers at once with those of one, of the same kind."""
    with pyps.Server(KEYS[length], length) as server:
        for operation in ("pull", "push"):
            one, two = rates_in_turns(
                *(partial(rate, server, operation, kind, workers) for workers in (1, 2)), quick=quick
            )
            yield Row(
                table=f"{ONE_NODE}: two workers at once against one",
                what=f"{operation} 1000 keys x {length}, {kind}",
                ours=two / 1e6,
                unit="M keys/s",
                peer=f"one {kind}",
                theirs=one / 1e6,
                target=SCALING_TARGET,
            )


def rate(server: pyps.Server, operation: str, kind: str, workers: int, seconds: float) -> float:
    """Let so many workers run for some seconds; return the keys per second of all."""
    arguments = (operation, server.num_keys or 0, server.value_length or 0, seconds)
    if kind == "thread":
        counts: list[float] = []
        together = threading.Barrier(workers)

        def body(number: int) -> None:
            with server.worker() as kv:
                counts.append(use(kv, number, together, *arguments))

        in_threads(workers, body)
        return sum(counts)
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([__name__])
    meeting, results = context.Barrier(workers), context.SimpleQueue()
    processes = [
        context.Process(target=attached, args=(server.address, number, meeting, results, *arguments))
        for number in range(workers)
    ]
    for process in processes:
        process.start()
    total: float = sum(results.get() for _ in processes)
    for process in processes:
        process.join()
    return total


def attached(address: str, number: int, together: Barrier, results: Any, *arguments: Any) -> None:
    """Run one worker in a process of its own."""
    with pyps.attach(address) as node, node.worker() as kv:
        results.put(use(kv, number, together, *arguments))


def use(
    kv: pyps.Worker, number: int, together: Any, operation: str, num_keys: int, length: int, seconds: float
) -> float:
    """Return this worker's keys per second."""
    rng = np.random.default_rng(number)
    keys = itertools.cycle(list(rng.integers(0, num_keys, (BATCHES, 1000))))
    vals = np.zeros((1000, length), np.float32)
    call = getattr(kv, operation)
    for _ in range(BATCHES):  # the pages of the store become this process's own
        call(next(keys), vals)
    together.wait()
    start, calls = time.perf_counter(), 0
    while (taken := time.perf_counter() - start) < seconds:
        call(next(keys), vals)
        calls += 1
    return calls * 1000 / taken


def memory() -> Row:
    """Count the bytes per key of a million keys of 10 floats, everything included."""
    with pyps.Server(1_000_000, 10) as server, server.worker():
        committed = server.stats()["committed_bytes"]
    return Row(
        table=f"{ONE_NODE}: memory, 1,000,000 keys of 10 float32",
        what="bytes per key",
        ours=committed / 1e6,
        unit="B",
        peer="payload",
        theirs=40.0,
        target="<= 56 B",
    )
