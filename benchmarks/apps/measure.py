"""Which trainings there are, and what was seen in each."""

from __future__ import annotations

import json
import statistics
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from benchmarks.apps.tasks import APPS
from benchmarks.harness import machine
from examples.apps.management import MANAGEMENTS
from examples.apps.training import Epoch, train


@dataclass(frozen=True)
class Training:
    """One training.

    Attributes
    ----------
    app, management : str
    nodes : int
        Processes, each with one worker.
    metric : str
        What the epochs' quality is.
    epochs : list of Epoch
        In the first, parameters find their place; the figures are of the others.
    """

    app: str
    management: str
    nodes: int
    metric: str
    epochs: Sequence[Epoch]

    @property
    def seconds(self) -> float:
        """The median time of an epoch."""
        return statistics.median(epoch.seconds for epoch in self.epochs[1:])

    @property
    def core_seconds(self) -> float:
        """The median of what an epoch computes, in all processes."""
        return statistics.median(epoch.core_seconds for epoch in self.epochs[1:])

    @property
    def share_local(self) -> float:
        """The part of the accesses that did not leave the node."""
        return statistics.mean(epoch.share_local for epoch in self.epochs[1:])

    @property
    def quality(self) -> float:
        """What the parameters are worth at the end."""
        return self.epochs[-1].quality


Plan = Sequence[tuple[str, int, str]]


def plan(quick: bool) -> Plan:
    """Return app, nodes and management of each training; `quick` leaves out those that show the least."""
    every = [(app, nodes, how) for app in APPS for nodes in (1, 2, 4) for how in MANAGEMENTS]
    return [run for run in every if run[1] == 2 or run[1:] == (1, "classic")] if quick else every


def train_all(
    runs: Plan,
    quick: bool,
    by: Callable[..., Sequence[Epoch]] = train,
    longer: Mapping[str, int] | None = None,
) -> list[Training]:
    """Train one after another, by a function with the arguments of `train`; tell on the standard error how it goes.

    `longer` names apps that are trained so many times as many epochs, but by `quick`.
    """
    trained = []
    tasks = {app: APPS[app].small() if quick else APPS[app].large() for app in {run[0] for run in runs}}
    for number, (app, nodes, management) in enumerate(runs, 1):
        count = 2 if quick else APPS[app].large_epochs * (longer or {}).get(app, 1)
        epochs = by(tasks[app], management=management, nodes=nodes, epochs=count)
        done = Training(app, management, nodes, tasks[app].metric, epochs)
        trained.append(done)
        print(
            f"{number} of {len(runs)}: {APPS[app].title}, {nodes} nodes, {management}: {done.seconds:.2f} s an epoch",
            file=sys.stderr,
            flush=True,
        )
    return trained


def write(trained: Sequence[Training], path: Path) -> None:
    """Write every epoch of every training, and the machine."""
    content = {"machine": machine(), "trainings": [asdict(training) for training in trained]}
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content, indent=2) + "\n")
