"""Trainings of the applications on hosts of their own: what they take there, and what they compute."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from benchmarks.apps.measure import Training
from benchmarks.apps.tasks import APPS
from benchmarks.network.hosts import Host, Link, Passed, network
from benchmarks.network.shares import join, shares, slowness_of
from examples.apps.training import train

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
    app: str, management: str, nodes: int, link: Link, quick: bool = False
) -> tuple[Training, Passed]:
    """Train an application on so many hosts, each with one worker.

    Returns
    -------
    Training
        With seconds as the hosts would take, each with `PROCESSORS` of its own.
    Passed
        What the relay did.
    """
    task = APPS[app].small() if quick else APPS[app].large()
    epochs = APPS[app].epochs if quick else APPS[app].large_epochs
    slowness = slowness_of(nodes, PROCESSORS)
    slow = replace(link, slowness=slowness)
    with shares(nodes, PROCESSORS / slowness) as groups, network(nodes, slow) as made:
        begin = Begin(made.hosts, groups)
        seen = train(task, management=management, nodes=nodes, epochs=epochs, timeout=TIMEOUT, begin=begin)
    for epoch in seen:
        epoch.seconds /= slowness
    return Training(app, management, nodes, task.metric, seen), made.passed
