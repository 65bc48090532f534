"""Measures what the simulator's model costs on this machine; `python -m benchmarks.simulate.calibration` keeps it.

Nothing here is a run that the simulator has to predict: what the shipped code does for a message is timed while
simulations of many shapes run it, ZeroMQ by bare round trips, and calls of Python by calls on one node.
"""

from __future__ import annotations

import itertools
import os
import statistics
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np

import pyps
from benchmarks.nodes.round_trip import RoundTrips, round_trips
from benchmarks.nodes.thread_times import times
from benchmarks.simulate.program import simulate
from benchmarks.simulate.settings import COSTS, KINDS, Cost, Costs, Run, Zipf
from examples.apps.management import MANAGEMENTS

SMALL = 100  # bytes of ZeroMQ's messages
LONG, LONGER = (
    20_000,
    320_000,
)  # of those that tell what a byte takes; each of them takes several calls of the system
BATCH = 64  # messages on their way at once, so that ZeroMQ sends several by one call of the system
FEW = 4  # of the long ones, so that no thread sleeps between them
Sums = dict[str, list[list[float]]]


def nothing() -> Costs:
    """Costs of nothing, with which the simulations run that are timed."""
    none = Cost()
    return Costs(
        taken=dict.fromkeys((*KINDS.values(), "other"), none),
        turn=none,
        local=none,
        asked=none,
        send=none,
        receive=none,
        io=none,
        system=0.0,
        call=0.0,
        tell=0.0,
        sleep=0.0,
        wake=1e-5,
    )


def shapes() -> Iterator[Run]:
    """Return simulations of many shapes; on one node all keys are local.

    All simulated nodes share a processor's cache, which real ones do not: so they have few keys.
    """
    work = Zipf(batches=12, compute=0.002, epochs=2)
    for keys, length, management in itertools.product((10, 100, 1000), (4, 32), MANAGEMENTS):
        for nodes in (1, 2) if management == "classic" else (2,):
            yield Run(
                nodes=nodes,
                keys=6 * keys,
                value_length=length,
                management=management,
                work=replace(work, batch_keys=keys),
                costs=nothing(),
            )


def timed() -> Sums:
    """Run the simulations; return for each step, and for each simulation, how often, keys, bytes, seconds."""
    sums: Sums = defaultdict(list)
    for run in shapes():
        for what, seen in simulate(run).measured.items():
            if what == "local" and run.nodes > 1:
                continue
            kind = what.removeprefix("taken ")
            sums[what if kind == what else f"taken.{KINDS.get(int(kind), 'other')}"].append(seen)
    return sums


def fitted(seen: list[list[float]]) -> Cost:
    """Return the cost with which the sums fit best, in units of their square roots; no part of it is negative.

    Sums of few things are left out: most of them is what timing takes.
    """
    most = max((row[3] for row in seen), default=0.0)
    rows = np.array([row for row in seen if row[3] > 0.02 * most]).reshape(-1, 4)
    parts, kept, root = np.zeros(3), [0, 1, 2], np.sqrt(rows[:, 3:])
    while len(rows) and kept:
        found = np.linalg.lstsq(rows[:, kept] / root, root[:, 0], rcond=None)[0]
        if found.min() >= 0:
            parts[kept] = found
            break
        del kept[int(found.argmin())]
    return Cost(*map(float, parts))


def without(seen: list[list[float]], beside: list[list[float]], local: Cost) -> list[list[float]]:
    """Return what calls took for the keys that they asked others for, without that for their other keys."""
    spent = [local.key * keys + local.byte * size for _, keys, size, _ in beside]
    return [
        [count, keys, size, max(took - less, 0.0)]
        for (count, keys, size, took), less in zip(seen, spent, strict=True)
    ]


@dataclass(frozen=True)
class Trips:
    """What bare ZeroMQ takes for a message and its answer: seconds of the caller's processor and of ZeroMQ's thread.

    `wall` is from the message to its answer.
    """

    own: float
    sockets: float
    wall: float


def trips_of(trips: RoundTrips, size: int, ahead: int, count: int) -> Trips:
    """Time so many, of which so many are on their way at once."""
    trips.loop(size, size, ahead)(count // 10)
    before = times(os.getpid())
    wall = trips.loop(size, size, ahead)(count)
    spent = {thread: one[1] - before.get(thread, ("", 0))[1] for thread, one in times(os.getpid()).items()}
    own = spent.pop(os.getpid())
    return Trips(1e-9 * own / count, 1e-9 * max(spent.values()) / count, wall / count)


@dataclass(frozen=True)
class OfZeroMQ:
    """The costs of messages."""

    message: Cost
    io: Cost
    system: float
    sleep: float
    wake: float


def of_zeromq() -> OfZeroMQ:
    """Time bare ZeroMQ: one round trip at a time, streams of small messages, and large ones."""
    with round_trips() as trips:
        one = min((trips_of(trips, SMALL, 1, 2000) for _ in range(5)), key=lambda seen: seen.wall)
        many = min((trips_of(trips, SMALL, BATCH, 20_000) for _ in range(5)), key=lambda seen: seen.own)
        long, longer = (
            min((trips_of(trips, size, FEW, 1000) for _ in range(5)), key=lambda seen: seen.sockets)
            for size in (LONG, LONGER)
        )
    message = Cost(many.own / 4, 0.0, max(0.0, longer.own - long.own) / 4 / (LONGER - LONG))
    io = Cost(many.sockets / 2, 0.0, max(0.0, longer.sockets - long.sockets) / 2 / (LONGER - LONG))
    system = max(0.0, one.sockets / 2 - io.once)
    sleep = max(0.0, one.own - 2 * message.once)
    computed = 2 * one.own + 4 * (io.once + system)  # at both ends, one after another
    return OfZeroMQ(message, io, system, sleep, max(0.0, (one.wall - computed) / 6))


def of_calls() -> tuple[float, float]:
    """Return the seconds of a call of Python, and those of each key that a worker tells its node of."""
    with pyps.local(num_keys=1000, value_length=1) as kv:
        key, value = np.zeros(1, np.int64), np.zeros(1, np.float32)
        call = median_of(lambda: kv.pull(key, value), 1000)
    first, second = (pyps.Server(10_000, 1, num_nodes=2, rank=rank) for rank in range(2))
    ends = [node.bind("tcp://127.0.0.1:*") for node in (first, second)]
    for node in (first, second):
        node.connect(ends)
    with first, second, first.worker() as worker:
        keys = np.arange(0, 10_000, 10)
        clocks = itertools.count(1 << 41)
        tell = median_of(lambda: worker.intent(keys, next(clocks)), 50) / len(keys)
    return call, tell


def median_of(function: Callable[[], object], count: int) -> float:
    """Return the median seconds of a call."""
    taken = []
    for _ in range(9):
        start = time.perf_counter()
        for _ in range(count):
            function()
        taken.append((time.perf_counter() - start) / count)
    return statistics.median(taken)


def measured() -> Costs:
    """Measure all costs."""
    sums, zeromq = timed(), of_zeromq()
    call, tell = of_calls()
    local = fitted(sums["local"])
    return Costs(
        taken={kind: fitted(sums[f"taken.{kind}"]) for kind in (*KINDS.values(), "other")},
        turn=fitted(sums["turn"]),
        local=local,
        asked=fitted(without(sums["asked"], sums["beside asked"], local)),
        send=zeromq.message,
        receive=zeromq.message,
        io=zeromq.io,
        system=zeromq.system,
        call=call,
        tell=tell,
        sleep=zeromq.sleep,
        wake=zeromq.wake,
    )


if __name__ == "__main__":
    measured().save()
    print(COSTS.read_text(), end="")
