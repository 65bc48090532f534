"""What becomes of gradients, and when new values may be pulled, in the modes that apply each gradient by itself."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import torch

from pyps.nn.dense.flat import FlatParameters
from pyps.nn.dense.steps import Steps
from pyps.node import Worker
from pyps.timestamps import Timestamp


@dataclass(frozen=True, kw_only=True)
class Training:
    """What all modes are made of.

    Attributes
    ----------
    kv, table : Worker
        Of the server, and of the model's table.
    """

    kv: Worker
    table: Worker
    name: str
    flat: FlatParameters
    rank: int
    workers: int
    staleness: int
    timeout: float

    def steps(self) -> Steps:
        """Return the view that this rank has of all."""
        return Steps(self.kv, self.name, self.rank, self.workers, self.timeout)


class Mode(Protocol):
    """What `Distributed` asks of a mode."""

    def push(self, number: int, gradient: torch.Tensor) -> None:
        """Take the gradient of a parameter, by its number."""

    def end_step(self) -> None:
        """Do what the end of a backward asks for."""

    def wait(self) -> None:
        """Return when the next step's values may be pulled."""

    def settle(self) -> None:
        """Wait until all gradients of this worker have been applied."""

    def close(self, *, failed: bool) -> None:
        """Make no more steps."""


class Pushes:
    """Gradients on their way to a table."""

    def __init__(self, training: Training, table: Worker) -> None:
        self._table, self._training = table, training
        self._on_their_way: list[Timestamp] = []

    def push(self, number: int, gradient: torch.Tensor) -> None:
        """Begin to push the gradient of a parameter; an error that is known at once names it."""
        flat, timeout = self._training.flat, self._training.timeout
        try:
            done = self._table.push(flat.keys[number], gradient, True, timeout=timeout)
        except ValueError as error:
            raise ValueError(f"the gradient of parameter {flat.names[number]!r}: {error}") from error
        if done >= 0:
            self._on_their_way.append(done)

    def wait(self) -> None:
        """Wait until all of them have been applied."""
        done, self._on_their_way = self._on_their_way, []
        if done:
            self._table.wait(*done, timeout=self._training.timeout)


class Asynchronous:
    """Each gradient is a step of its own; nobody waits for anybody."""

    def __init__(self, training: Training) -> None:
        self._pushes = Pushes(training, training.table)
        self.push = self._pushes.push

    def end_step(self) -> None:
        """Do nothing: pushes may be on their way until the next pull."""

    def wait(self) -> None:
        """Wait for this worker's own pushes, which tell their errors then."""
        self._pushes.wait()

    settle = wait

    def close(self, *, failed: bool) -> None:
        """Do nothing: nobody waits for this worker."""


class Bounded:
    """The same, but a worker that is more than `staleness` steps ahead of the slowest one waits for it."""

    def __init__(self, training: Training) -> None:
        self._pushes = Pushes(training, training.table)
        self.push = self._pushes.push
        self._staleness = training.staleness
        self._steps = training.steps()
        self._steps.begin()
        self._reached = 0

    def end_step(self) -> None:
        """Say so, when the gradients have been applied."""
        self._pushes.wait()
        self._reached += 1
        self._steps.tell(self._reached)

    def wait(self) -> None:
        """Wait for those that are too far behind."""
        self._pushes.wait()
        self._steps.wait(self._reached - self._staleness, all_stay=False)

    def settle(self) -> None:
        """Wait for this worker's own pushes."""
        self._pushes.wait()

    def close(self, *, failed: bool) -> None:
        """Let nobody wait for this worker any more; if it has failed, all have."""
        if failed:
            self._steps.fail()
        self._steps.close()
