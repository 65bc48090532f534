"""What somebody reads next: a recommender of two towers, and a table of readers who are texts.

    python -m examples.pytorch.recommender

One tower makes a vector of a reader and of the last books, the other one of a book; the product says how well they
go together (Covington et al. 2016; Yi et al. 2019). Readers, books and what was read are made up: who likes what
follows from hidden interests. Measured is how often the next book is among the ten best of all, for readings that come
after those of the training; who knew all interests would reach 0.104.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import nn
from torch.nn.functional import cross_entropy, normalize

import pyps
from examples.pytorch.progress import Curve, run

READERS, BOOKS, INTERESTS, LENGTH = 3000, 2000, 10, 30
MOST_ID = 2**56 - 1  # of a collection of several embeddings
LAST, WIDTH, BATCH, BEST = 5, 32, 512, 10


@dataclass(frozen=True)
class Readings:
    """The books of each reader, in the order of reading, shape (readers, LENGTH); readers as keys of their names."""

    readers: torch.Tensor
    books: torch.Tensor


def made_up(readers: int, books: int, seed: int = 0) -> Readings:
    """Let each reader draw books of a few interests, the popular ones more often."""
    random = np.random.default_rng(seed)
    interest = random.integers(INTERESTS, size=books)
    popular = random.zipf(1.5, size=books).clip(max=20)
    tastes = random.dirichlet(np.full(INTERESTS, 0.1), size=readers)
    rows = []
    for taste in tastes:
        rates = taste[interest] * popular
        rows.append(random.choice(books, LENGTH, p=rates / rates.sum()))
    names = pyps.hashed_keys([f"reader {number}" for number in range(readers)]) & MOST_ID
    return Readings(torch.from_numpy(names), torch.from_numpy(np.array(rows)))


class Towers(nn.Module):
    """The layers of both towers, whose parameters are at the server, too."""

    def __init__(self) -> None:
        super().__init__()
        self.query = nn.Sequential(nn.Linear(2 * WIDTH, 64), nn.ReLU(), nn.Linear(64, WIDTH))
        self.item = nn.Linear(WIDTH, WIDTH)

    def forward(self, reader: torch.Tensor, last: torch.Tensor, book: torch.Tensor) -> torch.Tensor:
        """Return the scores of all books for all readers."""
        queries = normalize(self.query(torch.cat([reader, last], 1)))
        return queries @ normalize(self.item(book)).T / 0.1


def train(node: pyps.Node, kv: pyps.Worker, steps: int, readers: int = READERS, books: int = BOOKS) -> Curve:
    """Train with all books of each reader but the last; return how often that is among the best."""
    readings = made_up(readers, books)
    configs = {
        "readers": pyps.nn.EmbeddingConfig(None, WIDTH),  # any number, such as a text's hash
        "books": pyps.nn.EmbeddingConfig(books, WIDTH, features=("last", "book"), pooling="mean"),
    }
    rows = pyps.nn.EmbeddingCollection(configs, kv, optimizer=pyps.optim.Adagrad(lr=0.1))
    frequency = (
        torch.bincount(readings.books[:, :-1].flatten(), minlength=books).clip(1) / readings.books.numel()
    )
    random = np.random.default_rng(node.job.rank)
    torch.manual_seed(0)

    def scores(towers: nn.Module, who: torch.Tensor, last: torch.Tensor, book: torch.Tensor) -> torch.Tensor:
        found = rows({"readers": readings.readers[who], "last": last, "book": book[:, None]})
        result: torch.Tensor = towers(found["readers"], found["last"], found["book"])
        return result

    with pyps.nn.Distributed(Towers(), kv, optimizer=pyps.optim.Adam(lr=0.003)) as towers:

        def quality() -> float:
            who = torch.arange(readers)
            with torch.no_grad():
                found = scores(towers, who, readings.books[:, -LAST - 1 : -1], torch.arange(books))
            return float((found.topk(BEST).indices == readings.books[:, -1:]).any(1).float().mean())

        curve = Curve(f"next book among the best {BEST}", is_silent=node.job.rank > 0)
        for _ in curve.follow(steps, quality):
            who = torch.from_numpy(random.integers(readers, size=BATCH))
            at = torch.from_numpy(random.integers(LAST, LENGTH - 1, size=BATCH))  # never the last one
            last = readings.books[who[:, None], at[:, None] - torch.arange(LAST, 0, -1)]
            book = readings.books[who, at]
            # Popular books are often among the others of a batch.
            found = scores(towers, who, last, book) - frequency[book].log()
            cross_entropy(found, torch.arange(BATCH)).backward()  # type: ignore[no-untyped-call]
        kv.barrier()
    return curve


if __name__ == "__main__":
    run(train, __doc__, steps=600)
