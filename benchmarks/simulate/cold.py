"""How much longer threads compute that have waited for other nodes: their processors' caches are cold then.

Workers of an application are recorded by themselves, and then with pauses, as if values came from other nodes, so many
at once as share the machine.
"""

from __future__ import annotations

import multiprocessing
import statistics
import time
from collections.abc import Iterable
from contextlib import ExitStack
from dataclasses import dataclass
from multiprocessing.connection import Connection
from multiprocessing.synchronize import Barrier, Lock
from typing import Any

from benchmarks.simulate.recording import TIMES, Kind, Recorder, node_of, rows_of
from examples.apps.task import Task

PATIENCE = 300.0  # seconds that workers wait for each other


@dataclass(frozen=True)
class Cold:
    """What waiting costs.

    Attributes
    ----------
    seconds : float
        That a worker computes longer between two calls, each time that it has waited.
    calls : float
        How many times as long calls take: the shipped code's part.
    """

    seconds: float
    calls: float


@dataclass(frozen=True)
class Epoch:
    """Seconds of a processor in an epoch: between calls and in them; and how many pulls it has."""

    between: float
    calls: float
    pulls: int


def measured(task: Task, workers: int, pause: float) -> Cold:
    """Measure it with pauses of so many seconds; each worker has a process and a node of its own."""
    context = multiprocessing.get_context("forkserver")
    alone, together = context.Lock(), context.Barrier(workers)
    with ExitStack() as stack:
        begins = []
        for number in range(workers):
            begin, end = context.Pipe(duplex=False)
            given = (end, alone, together, task, number, workers, pause)
            process = context.Process(target=measure, args=given)
            process.start()
            stack.callback(process.join)
            stack.callback(process.terminate)
            end.close()
            begins.append(begin)
        found: list[Cold] = [begin.recv() for begin in begins]
    return Cold(
        max(0.0, statistics.mean(one.seconds for one in found)),
        max(1.0, statistics.mean(one.calls for one in found)),
    )


def measure(
    end: Connection, alone: Lock, together: Barrier, task: Task, number: int, workers: int, pause: float
) -> None:
    """Measure one of the workers, and tell it by a pipe."""
    with node_of(task) as (node, layout), node.worker() as kv:

        def epoch(pause: float) -> Epoch:
            recorder: Any = Recorder(kv, pause=pause)
            began = time.thread_time_ns()
            rows = rows_of(recorder, task, layout, number, workers)
            spent = time.thread_time_ns() - began - recorder.paused
            between = sum(row.nanoseconds for row in rows)
            pulls = sum(row.kind is Kind.PULL for row in rows)
            return Epoch(1e-9 * between, 1e-9 * (spent - between), pulls)

        seen = []
        for _ in range(TIMES):  # in turns, as other programs may come and go
            with alone:
                warm = epoch(0.0)
            together.wait(PATIENCE)
            seen.append((warm, epoch(pause)))
            together.wait(PATIENCE)  # none leaves the others the machine
        warm, cold = map(median, zip(*seen, strict=True))
        end.send(Cold((cold.between - warm.between) / warm.pulls, cold.calls / warm.calls))


def median(epochs: Iterable[Epoch]) -> Epoch:
    """Return the one of an odd number that is in the middle by all that it computed."""
    ordered = sorted(epochs, key=lambda one: one.between + one.calls)
    return ordered[len(ordered) // 2]
