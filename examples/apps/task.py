"""What the programs learn: batches, each with the parameters that it uses, and a loss."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import torch

from examples.apps.management import Keys


@dataclass(frozen=True)
class Batch:
    """What one step uses.

    Attributes
    ----------
    ids : sequence of int64 array
        For each group of parameters those that the step reads and changes, sorted, none twice.
    data : tuple
        What the task's loss needs besides; it refers to positions in `ids`.
    samples : int
        How many examples it has: entries, triples, pairs of words.
    """

    ids: Sequence[Keys]
    data: tuple[Any, ...]
    samples: int = 0


@dataclass(frozen=True)
class Stage:
    """Batches between two barriers.

    Attributes
    ----------
    batches : iterable of Batch
    block : int64 array, optional
        The keys that this worker alone uses in the stage, so that it need not tell of them in each batch.
    """

    batches: Iterable[Batch]
    block: Keys | None = None


@dataclass(frozen=True)
class Sampled:
    """Parameters of one group that each step also uses, drawn by the server.

    Attributes
    ----------
    group, count : int
    weights : array, optional
        How often each is drawn in comparison to others; by default all alike.
    seed : int
        Of the draws.
    """

    group: int
    count: int
    weights: Any = None
    seed: int = 1


class Task(Protocol):
    """What is to be learned.

    Attributes
    ----------
    groups : sequence of (count, width)
        Parameters of one kind have one width; keys count through all groups.
    rate : float
        The length of AdaGrad's longest step.
    first_sum : float
        What the sums of squared gradients begin with. With 0 the first step has the longest length whatever the
        gradient, and workers that begin together go as many times too far.
    metric : str
        What `quality` returns.
    """

    rate: float
    first_sum: float
    metric: str

    @property
    def groups(self) -> Sequence[tuple[int, int]]:
        """See above."""

    @property
    def sampled(self) -> Sampled | None:
        """What each step uses besides its batch's own parameters."""

    def initial(self) -> list[torch.Tensor]:
        """Return the first values of each group's parameters, shape (count, width)."""

    def own_keys(self, worker: int, workers: int) -> Keys | None:
        """Return keys that only this worker uses, in all epochs."""

    def stages(self, worker: int, workers: int, epoch: int) -> Iterable[Stage]:
        """Return a worker's part of an epoch; every worker has as many stages."""

    def loss(self, parameters: Sequence[torch.Tensor], batch: Batch) -> torch.Tensor:
        """Return the sum of the losses of a batch; `parameters` has the rows of `batch.ids`, and of the sample."""

    def quality(self, parameters: Sequence[torch.Tensor]) -> float:
        """Return what the parameters are worth on data that nobody trains with."""
