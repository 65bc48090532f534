"""How likely a click is, from 26 hashed ids and 13 numbers: `python -m examples.apps.click_rate`.

The model is DLRM (Naumov et al. 2019): each id has a vector, the numbers go through a small network that gives one
more, and another network sees the products of all pairs of them. The ids of all features are hashed into one space of
keys, of which those exist that were used. The networks' rows are at the server as well, a key for each neuron, and each
batch of each worker uses all of them.

Clicks are drawn from a hidden model, which nobody could predict better than it does itself.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch.nn.functional import binary_cross_entropy_with_logits, linear

from examples.apps import command
from examples.apps.hidden import mixed, normal, zipf
from examples.apps.management import Keys
from examples.apps.rows import Table, groups_of, part_of
from examples.apps.task import Batch, Stage

Floats = NDArray[np.float32]

NUMBERS = 13
FEATURES = 26
RATE_OF_IDS = 26.0 ** np.arange(0.2, 5.4, 0.2)  # how many ids the features have: from 2 to 20 million
HIDDEN = 4  # width of the hidden model's vectors


@dataclass(frozen=True)
class Impressions:
    """What was shown, n times: numbers, shape (n, 13), keys of the ids, shape (n, 26), and whether it was clicked."""

    numbers: Floats
    ids: Keys
    clicked: Floats
    likely: Floats  # the hidden model's logits


@dataclass
class ClickRate:
    """The task: see `LargeTask`. Quality is the area under the ROC curve of samples that were held out.

    Parameters
    ----------
    keys : int
        Into how many the ids are hashed.
    width : int
        Of an id's vector.
    bottom, top : sequence of int
        Widths of the networks' hidden layers.
    samples : int
        Of an epoch; each epoch has others.
    batch_size, judged_samples : int
    """

    keys: int = 100_000_000
    width: int = 128
    bottom: Sequence[int] = (64,)
    top: Sequence[int] = (128, 64)
    samples: int = 32_768
    batch_size: int = 512
    judged_samples: int = 4096
    exponent: float = 1.1
    rate: float = 0.02
    first_sum: float = 0.01
    seed: int = 1
    metric: str = "AUC"
    sampled: None = None

    def __post_init__(self) -> None:
        pairs = (FEATURES + 1) * FEATURES // 2
        self.layers = [
            *itertools.pairwise((NUMBERS, *self.bottom, self.width)),
            *itertools.pairwise((self.width + pairs, *self.top, 1)),
        ]
        ids = Table(self.keys, self.width, self.width**-0.5)
        self.tables = (ids, *(Table(rows, width + 1, width**-0.5, 0.2) for width, rows in self.layers))
        self.table_of = range(len(self.tables))
        self.groups = groups_of(self.tables, self.table_of)
        self.held_out = self.impressions(self.judged_samples, np.random.default_rng((self.seed, 0)))

    def impressions(self, count: int, random: np.random.Generator) -> Impressions:
        """Draw from the hidden model."""
        numbers = random.standard_normal((count, NUMBERS), dtype=np.float32)
        drawn = [zipf(random, count, int(size), self.exponent) for size in RATE_OF_IDS]
        ids = np.stack([of_feature + (feature << 32) for feature, of_feature in enumerate(drawn)], 1)
        vectors = normal(ids.ravel(), HIDDEN + 1, self.seed).reshape(count, FEATURES, HIDDEN + 1)
        weight = normal(np.arange(NUMBERS), 1, self.seed + 1)[:, 0]
        each = numbers @ weight / NUMBERS**0.5 + vectors[..., -1].sum(1) / FEATURES**0.5
        pairs = vectors[..., :HIDDEN].sum(1) ** 2 - (vectors[..., :HIDDEN] ** 2).sum(1)
        likely = -1.0 + 1.5 * each + 0.5 * pairs.sum(1) / (2 * HIDDEN) ** 0.5 / FEATURES
        clicked = random.random(count) < 1 / (1 + np.exp(-likely))
        hashed = (mixed(ids, self.seed) % np.uint64(self.keys)).astype(np.int64)
        return Impressions(numbers, hashed, clicked.astype(np.float32), likely.astype(np.float32))

    def initial(self) -> list[torch.Tensor]:
        """Return none: the server makes the first rows."""
        return []

    def own_keys(self, worker: int, workers: int) -> None:
        """Return none: any worker may meet any id, and all use the networks."""

    def stages(self, worker: int, workers: int, epoch: int) -> Iterator[Stage]:
        """Return one stage."""
        random = np.random.default_rng((self.seed, 1 + epoch, worker))
        sizes = part_of(self.samples, self.batch_size, workers)
        yield Stage(self.batch(self.impressions(size, random)) for size in sizes)

    def batch(self, shown: Impressions) -> Batch:
        """Return a batch; the networks' rows come after the ids'."""
        ids, at = np.unique(shown.ids, return_inverse=True)
        neurons = [np.arange(rows) for _, rows in self.layers]
        data = (shown.numbers, at.reshape(shown.ids.shape), shown.clicked)
        return Batch((ids, *neurons), tuple(map(torch.from_numpy, data)), len(shown.clicked))

    def logits(
        self, parameters: Sequence[torch.Tensor], numbers: torch.Tensor, at: torch.Tensor
    ) -> torch.Tensor:
        """Return how likely the model thinks each click is, shape (n,)."""
        vectors, layers = parameters[0], parameters[1:]
        bottom, top = layers[: len(self.bottom) + 1], layers[len(self.bottom) + 1 :]
        dense = through(bottom, numbers).relu()
        ids = vectors.index_select(0, at.reshape(-1)).view(*at.shape, self.width)
        every = torch.cat([dense[:, None], ids], 1)
        products = every @ every.transpose(1, 2)
        first, second = torch.tril_indices(FEATURES + 1, FEATURES + 1, -1)
        return through(top, torch.cat([dense, products[:, first, second]], 1))[:, 0]

    def loss(self, parameters: Sequence[torch.Tensor], batch: Batch) -> torch.Tensor:
        """Return the sum of the log losses."""
        numbers, at, clicked = batch.data
        logits = self.logits(parameters, numbers, at)
        return binary_cross_entropy_with_logits(logits, clicked, reduction="sum")

    def judged(self) -> list[Keys]:
        """Return the ids of the samples that are held out, and the networks' rows."""
        return list(self.batch(self.held_out).ids)

    def quality(self, parameters: Sequence[torch.Tensor]) -> float:
        """Judge the samples that are held out."""
        numbers, at, clicked = self.batch(self.held_out).data
        return area(self.logits(parameters, numbers, at).numpy(), clicked.numpy())

    def best(self) -> float:
        """Return the quality of the hidden model."""
        return area(self.held_out.likely, self.held_out.clicked)


def through(layers: Sequence[torch.Tensor], values: torch.Tensor) -> torch.Tensor:
    """Return what a network makes of values; a row of a layer is a neuron's weights and its bias."""
    for number, layer in enumerate(layers):
        values = linear(values.relu() if number else values, layer[:, :-1], layer[:, -1])
    return values


def area(scores: Floats, clicked: Floats) -> float:
    """Return how often a clicked one has a higher score than one that was not clicked."""
    ranks = np.empty(len(scores))
    ranks[np.argsort(scores, kind="stable")] = np.arange(1, len(scores) + 1)
    yes = clicked > 0
    count = yes.sum()
    return float((ranks[yes].sum() - count * (count + 1) / 2) / (count * (len(scores) - count)))


def main() -> None:
    """Train as the command line says."""
    parser = command.parser(__doc__)
    command.add_sizes(parser)
    command.run_large(ClickRate, parser.parse_args())


if __name__ == "__main__":
    main()
