"""Word vectors, skip-gram with negative sampling: `python -m examples.apps.word2vec`.

Each word gets a vector that tells which words stand near it, and one by which others tell it. A batch compares its
pairs of near words with random words, which the server draws, the same for all of them (Mikolov et al. 2013).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch.nn.functional import logsigmoid, normalize

from examples.apps import command
from examples.apps.corpus import Corpus, king_james, same_stem
from examples.apps.task import Batch, Sampled, Stage

NEAREST = 10


@dataclass
class Word2Vec:
    """The task: see `Task`. Quality: of words with the same stem, how many are among each other's nearest ten."""

    corpus: Corpus
    width: int = 48
    window: int = 5
    sample: float = 3e-4
    words_at_once: int = 512
    negatives: int = 128
    negatives_of_pair: float = 5.0
    rate: float = 0.4
    first_sum: float = 1.0
    seed: int = 1
    metric: str = "same stem among nearest 10"

    def __post_init__(self) -> None:
        self.groups: Sequence[tuple[int, int]] = ((len(self.corpus.words), self.width),) * 2
        frequency = self.corpus.counts / self.corpus.counts.sum()
        self.kept = np.minimum(1.0, np.sqrt(self.sample / frequency) + self.sample / frequency)
        self.sampled: Sampled | None = Sampled(1, self.negatives, self.corpus.counts**0.75, self.seed)

    def initial(self) -> list[torch.Tensor]:
        """Return small random vectors, and zeros for those by which others tell the word."""
        torch.manual_seed(self.seed)
        return [torch.randn(self.groups[0]) / self.width, torch.zeros(self.groups[1])]

    def own_keys(self, worker: int, workers: int) -> None:
        """Return none: any worker may meet any word."""

    def stages(self, worker: int, workers: int, epoch: int) -> Iterator[Stage]:
        """Return one stage: the worker's part of the text; frequent words are left out now and then."""
        random = np.random.default_rng((self.seed, epoch, worker))
        size = len(self.corpus.text)
        here = slice(size * worker // workers, size * (worker + 1) // workers)
        text, verses = self.corpus.text[here], self.corpus.verses[here]
        kept = random.random(len(text)) < self.kept[text]
        yield Stage(self.batches(text[kept], verses[kept], random))

    def batches(self, text: np.ndarray, verses: np.ndarray, random: np.random.Generator) -> Iterator[Batch]:
        """Return pairs of words that stand near each other in a verse, those of some words at a time."""
        starts = np.arange(0, len(text), self.words_at_once)
        for start in random.permutation(starts):
            words, verse = (array[start : start + self.words_at_once] for array in (text, verses))
            reach = random.integers(1, self.window + 1, len(words))
            centers, contexts = [], []
            for distance in range(1, min(self.window + 1, len(words))):
                left, right = np.arange(len(words) - distance), np.arange(distance, len(words))
                for center, context in ((left, right), (right, left)):
                    near = (verse[left] == verse[right]) & (reach[center] >= distance)
                    centers.append(words[center[near]])
                    contexts.append(words[context[near]])
            inner, center_at = np.unique(np.concatenate(centers), return_inverse=True)
            outer, context_at = np.unique(np.concatenate(contexts), return_inverse=True)
            data = tuple(map(torch.from_numpy, (center_at, context_at)))
            yield Batch((inner, outer), data, len(center_at))

    def loss(self, parameters: Sequence[torch.Tensor], batch: Batch) -> torch.Tensor:
        """Return the logistic loss of near pairs, and of pairs with the random words."""
        center_at, context_at = batch.data
        centers = parameters[0].index_select(0, center_at)
        near = (centers * parameters[1].index_select(0, context_at)).sum(1)
        far = centers @ parameters[2].T
        weight = self.negatives_of_pair / self.negatives
        return -logsigmoid(near).sum() - weight * logsigmoid(-far).sum()

    def quality(self, parameters: Sequence[torch.Tensor]) -> float:
        """Look for the words with the same stem among those that are nearest by the angle, among all words."""
        pairs = torch.from_numpy(same_stem(self.corpus))
        vectors = normalize(parameters[0])
        one = torch.cat([pairs[:, 0], pairs[:, 1]])
        other = torch.cat([pairs[:, 1], pairs[:, 0]])
        near = vectors[one] @ vectors.T
        near.scatter_(1, one[:, None], -1.0)
        return float((near.topk(NEAREST).indices == other[:, None]).any(1).float().mean())


def main() -> None:
    """Train as the command line says."""
    parser = command.parser(__doc__)
    options = parser.parse_args()
    command.run(Word2Vec(king_james()), options)


if __name__ == "__main__":
    main()
