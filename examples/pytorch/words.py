"""Vectors of words, by which words stand near each other in the Bible.

    python -m examples.pytorch.words

A vector is good at telling words that stand near a word from random ones (skip-grams; Mikolov et al. 2013). How many
words have one with the same stem among their ten nearest is measured: the model never sees a letter.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import torch
from torch.nn.functional import logsigmoid, normalize
from torch.utils.data import DataLoader, IterableDataset

import pyps
from examples.apps.corpus import Corpus, king_james, same_stem
from examples.pytorch.progress import Curve, run

WIDTH, WINDOW, BATCH, NEGATIVES, NEAREST = 64, 5, 4096, 512, 10
OPTIMIZER = "adagrad:lr=0.3"


class Pairs(IterableDataset[tuple[torch.Tensor, torch.Tensor]]):
    """Batches of words, and of as many that stand near them, followed by random ones."""

    def __init__(self, corpus: Corpus, seed: int) -> None:
        self.corpus, self.seed = corpus, seed

    def __iter__(self) -> Iterator[tuple[torch.Tensor, torch.Tensor]]:
        random = np.random.default_rng(self.seed)
        text, verses = self.corpus.text, self.corpus.verses
        rates = self.corpus.counts**0.75
        rates = rates / rates.sum()
        # Frequent words say little about those near them.
        kept = np.minimum(1, np.sqrt(1e-3 * self.corpus.counts.sum() / self.corpus.counts))
        while True:
            at = random.integers(WINDOW, len(text) - WINDOW, BATCH)
            near = at + random.integers(1, WINDOW + 1, BATCH) * random.choice([-1, 1], BATCH)
            good = (verses[at] == verses[near]) & (random.random(BATCH) < kept[text[at]] * kept[text[near]])
            others = random.choice(len(rates), NEGATIVES, p=rates)
            yield (
                torch.from_numpy(text[at[good]]),
                torch.from_numpy(np.concatenate([text[near[good]], others])),
            )


def train(node: pyps.Node, kv: pyps.Worker, steps: int, verses: int | None = None) -> Curve:
    """Train with the first verses, or all; return how many words have a relative among those nearest to them."""
    corpus = king_james(verses)
    count, begin = len(corpus.words), pyps.initializers.Uniform(-0.5 / WIDTH, 0.5 / WIDTH, seed=1)
    words, contexts = (
        pyps.nn.Embedding(
            count, WIDTH, kv, name=name, optimizer=OPTIMIZER, initializer=begin, asynchronous=True
        )
        for name in ("words", "contexts")
    )
    batches = DataLoader(Pairs(corpus, seed=node.job.rank), batch_size=None)
    loader = iter(pyps.data.prefetch(batches, {words: 0, contexts: 1}))
    pairs = torch.from_numpy(same_stem(corpus))

    def quality() -> float:
        words.wait()
        with torch.no_grad():
            vectors = normalize(words(torch.arange(count)))
        near = vectors[pairs[:, 0]] @ vectors.T
        near.scatter_(1, pairs[:, :1], -1.0)  # not the word itself
        return float((near.topk(NEAREST).indices == pairs[:, 1:]).any(1).float().mean())

    curve = Curve("with a relative nearby", is_silent=node.job.rank > 0)
    for _ in curve.follow(steps, quality):
        centers, near = next(loader)
        vectors, others = words(centers), contexts(near)
        near_ones, random_ones = others[: len(centers)], others[len(centers) :]
        loss = -logsigmoid((vectors * near_ones).sum(1)).sum()
        loss = loss - 5 / NEGATIVES * logsigmoid(-vectors @ random_ones.T).sum()
        loss.backward()  # type: ignore[no-untyped-call]
    kv.barrier()
    return curve


if __name__ == "__main__":
    run(train, __doc__, steps=2000)
