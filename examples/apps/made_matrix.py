"""A matrix of known rank with millions of rows and columns, and entries by Zipf's law: see `large.py`."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from examples.apps.entries import Entries, Ratings
from examples.apps.hidden import normal, zipf
from examples.apps.management import Keys
from examples.apps.matrix_factorization import MatrixFactorization
from examples.apps.rows import Table, groups_of, part_of
from examples.apps.task import Batch, Stage

RANK = 4
NOISE = 0.2
NONE = Entries(*(np.empty(0, np.int64),) * 2, np.empty(0, np.float32))


class MadeMatrix(MatrixFactorization):
    """The task: see `LargeTask`. Quality is the error of entries that were held out; 0.2 is the least possible.

    Nine of ten keys are rows. A row belongs to one worker.

    Parameters
    ----------
    keys, width, samples : int
        Rows and columns together; parameters of each; entries of an epoch, which are others in each.
    batch_size, judged_samples : int
    exponent : float
        Of Zipf's law.
    """

    table_of = (0, 1)

    def __init__(
        self,
        keys: int = 10_000_000,
        width: int = 128,
        samples: int = 262_144,
        *,
        batch_size: int = 2048,
        judged_samples: int = 8192,
        exponent: float = 1.1,
        seed: int = 1,
    ) -> None:
        columns = keys // 10
        self.exponent, self.samples, self.hidden_seed = exponent, samples, seed
        size = keys - columns, columns
        drawn = self.entries(judged_samples, *size, np.random.default_rng((seed, 0)))
        rows, row_at = np.unique(drawn.rows, return_inverse=True)
        of_columns, column_at = np.unique(drawn.columns, return_inverse=True)
        self.held_out = [rows, of_columns]
        ratings = Ratings(*size, NONE, Entries(row_at, column_at, drawn.values))  # of those that are judged
        super().__init__(ratings, "plain", width, batch_size, rate=0.1, first_sum=0.02, decay=0.01, seed=seed)
        self.tables = tuple(Table(count, width, width**-0.5) for count in size)
        self.groups = groups_of(self.tables, self.table_of)

    def entries(
        self,
        count: int,
        num_rows: int,
        num_columns: int,
        random: np.random.Generator,
        worker: int = 0,
        workers: int = 1,
    ) -> Entries:
        """Draw entries in rows of one worker."""
        rows = zipf(random, count, num_rows // workers, self.exponent) * workers + worker
        columns = zipf(random, count, num_columns, self.exponent)
        left, right = (normal(ids, RANK, self.hidden_seed + side) for side, ids in enumerate((rows, columns)))
        values = (left * right).sum(1) / RANK**0.5 + NOISE * random.standard_normal(count)
        return Entries(rows, columns, values.astype(np.float32))

    def own_keys(self, worker: int, workers: int) -> None:
        """Return none: the worker's rows are too many to bring them before they are used."""

    def stages(self, worker: int, workers: int, epoch: int) -> Iterator[Stage]:
        """Return one stage."""
        random = np.random.default_rng((self.seed, 1 + epoch, worker))
        yield Stage(self.drawn(random, worker, workers))

    def drawn(self, random: np.random.Generator, worker: int, workers: int) -> Iterator[Batch]:
        """Draw batch after batch."""
        size = self.ratings.num_rows, self.ratings.num_columns
        for count in part_of(self.samples, self.batch_size, workers):
            some = self.entries(count, *size, random, worker, workers)
            yield from self.batches(some, np.arange(count))

    def best(self) -> float:
        """Return the noise."""
        return NOISE

    def judged(self) -> list[Keys]:
        """Return the rows and columns of the entries that are held out."""
        return self.held_out
