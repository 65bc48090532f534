"""Trainings of the applications on hosts of their own: what they take there, and what they compute."""

from __future__ import annotations

import multiprocessing
import statistics
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from benchmarks.apps.measure import Training
from benchmarks.network.hosts import Host, Link, Passed, network
from benchmarks.network.shares import join, join_alone, may_part_threads, shares, slowness_of
from examples.apps.layout import Layout
from examples.apps.task import Task
from examples.apps.training import Epoch, train

PROCESSORS = 2  # of each host: a worker's and a server's
TIMEOUT = 1800.0
ALONE = "alone"  # instead of a management: each host trains all of it by itself, all at the same time


@dataclass(frozen=True)
class Begin:
    """How a node's process begins: on its host, with its share of the processors."""

    hosts: Sequence[Host]
    groups: Sequence[Path]

    def __call__(self, number: int) -> str:
        join(self.groups[number])
        return self.hosts[number].enter()


@dataclass(frozen=True)
class BeginWorker:
    """How its worker begins that has a processor to itself."""

    groups: Sequence[Path]

    def __call__(self, number: int) -> None:
        join_alone(self.groups[number])


def train_on_hosts(
    task: Task,
    *,
    management: str,
    nodes: int,
    epochs: int,
    link: Link,
    layout: Layout | None = None,
    parted: bool = False,
) -> tuple[list[Epoch], Passed]:
    """Train on so many hosts, each with one worker.

    Parameters
    ----------
    task, management, nodes, epochs, layout
        As for `train`; the management may also be `ALONE`.
    link : Link
        Of each host.
    parted : bool
        Whether the worker can use one of a host's processors only, and all other threads the other one. Otherwise a
        worker that computes while they have nothing to do is faster than on a real host, up to twice as fast. Where
        groups are of version 2, it has no effect.

    Returns
    -------
    list of Epoch
        With seconds as the hosts would take, each with `PROCESSORS` of its own; of hosts that train alone those of
        the first one, with the mean seconds of all.
    Passed
        What the relay did.
    """
    slowness = slowness_of(nodes, PROCESSORS)
    slow = replace(link, slowness=slowness)
    parts = PROCESSORS if parted and may_part_threads() else 1
    clusters = [[node] for node in range(nodes)] if management == ALONE else [list(range(nodes))]
    with shares(parts * nodes, PROCESSORS / parts / slowness) as groups, network(nodes, slow) as made:
        trained = at_once(
            [
                partial(
                    train,
                    task,
                    management="classic" if management == ALONE else management,
                    nodes=len(cluster),
                    epochs=epochs,
                    timeout=TIMEOUT,
                    begin=Begin([made.hosts[node] for node in cluster], [groups[node] for node in cluster]),
                    layout=layout,
                    begin_worker=BeginWorker([groups[nodes + node] for node in cluster])
                    if parts > 1
                    else None,
                )
                for cluster in clusters
            ]
        )
    seen = trained[0]
    for epoch, *others in zip(*trained, strict=True):
        epoch.seconds = statistics.mean(one.seconds for one in (epoch, *others)) / slowness
    return seen, made.passed


def at_once(calls: Sequence[Callable[[], list[Epoch]]]) -> list[list[Epoch]]:
    """Return what calls return that are made at the same time, each in a process of its own if there are several."""
    if len(calls) == 1:
        return [calls[0]()]
    with ProcessPoolExecutor(len(calls), multiprocessing.get_context("spawn")) as pool:
        return [future.result() for future in [pool.submit(call) for call in calls]]


def alone_on(hosts: int, app: str, trained: Sequence[Training]) -> Training:
    """Return the training of so many hosts that each train alone."""
    return next(one for one in trained if (one.nodes, one.app, one.management) == (hosts, app, ALONE))
