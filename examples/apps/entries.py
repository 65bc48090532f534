"""Matrices with many entries unknown: a photograph of which some pixels are known, and a matrix of known rank."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[Any]


@dataclass(frozen=True)
class Entries:
    """Some entries of a matrix: three arrays of one length."""

    rows: Numbers
    columns: Numbers
    values: Numbers

    def __len__(self) -> int:
        return len(self.values)

    def __getitem__(self, which: Any) -> Entries:
        return Entries(self.rows[which], self.columns[which], self.values[which])

    def between_rows(self, first: int, end: int) -> Entries:
        """Return those in rows [first, end)."""
        return self[(self.rows >= first) & (self.rows < end)]

    def between_columns(self, first: int, end: int) -> Entries:
        """Return those in columns [first, end)."""
        return self[(self.columns >= first) & (self.columns < end)]


@dataclass(frozen=True)
class Ratings:
    """Entries to train with and to test with; `scale` is what 1 in `values` is worth in the unit of the data."""

    num_rows: int
    num_columns: int
    train: Entries
    test: Entries
    scale: float = 1.0


def split(rows: Numbers, columns: Numbers, values: Numbers, test: float) -> tuple[Entries, Entries]:
    """Keep a random part of the entries for the test."""
    entries = Entries(rows, columns, values.astype(np.float32))
    held_out = np.random.default_rng(2).random(len(values)) < test
    return entries[~held_out], entries[held_out]


def photograph() -> Ratings:
    """Return the green of scikit-learn's sample picture china.jpg, 427 x 640, of which half the pixels are known.

    The unit is the pixel's, 0 to 255. The picture is by danielbuechele, under CC BY 2.0.
    """
    from sklearn.datasets import load_sample_image

    picture = load_sample_image("china.jpg")[:, :, 1].astype(np.float32)
    rows, columns = (array.ravel() for array in np.indices(picture.shape))
    values = (picture.ravel() - picture.mean()) / picture.std()
    train, test = split(rows, columns, values, 0.5)
    return Ratings(picture.shape[0], picture.shape[1], train, test, scale=float(picture.std()))


def made(num_rows: int = 20_000, num_columns: int = 4_000, count: int = 1_000_000, rank: int = 8) -> Ratings:
    """Return a product of two random matrices, plus noise of 0.5 that nobody can predict: the least error there is."""
    random = np.random.default_rng(3)
    left, right = (random.standard_normal((n, rank)) for n in (num_rows, num_columns))
    rows, columns = random.integers(0, num_rows, count), random.integers(0, num_columns, count)
    values = (left[rows] * right[columns]).sum(1) / rank**0.5 + 0.5 * random.standard_normal(count)
    return Ratings(num_rows, num_columns, *split(rows, columns, values, 0.1))


SOURCES = {"photograph": photograph, "made": made}
