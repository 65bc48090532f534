"""A text with a vocabulary of millions of words, whose sentences have topics: see `large.py`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
import torch
from torch.nn.functional import normalize

from examples.apps.corpus import Corpus
from examples.apps.hidden import zipf
from examples.apps.management import Keys
from examples.apps.rows import Table, groups_of, part_of
from examples.apps.task import Batch, Stage
from examples.apps.word2vec import NEAREST, Word2Vec

TOPICS = 64
SENTENCE = 16  # words
ANY = 0.4  # of a sentence's words, which are of any topic
NOTHING = Corpus([], *(np.empty(0, np.int64),) * 3)


class MadeText(Word2Vec):
    """The task: see `LargeTask`. Quality: of the ten words nearest to a frequent one, how many have the same topic.

    The word w is of the topic ``w % 64``, and its frequency in it follows Zipf's law. A sentence's words are of one
    topic, but for two fifths, which are of any.

    Parameters
    ----------
    keys, width, samples : int
        Vectors, two for each word; parameters of each; words of the text of an epoch, which is another one in each.
    words_at_once, negatives, window, judged_words : int
    exponent : float
        Of Zipf's law.
    """

    table_of = (0, 1, 1)

    def __init__(
        self,
        keys: int = 20_000_000,
        width: int = 128,
        samples: int = 32_768,
        *,
        words_at_once: int = 512,
        negatives: int = 256,
        window: int = 5,
        judged_words: int = 2048,
        exponent: float = 1.1,
        seed: int = 1,
    ) -> None:
        self.count, self.samples, self.exponent, self.judged_words = (
            keys // 2,
            samples,
            exponent,
            judged_words,
        )
        super().__init__(
            NOTHING,
            width,
            window,
            words_at_once=words_at_once,
            negatives=negatives,
            rate=0.1,
            first_sum=0.02,
            seed=seed,
            metric="same topic among nearest 10",
        )
        self.tables = (Table(self.count, width, 1 / width), Table(self.count, width, 1 / width))
        self.groups = groups_of(self.tables, self.table_of)
        self.sampled = None

    def words(self, count: int, random: np.random.Generator, topics: Keys) -> Keys:
        """Draw words of topics."""
        return zipf(random, count, self.count // TOPICS, self.exponent) * TOPICS + topics

    def stages(self, worker: int, workers: int, epoch: int) -> Iterator[Stage]:
        """Return one stage."""
        random = np.random.default_rng((self.seed, 1 + epoch, worker))
        yield Stage(self.drawn(random, workers))

    def drawn(self, random: np.random.Generator, workers: int) -> Iterator[Batch]:
        """Draw piece after piece of the text, each with the words that its pairs are compared with."""
        for count in part_of(self.samples, self.words_at_once, workers):
            sentences = np.arange(count) // SENTENCE
            any_topic = random.integers(0, TOPICS, count)
            topics = np.where(random.random(count) < ANY, any_topic, any_topic[sentences])
            text = self.words(count, random, topics)
            for batch in self.batches(text, sentences, random):
                others = self.words(self.negatives, random, random.integers(0, TOPICS, self.negatives))
                yield replace(batch, ids=(*batch.ids, np.unique(others)))

    def best(self) -> float:
        """Return that of one who knows all topics."""
        return 1.0

    def judged(self) -> list[Keys]:
        """Return the most frequent words."""
        return [np.arange(self.judged_words), np.arange(0), np.arange(0)]

    def quality(self, parameters: Sequence[torch.Tensor]) -> float:
        """Look at the nearest of the most frequent words, by the angle."""
        vectors = normalize(parameters[0])
        near = (vectors @ vectors.T).fill_diagonal_(-1.0).topk(NEAREST).indices
        topics = torch.arange(self.judged_words) % TOPICS
        return float((topics[near] == topics[:, None]).float().mean())
