"""Where a task's parameters are among the keys.

A key's value is a parameter and, of the same length, the sum of its squared gradients, with which AdaGrad
(Duchi, Hazan, Singer 2011) sets the step size: both travel in one message, and workers add to both.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch

import pyps
from examples.apps.management import Keys
from examples.apps.task import Sampled, Task

EPSILON = 1e-8


@dataclass
class Layout:
    """Where a task's parameters are among the keys, and what lies in their values: `rows.Rows` is another one."""

    groups: Sequence[tuple[int, int]]
    sampled: Sampled | None = None
    lengths: Keys = field(init=False)
    first_keys: list[int] = field(init=False)

    def __post_init__(self) -> None:
        counts = [count for count, _ in self.groups]
        self.lengths = np.repeat([2 * width for _, width in self.groups], counts)
        self.first_keys = [sum(counts[:group]) for group in range(len(counts))]

    def options(self) -> dict[str, Any]:
        """Return what `pyps.init` is told of the keys besides their lengths."""
        return {"num_keys": len(self.lengths)}

    def keys(self, ids: Sequence[Keys]) -> Keys:
        """Return the keys of parameters that are given by their numbers in each group."""
        return np.concatenate([part + first for part, first in zip(ids, self.first_keys, strict=True)])

    def all(self) -> list[Keys]:
        """Return the numbers of all parameters."""
        return [np.arange(count) for count, _ in self.groups]

    def empty(self, ids: Sequence[Keys], sampled: bool = False) -> tuple[torch.Tensor, list[torch.Tensor]]:
        """Return a buffer for values, and a view for each group, and for the sample, shape (n, 2, width)."""
        shapes = [(len(part), 2, width) for part, (_, width) in zip(ids, self.groups, strict=True)]
        if sampled and self.sampled:
            shapes.append((self.sampled.count, 2, self.groups[self.sampled.group][1]))
        ends = np.cumsum([math.prod(shape) for shape in shapes]).tolist()
        buffer = torch.empty(ends[-1])
        places = zip([0, *ends[:-1]], ends, shapes, strict=True)
        return buffer, [buffer[first:end].view(shape) for first, end, shape in places]

    def parameter(self, group: int, value: torch.Tensor) -> torch.Tensor:
        """Return the parameters that are in values of a group."""
        return value[:, 0].contiguous()

    def change(
        self, group: int, value: torch.Tensor, gradient: torch.Tensor, rate: float, out: torch.Tensor
    ) -> None:
        """Compute what AdaGrad adds to values of a group."""
        torch.mul(gradient, gradient, out=out[:, 1])
        sums = (value[:, 1] + out[:, 1]).add_(EPSILON).rsqrt_()
        torch.mul(gradient, sums, out=out[:, 0]).mul_(-rate)

    def set_first(self, kv: pyps.Worker, task: Task) -> None:
        """Set what the parameters and sums begin with."""
        buffer, values = self.empty(self.all())
        for value, first in zip(values, task.initial(), strict=True):
            value[:, 0], value[:, 1] = first, task.first_sum
        kv.set(self.keys(self.all()), buffer)

    def judged(self) -> list[Keys]:
        """Return the numbers of the parameters from which the task's quality follows."""
        return self.all()

    def enable_sampling(self, node: pyps.Server, scheme: str) -> None:
        """Tell a node what its workers will draw."""
        if self.sampled:
            first = self.first_keys[self.sampled.group]
            end = first + self.groups[self.sampled.group][0]
            weights = self.sampled.weights
            distribution = "uniform" if weights is None else "weighted"
            node.enable_sampling_support(
                scheme, True, distribution, first, end, weights=weights, seed=self.sampled.seed
            )
