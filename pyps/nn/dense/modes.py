"""What becomes of gradients, and when new values may be pulled, in the modes that apply each gradient by itself."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
import torch
from numpy.typing import NDArray

from pyps.nn.dense.flat import FlatParameters
from pyps.nn.dense.steps import Steps
from pyps.node import Worker
from pyps.timestamps import Timestamp

PUSH_BYTES = 1 << 17  # from which on gradients are pushed while the backward goes on


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
    """Gradients on their way to a table; small ones that are ready one after another go together."""

    def __init__(self, training: Training, table: Worker) -> None:
        self._table, self._training = table, training
        self._on_their_way: list[Timestamp] = []
        self._ready: list[tuple[int, torch.Tensor]] = []
        self._bytes = 0  # of these

    def push(self, number: int, gradient: torch.Tensor) -> None:
        """Begin to push the gradient of a parameter, or keep it until there are more."""
        self._ready.append((number, gradient))
        self._bytes += gradient.nbytes
        if self._bytes >= PUSH_BYTES:
            self.send()

    def send(self) -> None:
        """Begin to push all that is ready; an error that is known at once names the parameter."""
        ready, self._ready, self._bytes = self._ready, [], 0
        flat = self._training.flat
        if not ready:
            return
        try:
            self._begin(
                np.concatenate([flat.keys[number] for number, _ in ready]),
                torch.cat([gradient.reshape(-1) for _, gradient in ready]) if len(ready) > 1 else ready[0][1],
            )
        except ValueError:  # nothing was pushed
            for number, gradient in ready:
                try:
                    self._begin(flat.keys[number], gradient)
                except ValueError as error:
                    raise ValueError(f"the gradient of parameter {flat.names[number]!r}: {error}") from error

    def _begin(self, keys: NDArray[np.int64], gradients: torch.Tensor) -> None:
        done = self._table.push(keys, gradients, True, timeout=self._training.timeout)
        if done >= 0:
            self._on_their_way.append(done)

    def wait(self) -> None:
        """Wait until all of them have been applied."""
        self.send()
        done, self._on_their_way = self._on_their_way, []
        if done:
            self._table.wait(*done, timeout=self._training.timeout)


class Asynchronous:
    """Each gradient is a step of its own; nobody waits for anybody."""

    def __init__(self, training: Training) -> None:
        self._pushes = Pushes(training, training.table)
        self.push = self._pushes.push

    def end_step(self) -> None:
        """Let no gradient wait for more; pushes may be on their way until the next pull."""
        self._pushes.send()

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
