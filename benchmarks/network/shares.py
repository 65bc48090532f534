"""Shares of this machine's processors, one for each node: what a node may compute, others leave idle or not.

A control group of the system holds each node to its share. With `slowness` times as many processors promised as there
are, all take `slowness` times as long, and so does the network between them (`hosts.Link`): seconds divided by it are
those of hosts with so many processors each. What the network takes of the machine is not promised to anybody.
"""

from __future__ import annotations

import errno
import itertools
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from benchmarks.network.programs import running

ROOT = Path("/sys/fs/cgroup")
PERIOD = 2000  # microseconds, of which a group computes its part
LEAST = 1000  # microseconds in a period: what the system grants at least
SLICE = 200  # microseconds that a processor takes of a group's share at a time: else the first takes all
BEAT = 500  # microseconds after which the system looks at what groups have computed
SPARE = 0.25  # the part of the machine that is left to the network and the metronome
WEIGHT = 100  # times as much as other programs, where they want the same processor
METRONOME = Path(__file__).with_name("metronome.cpp")
SLICES = Path("/proc/sys/kernel/sched_cfs_bandwidth_slice_us")
PATIENCE = 10.0  # seconds that a group's processes get to be gone
_numbers = itertools.count()


def slowness_of(nodes: int, processors: int) -> float:
    """Return by what factor nodes with so many processors each are slowed down on those of this process; at least 1.

    A node alone has no network, and may have all of them.
    """
    machine = float(len(os.sched_getaffinity(0)))
    return max(1.0, nodes * processors / (machine if nodes == 1 else (1 - SPARE) * machine))


def quota_and_period(processors: float) -> tuple[int, int]:
    """Return how many microseconds a group may compute in a period, and how many that has."""
    period = max(PERIOD, round(LEAST / processors))
    return round(period * processors), period


@contextmanager
def shares(count: int, processors: float) -> Iterator[list[Path]]:
    """Make groups whose processes compute with at most so many processors together, a fraction too.

    Returns
    -------
    list of Path
        For `join`, in a process that is to be in the group.

    Raises
    ------
    OSError
        This system has no control groups of processors that this process may change.
    """
    old = ROOT / "cpu"
    base = old if old.is_dir() else ROOT
    remove_left(base)
    groups = [base / f"moontide-{os.getpid()}-{next(_numbers)}" for _ in range(count)]
    quota, period = quota_and_period(processors)
    try:
        for group in groups:
            group.mkdir()
            if old.is_dir():
                (group / "cpu.cfs_period_us").write_text(f"{period}")
                (group / "cpu.cfs_quota_us").write_text(f"{quota}")
                (group / "cpu.shares").write_text(f"{1024 * WEIGHT}")
            else:
                (group / "cpu.max").write_text(f"{quota} {period}")
                (group / "cpu.weight").write_text(f"{100 * WEIGHT}")
        with fine_slices(), running(METRONOME, f"{1000 * BEAT}"):
            yield groups
    finally:
        for group in filter(Path.is_dir, groups):
            end = time.monotonic() + PATIENCE
            while (group / "cgroup.procs").read_text() and time.monotonic() < end:
                time.sleep(0.01)
            group.rmdir()


def remove_left(base: Path) -> None:
    """Remove groups of processes that were killed; several processes may do so at once."""
    for left in base.glob("moontide-*-*"):
        if not Path("/proc", left.name.split("-")[1]).exists():
            try:
                left.rmdir()
            except OSError as error:
                # Another process has removed it, or its processes have not ended yet and the next run removes it.
                if error.errno not in (errno.ENOENT, errno.EBUSY):
                    raise


@contextmanager
def fine_slices() -> Iterator[None]:
    """Let processors take small slices of groups' shares; only who has set it so sets it back."""
    before = SLICES.read_text() if SLICES.exists() else f"{SLICE}"
    if int(before) <= SLICE:
        yield
        return
    SLICES.write_text(f"{SLICE}")
    try:
        yield
    finally:
        SLICES.write_text(before)


def join(group: Path) -> None:
    """Let this process, and those that it starts from now on, be in a group."""
    (group / "cgroup.procs").write_text("0")


def join_alone(group: Path) -> None:
    """Let this thread be in a group, whatever the rest of its process is in; where groups are of version 1."""
    (group / "tasks").write_text("0")


def may_part_threads() -> bool:
    """Whether threads of one process may be in several groups."""
    return (ROOT / "cpu").is_dir()
