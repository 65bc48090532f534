"""A graph of millions of entities, in which a relation leads from one community to another: see `large.py`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
import torch

from examples.apps.hidden import mixed, zipf
from examples.apps.knowledge_graph import MODELS, KnowledgeGraph
from examples.apps.management import Keys
from examples.apps.rows import Table, groups_of, part_of
from examples.apps.task import Batch, Stage
from examples.apps.triples import Graph

COMMUNITIES = 32
CANDIDATES = 100


class MadeGraph(KnowledgeGraph):
    """The task: see `LargeTask`. Quality is the mean reciprocal rank of the true tail among it and 100 other entities.

    The entity e is in the community ``e % 32``. Heads and tails follow Zipf's law; a tail is of the community to which
    the relation leads from the head's. The other entities, of training and of the quality, are drawn as tails are, so
    that nothing can be known from how frequent an entity is.

    Parameters
    ----------
    keys, width, samples : int
        Entities; parameters of each; triples of an epoch, which are others in each.
    relations, batch_size, negatives, judged_samples : int
    exponent : float
        Of Zipf's law.
    """

    table_of = (0, 1, 0)

    def __init__(
        self,
        keys: int = 10_000_000,
        width: int = 128,
        samples: int = 65_536,
        *,
        relations: int = 200,
        batch_size: int = 512,
        negatives: int = 256,
        judged_samples: int = 1024,
        exponent: float = 1.1,
        seed: int = 1,
    ) -> None:
        self.count, self.relations, self.samples, self.exponent = keys, relations, samples, exponent
        nothing = Graph([], [], *(np.empty((0, 3), np.int64),) * 2)
        super().__init__(
            nothing,
            "complex",
            width,
            batch_size,
            negatives,
            rate=0.1,
            first_sum=0.02,
            seed=seed,
            metric="MRR among 101",
        )
        self.tables = (Table(keys, width, width**-0.5), Table(relations, width, width**-0.5))
        self.groups = groups_of(self.tables, self.table_of)
        self.sampled = None
        random = np.random.default_rng((seed, 0))
        self.held_out = self.triples(judged_samples, random)
        self.others = self.entities(CANDIDATES, random)

    def entities(self, count: int, random: np.random.Generator, communities: Keys | None = None) -> Keys:
        """Draw entities, of communities if these are given."""
        if communities is None:
            communities = random.integers(0, COMMUNITIES, count)
        return zipf(random, count, self.count // COMMUNITIES, self.exponent) * COMMUNITIES + communities

    def triples(self, count: int, random: np.random.Generator) -> Keys:
        """Draw triples, shape (count, 3)."""
        heads = self.entities(count, random)
        relations = random.integers(0, self.relations, count)
        steps = (mixed(relations, self.seed) % np.uint64(COMMUNITIES)).astype(np.int64)
        return np.stack([heads, relations, self.entities(count, random, (heads + steps) % COMMUNITIES)], 1)

    def stages(self, worker: int, workers: int, epoch: int) -> Iterator[Stage]:
        """Return one stage."""
        random = np.random.default_rng((self.seed, 1 + epoch, worker))
        yield Stage(self.drawn(random, workers))

    def drawn(self, random: np.random.Generator, workers: int) -> Iterator[Batch]:
        """Draw batch after batch, each with the other entities that its triples are compared with."""
        for count in part_of(self.samples, self.batch_size, workers):
            for batch in self.batches(self.triples(count, random)):
                others = np.unique(self.entities(self.negatives, random))
                yield replace(batch, ids=(*batch.ids, others))

    def judged(self) -> list[Keys]:
        """Return what is in the triples that are held out, and the other entities."""
        heads, relations, tails = self.held_out.T
        return [np.concatenate([heads, tails]), relations, self.others]

    def quality(self, parameters: Sequence[torch.Tensor]) -> float:
        """Rank the true tails; where one of the others is the true one, it does not count."""
        heads, tails = parameters[0].chunk(2)
        queries, _ = MODELS[self.model][0](heads, parameters[1], tails)
        true = (queries * tails).sum(1, keepdim=True)
        others = queries @ parameters[2].T
        different = torch.from_numpy(self.held_out[:, 2:] != self.others)
        return float((1 / (1 + ((others > true) & different).sum(1))).mean())

    def best(self) -> float:
        """Return the quality of one who knows the communities, and no more: any order of those of the right one."""
        tails = self.held_out[:, 2:]
        right = 1 + ((tails % COMMUNITIES == self.others % COMMUNITIES) & (tails != self.others)).sum(1)
        sums = np.cumsum(1 / np.arange(1, right.max() + 1))
        return float((sums[right - 1] / right).mean())
