"""Optimizers of servers beside those of torch: a table of both, and a torch optimizer whose rows are parameters."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch

import pyps

Make = Callable[[Any], torch.optim.Optimizer]

# A server's optimizer, and torch's with the same arguments.
CASES: dict[str, tuple[Callable[[], pyps.optim.Optimizer], Make]] = {}


def _case(name: str, **options: Any) -> None:
    label = ", ".join([name, *(f"{key}={value}" for key, value in options.items())])
    ours, torchs = getattr(pyps.optim, name), getattr(torch.optim, name)
    CASES[label] = (lambda: ours(**options), lambda rows: torchs(rows, **options))


_case("SGD", lr=0.1)
_case("SGD", lr=0.1, weight_decay=0.1, maximize=True)
_case("SGD", lr=0.1, momentum=0.9)
_case("SGD", lr=0.1, momentum=0.9, dampening=0.5, weight_decay=0.01)
_case("SGD", lr=0.1, momentum=0.9, nesterov=True)
_case("Adagrad", lr=0.1)
_case("Adagrad", lr=0.1, lr_decay=0.1, weight_decay=0.1, initial_accumulator_value=0.5, eps=1e-3)
_case("Adam", lr=0.01)
_case("Adam", lr=0.01, betas=(0.5, 0.9), eps=1e-3, weight_decay=0.1)
_case("Adam", lr=0.01, amsgrad=True, maximize=True)
_case("AdamW", lr=0.01)
_case("AdamW", lr=0.01, weight_decay=0.2, amsgrad=True)
_case("RMSprop", lr=0.01)
_case("RMSprop", lr=0.01, alpha=0.9, eps=1e-3, weight_decay=0.1)
_case("RMSprop", lr=0.01, momentum=0.9, centered=True)
_case("RMSprop", lr=0.01, centered=True)


class Rows:
    """Rows that torch optimizes each as a parameter of its own, so that a row without a gradient has no step."""

    def __init__(self, values: np.ndarray[Any, Any], make: Make) -> None:
        self.rows = [torch.nn.Parameter(torch.tensor(row)) for row in values]
        self.optimizer = make(self.rows)

    def push(self, keys: Sequence[int], gradients: np.ndarray[Any, Any]) -> None:
        self.optimizer.zero_grad()
        for key, gradient in zip(keys, torch.tensor(gradients), strict=True):
            row = self.rows[key]
            row.grad = gradient.clone() if row.grad is None else row.grad + gradient
        self.optimizer.step()

    def values(self) -> np.ndarray[Any, Any]:
        return torch.stack([row.detach() for row in self.rows]).numpy()
