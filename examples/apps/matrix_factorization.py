"""Matrix factorization by stochastic gradient descent, in three orders: `python -m examples.apps.matrix_factorization`.

Every row and every column of a matrix gets a short vector, so that their products are the entries. Each worker has some
rows to itself; the columns are what the workers share:

* dsgd: in each of several stages a worker has a part of the columns to itself, another one each stage
  (Gemulla, Nijkamp, Haas, Sismanis 2011)
* columns: each worker goes through its entries column by column
* plain: each worker goes through its entries in random order
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch

from examples.apps import command
from examples.apps.entries import SOURCES, Entries, Ratings
from examples.apps.management import Keys
from examples.apps.task import Batch, Stage

ORDERS = ("dsgd", "columns", "plain")


@dataclass
class MatrixFactorization:
    """The task: see `Task`. Quality is the root mean square error of entries that were held out."""

    ratings: Ratings
    order: str = "dsgd"
    rank: int = 16
    batch_size: int = 4096
    rate: float = 0.4
    first_sum: float = 1.0
    decay: float = 0.02
    seed: int = 1
    metric: str = "test RMSE"
    sampled: None = None

    def __post_init__(self) -> None:
        if self.order not in ORDERS:
            raise ValueError(f"order is {self.order!r}; it must be one of {', '.join(ORDERS)}")
        self.groups: Sequence[tuple[int, int]] = (
            (self.ratings.num_rows, self.rank),
            (self.ratings.num_columns, self.rank),
        )

    def initial(self) -> list[torch.Tensor]:
        """Return small random numbers."""
        torch.manual_seed(self.seed)
        return [torch.randn(group) * self.rank**-0.5 for group in self.groups]

    def own_keys(self, worker: int, workers: int) -> Keys | None:
        """Return the worker's rows."""
        return np.arange(*part(self.ratings.num_rows, worker, workers))

    def stages(self, worker: int, workers: int, epoch: int) -> Iterator[Stage]:
        """Return the worker's entries in the chosen order."""
        random = np.random.default_rng((self.seed, epoch, worker))
        entries = self.ratings.train.between_rows(*part(self.ratings.num_rows, worker, workers))
        if self.order == "dsgd":
            for number in range(workers):
                columns = part(self.ratings.num_columns, (worker + number) % workers, workers)
                inside = entries.between_columns(*columns)
                order = random.permutation(len(inside))
                yield Stage(self.batches(inside, order), self.ratings.num_rows + np.arange(*columns))
        elif self.order == "columns":
            of_columns = random.permutation(self.ratings.num_columns)
            yield Stage(self.batches(entries, np.argsort(of_columns[entries.columns], kind="stable")))
        else:
            yield Stage(self.batches(entries, random.permutation(len(entries))))

    def batches(self, entries: Entries, order: Keys) -> Iterable[Batch]:
        """Return the entries in this order, some at a time."""
        for start in range(0, len(order), self.batch_size):
            some = order[start : start + self.batch_size]
            rows, row_at = np.unique(entries.rows[some], return_inverse=True)
            columns, column_at = np.unique(entries.columns[some], return_inverse=True)
            data = (row_at, column_at, entries.values[some])
            yield Batch((rows, columns), tuple(torch.from_numpy(array) for array in data), len(some))

    def loss(self, parameters: Sequence[torch.Tensor], batch: Batch) -> torch.Tensor:
        """Return the sum of the squared errors, and of the squared vectors as often as they occur."""
        row_at, column_at, values = batch.data
        rows, columns = parameters[0].index_select(0, row_at), parameters[1].index_select(0, column_at)
        error: torch.Tensor = (rows * columns).sum(1) - values
        size = rows.square().sum() + columns.square().sum()
        return error.square().sum() + self.decay * size

    def quality(self, parameters: Sequence[torch.Tensor]) -> float:
        """Return the error of the entries that were held out."""
        rows, columns = parameters
        test = self.ratings.test
        products = (rows[test.rows] * columns[test.columns]).sum(1)
        return float((products - torch.from_numpy(test.values)).square().mean().sqrt()) * self.ratings.scale


def part(count: int, number: int, parts: int) -> tuple[int, int]:
    """Return the bounds of one of several nearly equal parts of [0, count)."""
    return count * number // parts, count * (number + 1) // parts


def main() -> None:
    """Train as the command line says."""
    parser = command.parser(__doc__)
    parser.add_argument("--data", choices=sorted(SOURCES), default="photograph")
    parser.add_argument("--order", choices=ORDERS, default="dsgd")
    options = parser.parse_args()
    command.run(MatrixFactorization(SOURCES[options.data](), options.order), options)


if __name__ == "__main__":
    main()
