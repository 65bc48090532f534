"""Records what the workers of an application do, and what they compute between their calls, to be simulated.

One node has all keys, and its workers run one after another, so that each has a processor and all keys for itself. What
a simulated worker does for calls is the simulator's matter: only what is between them is timed.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from enum import IntEnum
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

import pyps
from benchmarks.simulate.settings import Recorded
from benchmarks.simulate.untimed import Untimed
from examples.apps.layout import Layout
from examples.apps.management import FOR_EVER, Keys, Management
from examples.apps.rows import LargeTask, Rows
from examples.apps.task import Task
from examples.apps.training import step, told

TIMES = 3  # so often each worker is recorded
EPOCH = 1  # which one is
EPOCHS = 2  # of a large task


class Kind(IntEnum):
    """The steps of a worker; the simulator's workload.h has the same."""

    COMPUTE = 0
    PULL = 1
    PUSH = 2
    TELL = 3
    TELL_AND_WAIT = 4
    TELL_SAMPLE = 5
    WAIT = 6
    ADVANCE = 7
    SYNC = 8
    BARRIER = 9


@dataclass
class Row:
    """A step: its keys, the clocks that it is about, counted from the worker's own, and nanoseconds of a processor."""

    kind: Kind
    keys: Keys | None = None
    start: int = 0
    end: int = 0
    nanoseconds: int = 0


@dataclass
class Recorder:
    """A worker that notes what is done with another one, as far as the applications use it."""

    kv: pyps.Worker
    rows: list[Row] = field(default_factory=list)
    samples: dict[int, Row] = field(default_factory=dict)
    left: int = field(default_factory=time.thread_time_ns)
    pause: float = 0.0  # seconds after each pull, as if the values came from another node
    paused: int = 0  # nanoseconds of a processor that pauses themselves took

    def pull(self, keys: Keys, values: Any, asynchronous: bool = False) -> Any:
        """Pull; it may be waited for later."""
        with self._note(Kind.PULL, keys):
            done = self.kv.pull(keys, values, asynchronous=asynchronous)
            if not asynchronous:
                self.rows.append(Row(Kind.WAIT))
        self._pause()
        return done

    def wait(self, timestamp: Any) -> None:
        """Wait for all pulls."""
        with self._note(Kind.WAIT):
            self.kv.wait(timestamp)

    def push(self, keys: Keys, values: Any, asynchronous: bool = False) -> Any:
        """Push."""
        with self._note(Kind.PUSH, keys):
            return self.kv.push(keys, values, asynchronous=asynchronous)

    def tell(self, keys: Keys, start: int, end: int, wait: bool) -> None:
        """Be told what will be used."""
        clock = self.kv.current_clock()
        kind = Kind.TELL_AND_WAIT if wait else Kind.TELL
        with self._note(kind, keys, start - clock, end - clock):
            pass

    def prepare_sample(self, count: int, start: int, end: int) -> int:
        """Draw; which keys that are is known when they are pulled."""
        clock = self.kv.current_clock()
        with self._note(Kind.TELL_SAMPLE, None, start - clock, end - clock):
            sample = self.kv.prepare_sample(count, start, end)
            self.samples[sample] = self.rows[-1]
        return sample

    def pull_sample(self, sample: int, keys: Keys, values: Any) -> None:
        """Pull what was drawn."""
        with self._note(Kind.PULL):
            self.kv.pull_sample(sample, keys, values)
            self.rows[-1].keys = self.samples.pop(sample).keys = keys.copy()
            self.rows.append(Row(Kind.WAIT))
        self._pause()

    def wait_sync(self, behind: int = 0) -> None:
        """Let replicas be exchanged."""
        with self._note(Kind.SYNC, None, behind):
            self.kv.wait_sync(behind=behind)

    def advance_clock(self) -> None:
        """Go on."""
        with self._note(Kind.ADVANCE):
            self.kv.advance_clock()

    def current_clock(self) -> int:
        """Return the worker's clock."""
        return self.kv.current_clock()

    def barrier(self) -> None:
        """Only note it."""
        with self._note(Kind.BARRIER):
            pass

    def _note(self, kind: Kind, keys: Keys | None = None, start: int = 0, end: int = 0) -> Recorder:
        """Note what was computed before, and then this step; the caller's keys may change later."""
        self.rows.append(Row(Kind.COMPUTE, nanoseconds=time.thread_time_ns() - self.left))
        self.rows.append(Row(kind, None if keys is None else keys.copy(), start, end))
        return self

    def _pause(self) -> None:
        if self.pause:
            began = time.thread_time_ns()
            time.sleep(self.pause)
            self.left = time.thread_time_ns()
            self.paused += self.left - began

    def __enter__(self) -> None:
        """Do not count what the call computes."""

    def __exit__(self, *_: object) -> None:
        self.left = time.thread_time_ns()


def tell(kv: Any, keys: Keys, start: int, end: int, wait: bool) -> None:
    """Note it; the simulator knows what to do."""
    kv.tell(keys, start, end, wait)


MANAGEMENT = Management(tell, "naive", replicates=True)


def record(task: Task, workers: int, directory: Path) -> Recorded:
    """Record an epoch of so many workers, and write files of it into a directory."""
    with node_of(task) as (node, layout):
        for worker in range(workers):
            rows = recorded(node, task, layout, worker, workers)
            write(rows, directory / f"steps.{worker}")
    return described(directory, layout, rows, workers)


def record_large(
    task: LargeTask, workers: int, directory: Path, timed: int, epochs: int = EPOCHS
) -> Recorded:
    """Record some epochs, each with other data, of workers of which few are timed.

    The others draw the keys of their batches, but compute for these as long as one of the first does.
    """
    keys: set[int] = set()
    used = 0
    layout, times = Rows(task), []
    with node_of(task, layout) as (node, _):
        for worker in range(workers):
            rows = []
            for epoch in range(epochs):
                if worker < timed:
                    of_epoch = recorded(node, task, layout, worker, workers, epoch)
                    times.append([row.nanoseconds for row in of_epoch])
                else:
                    with node.worker() as kv:
                        of_epoch = rows_of(Recorder(kv), Untimed(task), layout, worker, workers, epoch)
                    known = times[epochs * (worker % timed) + epoch]
                    for row, nanoseconds in zip(of_epoch, known, strict=True):
                        row.nanoseconds = nanoseconds
                rows += of_epoch
            write(rows, directory / f"steps.{worker}")
            own = set().union(*(row.keys.tolist() for row in rows if row.keys is not None))
            keys |= own
            used = max(used, len(own))
    return replace(described(directory, layout, of_epoch, workers), epochs=1, capacity=len(keys), used=used)


def described(directory: Path, layout: Layout, rows: list[Row], workers: int) -> Recorded:
    """Describe what was written of so many workers, of one of which these are the rows of an epoch."""
    np.asarray(layout.lengths, np.int64).tofile(directory / "lengths")
    stages = sum(row.kind is Kind.BARRIER for row in rows) - 1
    return Recorded(
        str(directory / "steps"),
        workers,
        str(directory / "lengths"),
        len(layout.lengths),
        stages,
    )


@contextmanager
def node_of(task: Task, layout: Layout | None = None) -> Iterator[tuple[pyps.Server, Layout]]:
    """Start a node that has all keys of a task with their first values; torch has one thread meanwhile."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    layout = layout or Layout(task.groups, task.sampled)
    try:
        with pyps.Server(value_length=layout.lengths, **layout.options()) as node, node.worker() as first:
            layout.enable_sampling(node, MANAGEMENT.sampling)
            layout.set_first(first, task)
            yield node, layout
    finally:
        torch.set_num_threads(threads)


def recorded(
    node: pyps.Server, task: Task, layout: Layout, worker: int, workers: int, epoch: int = EPOCH
) -> list[Row]:
    """Record a worker some times, and return what it did with the median of what it computed between two calls."""
    seen = []
    for _ in range(TIMES):
        with node.worker() as kv:
            seen.append(rows_of(Recorder(kv), task, layout, worker, workers, epoch))
    for row, *others in zip(*seen, strict=True):
        row.nanoseconds = sorted(one.nanoseconds for one in (row, *others))[TIMES // 2]
    return seen[0]


def rows_of(
    recorder: Any, task: Any, layout: Layout, worker: int, workers: int, epoch: int = EPOCH
) -> list[Row]:
    """Return what a worker does in an epoch: the same as `examples.apps.training.program`."""
    own = task.own_keys(worker, workers)
    if own is not None:
        recorder.tell(own, 0, FOR_EVER, True)
    recorder.barrier()
    for stage in task.stages(worker, workers, epoch):
        for batch, sample in told(recorder, stage, layout, MANAGEMENT):
            step(recorder, task, layout, batch, sample)
        recorder.barrier()
    return list(recorder.rows)


def write(rows: list[Row], path: Path) -> None:
    """Write a worker's steps and their keys, one file of each."""
    none: NDArray[np.int64] = np.empty(0, np.int64)
    keys = [none if row.keys is None else np.asarray(row.keys, np.int64) for row in rows]
    counts = [len(one) for one in keys]
    firsts = np.cumsum([0, *counts[:-1]])
    table = [
        (row.kind, first, count, row.start, row.end, row.nanoseconds)
        for row, first, count in zip(rows, firsts, counts, strict=True)
    ]
    np.array(table, np.int64).tofile(path.with_name(path.name + ".steps"))
    np.concatenate(keys).tofile(path.with_name(path.name + ".keys"))
