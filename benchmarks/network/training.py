"""Trainings of the applications on hosts of their own: what they take there, and what they compute."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from benchmarks.network.hosts import Host, Link, Passed, network
from benchmarks.network.shares import join, join_alone, may_part_threads, shares, slowness_of
from examples.apps.layout import Layout
from examples.apps.task import Task
from examples.apps.training import Epoch, train

PROCESSORS = 2  # of each host: a worker's and a server's
TIMEOUT = 1800.0


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
        As for `train`.
    link : Link
        Of each host.
    parted : bool
        Whether the worker can use one of a host's processors only, and all other threads the other one. Otherwise a
        worker that computes while they have nothing to do is faster than on a real host, up to twice as fast. Where
        groups are of version 2, it has no effect.

    Returns
    -------
    list of Epoch
        With seconds as the hosts would take, each with `PROCESSORS` of its own.
    Passed
        What the relay did.
    """
    slowness = slowness_of(nodes, PROCESSORS)
    slow = replace(link, slowness=slowness)
    parts = PROCESSORS if parted and may_part_threads() else 1
    with shares(parts * nodes, PROCESSORS / parts / slowness) as groups, network(nodes, slow) as made:
        begin = Begin(made.hosts, groups[:nodes])
        seen = train(
            task,
            management=management,
            nodes=nodes,
            epochs=epochs,
            timeout=TIMEOUT,
            begin=begin,
            layout=layout,
            begin_worker=BeginWorker(groups[nodes:]) if parts > 1 else None,
        )
    for epoch in seen:
        epoch.seconds /= slowness
    return seen, made.passed
