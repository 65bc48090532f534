"""The layout of large tasks: rows that are made when they are used, with AdaGrad's sum of a row."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import pytest
import torch

import pyps
from examples.apps.layout import Layout
from examples.apps.management import Keys
from examples.apps.rows import MADE, Rows, Table, groups_of, part_of
from examples.apps.task import Batch, Stage
from examples.apps.training import step


@dataclass
class Sum:
    """What each parameter is multiplied with in the loss is 1, so that its gradient is known."""

    tables: Sequence[Table] = (Table(100, 4, 0.5), Table(30, 4, 0.0625, speed=0.5))
    table_of: Sequence[int] = (0, 1, 1)
    samples: int = 1
    rate: float = 0.25
    first_sum: float = 3.0
    metric: str = "none"
    sampled: None = None

    @property
    def groups(self) -> Sequence[tuple[int, int]]:
        return groups_of(self.tables, self.table_of)

    def initial(self) -> list[torch.Tensor]:
        return []

    def own_keys(self, worker: int, workers: int) -> None:
        """None."""

    def stages(self, worker: int, workers: int, epoch: int) -> Iterable[Stage]:
        return []

    def loss(self, parameters: Sequence[torch.Tensor], batch: Batch) -> torch.Tensor:
        return torch.stack([part.sum() for part in parameters]).sum()

    def judged(self) -> list[Keys]:
        return [np.arange(3)] * 3

    def best(self) -> float:
        return 0.0

    def quality(self, parameters: Sequence[torch.Tensor]) -> float:
        return float(parameters[0].sum())


def pulled(kv: pyps.Worker, rows: Layout, ids: list[Keys]) -> list[torch.Tensor]:
    buffer, values = rows.empty(ids)
    kv.pull(rows.keys(ids), buffer)
    return [rows.parameter(group, value) for group, value in enumerate(values)]


IDS = [np.arange(90), np.arange(20), np.array([25])]


@pytest.mark.parametrize("made", MADE)
def test_parameters_begin_between_their_tables_bounds(made: str) -> None:
    rows = Rows(Sum(), made)
    with pyps.init(value_length=rows.lengths, **rows.options()) as node, node.worker() as kv:
        for parameter, spread in zip(pulled(kv, rows, IDS), (0.5, 0.0625, 0.0625), strict=True):
            assert parameter.abs().max() <= spread
            if len(parameter) > 1:
                assert parameter.max() > 0.8 * spread
                assert parameter.min() < -0.8 * spread


@pytest.mark.parametrize("made", MADE)
def test_a_step_of_adagrad_has_one_length_for_a_row(made: str) -> None:
    """Gradients are 1, so sums are 3 and 1, and steps half of the rate; the second step's are shorter."""
    rows, task = Rows(Sum(), made), Sum()
    batch = Batch(IDS, ())
    with pyps.init(value_length=rows.lengths, **rows.options()) as node, node.worker() as kv:
        seen = [pulled(kv, rows, IDS)]
        for _ in range(2):
            step(kv, task, rows, batch, 0)
            seen.append(pulled(kv, rows, IDS))
    for begin, end, sums in zip(seen, seen[1:], (4.0, 5.0), strict=False):
        for before, after, speed in zip(begin, end, (1.0, 0.5, 0.5), strict=True):
            wanted = -0.25 * speed * sums**-0.5
            torch.testing.assert_close(after - before, torch.full_like(before, wanted), rtol=1e-3, atol=1e-6)


def test_groups_of_one_table_share_its_rows() -> None:
    rows = Rows(Sum())
    assert rows.keys([np.array([7]), np.array([7]), np.array([7])]).tolist() == [
        7,
        2**56 + 7,
        2**56 + 7,
    ]
    assert Rows(Sum(), "all").keys([np.array([7])] * 3).tolist() == [7, 107, 107]


def test_another_way_to_make_rows_is_refused() -> None:
    with pytest.raises(ValueError, match="'none'; it must be one of used, all"):
        Rows(Sum(), "none")


@pytest.mark.parametrize("workers", [1, 3])
def test_batches_have_the_samples_of_an_epoch(workers: int) -> None:
    sizes = list(part_of(3000, 512, workers))
    assert sum(sizes) * workers == 3000
    assert max(sizes) <= 512
    assert min(sizes) > 0
