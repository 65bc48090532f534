"""Training in step: the same as one process with the gradients of all workers."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import torch

from pyps.nn.dense.meeting import room_for
from pyps.nn.dense.modes import Pushes, Training
from pyps.nn.dense.pieces import LENGTHS, lengths_of

SUMS = "{}.sums"  # the table that adds what the workers push


class Synchronous:
    """One step with the mean of all workers' gradients.

    Gradients are added in a second table. When all have pushed theirs, each worker pulls its share of the sums, pushes
    their means to the model's table, and sets the sums to zero again. A parameter that no worker used makes no step,
    and one that some did not use has zeros of them.
    """

    def __init__(self, training: Training) -> None:
        flat, timeout = training.flat, training.timeout
        name, dtype = SUMS.format(training.name), str(flat.dtype).removeprefix("torch.")
        training.kv.node.table(
            name, dim=LENGTHS, capacity=room_for(len(flat.all_keys)), dtype=dtype, timeout=timeout
        )
        self._training = training
        self._sums = training.kv.table(name, timeout=timeout)
        self._pushes = Pushes(training, self._sums)
        self._share = slice(training.rank, None, training.workers)
        # Of each key the number of its parameter.
        self._parameters = np.repeat(np.arange(len(flat.keys)), [len(keys) for keys in flat.keys])
        # What the sums refuse would be refused when they are applied, by a worker that does not know whose it was.
        self._refuses = "refuse_nan=1" in training.table.node.optimizer_text().split(",")
        self._used: set[int] = set()
        self._reached = 0
        self._steps = training.steps()
        self._uses = self._steps.uses(len(flat.keys))
        self._steps.begin(self._clear)

    def push(self, number: int, gradient: torch.Tensor) -> None:
        """Add the gradient of a parameter, by its number, to those of the other workers."""
        with self._all_fail():
            if self._refuses and not gradient.isfinite().all():
                name = self._training.flat.names[number]
                raise ValueError(f"the gradient of parameter {name!r} has an element that is NaN or infinite")
            self._pushes.push(number, gradient)
            self._used.add(number)

    def end_step(self) -> None:
        """Wait until all have pushed; apply a share of the means, and wait until all have."""
        with self._all_fail():
            self._pushes.wait()
            self._steps.use(np.array(sorted(self._used)))
            self._used.clear()
            self._go_on()
            self._apply()
            self._go_on()

    def wait(self) -> None:
        """Do nothing: the values are there when a backward has ended."""

    settle = wait

    def close(self, *, failed: bool) -> None:
        """Make no more steps: others that do fail."""
        if failed:
            self._steps.fail()
        self._steps.close()

    def _go_on(self) -> None:
        self._reached += 1
        self._steps.tell(self._reached)
        self._steps.wait(self._reached, all_stay=True)

    def _apply(self) -> None:
        training, before = self._training, self._uses
        self._uses = self._steps.uses(len(before))
        used = (self._uses > before)[self._parameters[self._share]]
        keys = training.flat.all_keys[self._share][used]
        if not len(keys):
            return
        sums = torch.empty(
            int(lengths_of(keys).sum()), dtype=training.flat.dtype
        )  # on the CPU, where the server adds
        self._sums.pull(keys, sums, timeout=training.timeout)
        training.table.push(keys, sums.div_(training.workers), timeout=training.timeout)
        self._sums.set(keys, sums.zero_(), timeout=training.timeout)

    def _clear(self) -> None:
        """Forget what workers of an earlier session had added when they were killed."""
        flat = self._training.flat
        self._sums.set(flat.all_keys, torch.zeros_like(flat.vector), timeout=self._training.timeout)

    @contextmanager
    def _all_fail(self) -> Iterator[None]:
        """Let no other worker wait for this one after an error."""
        try:
            yield
        except BaseException:
            self._steps.fail()
            raise
