"""Where very many parameters are: rows that the server makes when they are first used, each with one sum.

A key's value is a row of parameters and one number, the sum of the means of its squared gradients, with which AdaGrad
sets the step of the whole row. So it takes half of what a sum for each parameter would.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import torch

import pyps
from examples.apps.layout import EPSILON, Layout
from examples.apps.management import Keys
from examples.apps.task import Task

FIRST = 1e-3  # values begin between this and its negative; what a row is worth is that times its scale
MADE = ("used", "all")


@dataclass(frozen=True)
class Table:
    """Rows of one kind.

    Attributes
    ----------
    count, width : int
        Rows that there may be, and parameters in each.
    spread : float
        Parameters begin between this and its negative.
    speed : float
        How much longer steps are than the task's rate says.
    """

    count: int
    width: int
    spread: float
    speed: float = 1.0


class LargeTask(Task, Protocol):
    """A task whose parameters are rows of tables; `Task.groups` names a table more than once if its rows do two things.

    The server makes the first values, so `Task.initial` is not asked for them.
    """

    samples: int

    @property
    def tables(self) -> Sequence[Table]:
        """The kinds of rows."""

    @property
    def table_of(self) -> Sequence[int]:
        """The table of each group."""

    def judged(self) -> list[Keys]:
        """Return ids of each group: a sample, of which `quality` gets the parameters."""

    def best(self) -> float:
        """Return the quality that nobody could surpass by more than chance."""


def groups_of(tables: Sequence[Table], table_of: Sequence[int]) -> tuple[tuple[int, int], ...]:
    """Return the groups as `Task` wants them."""
    return tuple((tables[number].count, tables[number].width) for number in table_of)


class Rows(Layout):
    """The layout of a large task.

    Parameters
    ----------
    task : LargeTask
    made : str
        "used": a row is made on its first use. "all": all are made when the nodes start.
    seed : int
        Of what the server begins rows with.
    """

    def __init__(self, task: LargeTask, made: str = "used", seed: int = 1) -> None:
        if made not in MADE:
            raise ValueError(f"made is {made!r}; it must be one of {', '.join(MADE)}")
        self.task, self.made, self.seed = task, made, seed
        self.groups, self.sampled = task.groups, None
        self.lengths = np.array([table.width + 1 for table in task.tables])
        counts = [table.count for table in task.tables]
        self.first_keys = [sum(counts[:table]) for table in task.table_of]
        if made == "all":
            alike = len(set(self.lengths)) == 1
            self.lengths = self.lengths[:1] if alike else np.repeat(self.lengths, counts)

    def options(self) -> dict[str, Any]:
        """Return how many keys there are and what they begin with."""
        count = sum(table.count for table in self.task.tables)
        first = pyps.initializers.Uniform(-FIRST, FIRST, seed=self.seed)
        return {"num_keys" if self.made == "all" else "capacity": count, "initializer": first}

    def keys(self, ids: Sequence[Keys]) -> Keys:
        """Return the keys of ids of each group."""
        if self.made == "all" or len(self.task.tables) == 1:
            return super().keys(ids)
        classed = zip(self.task.table_of, ids, strict=True)
        return np.concatenate([pyps.classed_keys(table, part) for table, part in classed])

    def empty(self, ids: Sequence[Keys], sampled: bool = False) -> tuple[torch.Tensor, list[torch.Tensor]]:
        """Return a buffer for values, and a view for each group, shape (n, width + 1)."""
        shapes = [(len(part), width + 1) for part, (_, width) in zip(ids, self.groups, strict=True)]
        ends = np.cumsum([math.prod(shape) for shape in shapes]).tolist()
        buffer = torch.empty(ends[-1])
        places = zip([0, *ends[:-1]], ends, shapes, strict=True)
        return buffer, [buffer[first:end].view(shape) for first, end, shape in places]

    def parameter(self, group: int, value: torch.Tensor) -> torch.Tensor:
        """Return the parameters that are in values of a group."""
        return value[:, :-1] * self._scale(group)

    def change(
        self, group: int, value: torch.Tensor, gradient: torch.Tensor, rate: float, out: torch.Tensor
    ) -> None:
        """Compute what AdaGrad adds to values of a group; a sum begins with the little that its row began with."""
        torch.mean(gradient.square(), dim=1, out=out[:, -1])
        sums = value[:, -1].clamp(min=0.0) + out[:, -1] + (self.task.first_sum + EPSILON)
        step = rate * self._table(group).speed / self._scale(group)
        torch.mul(gradient, (-step * sums.rsqrt())[:, None], out=out[:, :-1])

    def set_first(self, kv: pyps.Worker, task: Task) -> None:
        """Leave that to the server."""

    def judged(self) -> list[Keys]:
        """Return what the task judges by."""
        return self.task.judged()

    def _table(self, group: int) -> Table:
        return self.task.tables[self.task.table_of[group]]

    def _scale(self, group: int) -> float:
        return self._table(group).spread / FIRST


def part_of(samples: int, batch_size: int, workers: int) -> Iterable[int]:
    """Return the sizes of a worker's batches, so that all workers have as many samples of an epoch."""
    mine = samples // workers
    return [min(batch_size, mine - start) for start in range(0, mine, batch_size)]
