"""Operations between nodes: remote pull and push, localize, intents; each beside the bare cost of its bytes."""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterator
from contextlib import ExitStack

import numpy as np
from numpy.typing import NDArray

import pyps
from benchmarks.harness import Row, seconds_of_loops
from benchmarks.nodes.children import Child
from benchmarks.nodes.cluster import calls, cluster
from benchmarks.nodes.redis_server import redis_loops
from benchmarks.nodes.round_trip import HEADER, Loop, RoundTrips, round_trips
from benchmarks.nodes.rpc import rpc_loops

NUM_KEYS, LENGTH, COUNT = 200_000, 10, 1000
BYTES = 4 * LENGTH
BATCHES = 80  # of keys; fewer than lie on one of the other nodes
AHEAD = 100  # asynchronous operations on their way at once
ROUNDS = 21
POLL = 50e-6  # seconds between looks whether an intent has brought its keys
KEY, OFFSET = 8, 4  # bytes of a key and of its position in a message
ZMQ = "bare ZeroMQ, same bytes"
Keys = NDArray[np.int64]


def operations(quick: bool) -> Iterator[Row]:
    """Measure two and four nodes."""
    with round_trips() as bare:
        for num_nodes in (2, 4):
            with cluster(num_nodes, NUM_KEYS, LENGTH) as (worker, others):
                yield from remote(num_nodes, worker, bare, quick)
                yield from moving(num_nodes, worker, others, quick)
    yield from others_at_it(quick)


def elsewhere(num_nodes: int, count: int) -> list[Keys]:
    """Return batches of keys, each key once, that live on the other nodes in the beginning."""
    keys = np.arange(NUM_KEYS)
    keys = np.random.default_rng(num_nodes).permutation(keys[keys % num_nodes != 0])
    return [np.ascontiguousarray(keys[i * count : (i + 1) * count]) for i in range(BATCHES)]


def remote(num_nodes: int, kv: pyps.Worker, bare: RoundTrips, quick: bool) -> Iterator[Row]:
    """Pull and push keys of the other nodes."""
    one, many = (itertools.cycle(elsewhere(num_nodes, count)) for count in (1, COUNT))
    value, values = np.zeros((1, LENGTH), np.float32), np.zeros((COUNT, LENGTH), np.float32)

    def push_ahead(count: int) -> float:
        start = time.perf_counter()
        for _ in range(count):
            kv.push(next(many), values, asynchronous=True)
        kv.waitall()
        return time.perf_counter() - start

    # The same bytes in one message: with several nodes, the peer still asks only one.
    columns = COUNT * (KEY if num_nodes == 2 else KEY + OFFSET)
    loops: dict[str, tuple[Loop, Loop, str]] = {
        "pull 1 key": (calls(kv.pull, one, value), bare.loop(HEADER + KEY, HEADER + BYTES), "<= 1.5x"),
        f"pull {COUNT} keys x {LENGTH}": (
            calls(kv.pull, many, values),
            bare.loop(HEADER + columns, HEADER + COUNT * BYTES),
            "<= 1.6x",
        ),
        f"push {COUNT} keys x {LENGTH}": (
            calls(kv.push, many, values),
            bare.loop(HEADER + columns + COUNT * BYTES, HEADER),
            "<= 1.6x",
        ),
        f"asynchronous push of {COUNT} keys, per call": (
            push_ahead,
            bare.loop(HEADER + columns + COUNT * BYTES, HEADER, AHEAD),
            "<= 100 us",
        ),
    }
    for what, (ours, theirs, target) in loops.items():
        times = seconds_of_loops(ours, theirs, quick=quick, rounds=ROUNDS)
        yield row(num_nodes, what, times[0], ZMQ, times[1], target)


def moving(num_nodes: int, kv: pyps.Worker, others: list[Child], quick: bool) -> Iterator[Row]:
    """Bring keys here, by localize and by an intent; the other nodes take them back when they run out."""
    batches = elsewhere(num_nodes, COUNT)
    values = np.zeros((COUNT, LENGTH), np.float32)
    left: list[Keys] = []

    def next_batch() -> Keys:
        if not left:
            for other in others:
                other.ask("take_home")
            left.extend(batches)
        return left.pop()

    def localize(count: int) -> float:
        taken = 0.0
        for _ in range(count):
            keys = next_batch()
            start = time.perf_counter()
            kv.localize(keys)
            taken += time.perf_counter() - start
        return taken

    def intend(count: int) -> float:
        taken = 0.0
        for _ in range(count):
            keys = next_batch()
            clock = kv.current_clock()
            start = time.perf_counter()
            kv.intent(keys, clock, clock + 1)
            while not kv.pull_if_local(keys, values):
                time.sleep(POLL)
            taken += time.perf_counter() - start
            kv.advance_clock()
        return taken

    others[0].ask("take_home")
    left.extend(batches)
    for what, loop, target in (
        (f"localize {COUNT} keys x {LENGTH}", localize, "<= 250 us"),
        (f"intent until {COUNT} keys are local", intend, "<= 1000 us"),
    ):
        yield row(num_nodes, what, seconds_of_loops(loop, quick=quick, rounds=ROUNDS)[0], target=target)


def others_at_it(quick: bool) -> Iterator[Row]:
    """Measure redis and torch.distributed.rpc beside two nodes."""
    with ExitStack() as stack:
        kv, _ = stack.enter_context(cluster(2, NUM_KEYS, LENGTH))
        keys = itertools.cycle(elsewhere(2, COUNT))
        values = np.zeros((COUNT, LENGTH), np.float32)
        ours = (calls(kv.pull, keys, values), calls(kv.push, keys, values))
        peers = {
            ("torch.distributed.rpc.rpc_sync",) * 2: stack.enter_context(rpc_loops(NUM_KEYS, LENGTH)),
            ("redis MGET", "redis MSET"): stack.enter_context(redis_loops(NUM_KEYS, LENGTH)),
        }
        for names, loops in peers.items():
            if loops is None:
                print("redis-server is not installed: no rows beside it")
                continue
            for what, name, mine, theirs in zip(("pull", "push"), names, ours, loops, strict=True):
                times = seconds_of_loops(mine, theirs, quick=quick, rounds=ROUNDS)
                yield row(2, f"{what} {COUNT} keys x {LENGTH}", times[0], name, times[1])


def row(
    num_nodes: int, what: str, ours: float, peer: str = "", theirs: float | None = None, target: str = ""
) -> Row:
    """Return a row of microseconds."""
    return Row(
        table=f"parameter server, {num_nodes} nodes over loopback, one worker each",
        what=what,
        ours=1e6 * ours,
        unit="us",
        peer=peer,
        theirs=None if theirs is None else 1e6 * theirs,
        target=target,
    )
