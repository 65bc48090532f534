"""Trainings of the applications on hosts of their own: what they take there, and what they compute."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from benchmarks.network.hosts import Host, Link, Passed, network
from benchmarks.network.shares import join, shares, slowness_of
from examples.apps.training import Epoch, Task, train

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


def train_on_hosts(
    task: Task, *, management: str, nodes: int, epochs: int, link: Link
) -> tuple[list[Epoch], Passed]:
    """Train on so many hosts, each with one worker.

    Returns
    -------
    list of Epoch
        With seconds as the hosts would take, each with `PROCESSORS` of its own.
    Passed
        What the relay did.
    """
    slowness = slowness_of(nodes, PROCESSORS)
    slow = replace(link, slowness=slowness)
    with shares(nodes, PROCESSORS / slowness) as groups, network(nodes, slow) as made:
        begin = Begin(made.hosts, groups)
        seen = train(task, management=management, nodes=nodes, epochs=epochs, timeout=TIMEOUT, begin=begin)
    for epoch in seen:
        epoch.seconds /= slowness
    return seen, made.passed
