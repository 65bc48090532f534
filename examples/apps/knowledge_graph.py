"""Embeddings of a knowledge graph, ComplEx and RESCAL: `python -m examples.apps.knowledge_graph`.

Entities and relations get vectors (relations of RESCAL matrices) such that a score of (head, relation, tail) tells
whether the triple is true. A batch compares each of its triples with the same random entities, which the
server draws, in the place of its tail, and of its head. Trouillon et al. 2016; Nickel, Tresp, Kriegel 2011.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch.nn.functional import cross_entropy

from examples.apps import command
from examples.apps.management import Keys
from examples.apps.task import Batch, Sampled, Stage
from examples.apps.triples import Graph, wordnet_verbs

JUDGED = 500  # triples of the test that are ranked


def complex_queries(
    heads: torch.Tensor, relations: torch.Tensor, tails: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return what a tail, and what a head, is multiplied with to give the score; halves are real and imaginary."""
    (h, hi), (r, ri), (t, ti) = (vectors.chunk(2, dim=1) for vectors in (heads, relations, tails))
    return torch.cat([h * r - hi * ri, h * ri + hi * r], 1), torch.cat([t * r + ti * ri, ti * r - t * ri], 1)


def rescal_queries(
    heads: torch.Tensor, relations: torch.Tensor, tails: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the same where a relation is a matrix."""
    matrices = relations.view(len(relations), heads.shape[1], heads.shape[1])
    return (heads[:, None] @ matrices)[:, 0], (matrices @ tails[:, :, None])[:, :, 0]


Queries = Callable[[torch.Tensor, torch.Tensor, torch.Tensor], tuple[torch.Tensor, torch.Tensor]]
MODELS: dict[str, tuple[Queries, Callable[[int], int]]] = {  # and how long a relation is
    "complex": (complex_queries, lambda width: width),
    "rescal": (rescal_queries, lambda width: width * width),
}


@dataclass
class KnowledgeGraph:
    """The task: see `Task`. Quality is the mean reciprocal rank of the true entity, other true ones not counted."""

    graph: Graph
    model: str = "complex"
    width: int = 32
    batch_size: int = 512
    negatives: int = 256
    rate: float = 0.2
    first_sum: float = 0.0
    seed: int = 1
    metric: str = "filtered MRR"

    def __post_init__(self) -> None:
        if self.model not in MODELS:
            raise ValueError(f"model is {self.model!r}; it must be one of {', '.join(MODELS)}")
        _, relation_width = MODELS[self.model]
        graph = self.graph
        self.sampled: Sampled | None = Sampled(0, self.negatives, seed=self.seed)
        self.groups: Sequence[tuple[int, int]] = (
            (len(graph.entities), self.width),
            (len(graph.relations), relation_width(self.width)),
        )

    def initial(self) -> list[torch.Tensor]:
        """Return small random numbers."""
        torch.manual_seed(self.seed)
        return [torch.randn(group) * self.width**-0.5 for group in self.groups]

    def own_keys(self, worker: int, workers: int) -> None:
        """Return none: any worker may meet any entity."""

    def stages(self, worker: int, workers: int, epoch: int) -> Iterator[Stage]:
        """Return one stage: the worker's part of the triples in random order."""
        random = np.random.default_rng((self.seed, epoch, worker))
        yield Stage(self.batches(random.permutation(self.graph.train[worker::workers])))

    def batches(self, triples: Keys) -> Iterator[Batch]:
        """Return the triples, some at a time."""
        for start in range(0, len(triples), self.batch_size):
            some = triples[start : start + self.batch_size]
            entities, at = np.unique(np.concatenate([some[:, 0], some[:, 2]]), return_inverse=True)
            relations, relation_at = np.unique(some[:, 1], return_inverse=True)
            places = np.split(at, 2)
            data = tuple(map(torch.from_numpy, (*places, relation_at)))
            yield Batch((entities, relations), data, len(some))

    def loss(self, parameters: Sequence[torch.Tensor], batch: Batch) -> torch.Tensor:
        """Return the cross entropy of the true entity among the others, for tails and for heads."""
        entities, relations, others = parameters
        heads, tails = (entities.index_select(0, at) for at in batch.data[:2])
        queries = MODELS[self.model][0](heads, relations.index_select(0, batch.data[2]), tails)
        loss = torch.zeros(())
        for query, true in zip(queries, (tails, heads), strict=True):
            scores = torch.cat([(query * true).sum(1, keepdim=True), query @ others.T], 1)
            loss = loss + cross_entropy(scores, torch.zeros(len(query), dtype=torch.long), reduction="sum")
        return loss

    def quality(self, parameters: Sequence[torch.Tensor]) -> float:
        """Rank all entities in the place of the tail, and of the head, of triples that nobody trained with."""
        return float((1.0 / self.ranks(parameters)).mean())

    def ranks(self, parameters: Sequence[torch.Tensor]) -> torch.Tensor:
        """Return the ranks of the true entities, from 1."""
        entities, relations = parameters
        test = self.graph.test[:JUDGED]
        known = np.concatenate([self.graph.train, self.graph.test])
        heads, relation, tails = torch.from_numpy(test).T
        queries = MODELS[self.model][0](entities[heads], relations[relation], entities[tails])
        ranks = []
        for query, given, wanted in zip(queries, (0, 2), (2, 0), strict=True):
            scores = query @ entities.T
            true = torch.from_numpy(test[:, wanted])
            reached = scores.gather(1, true[:, None])
            code = known[:, given] * len(self.graph.relations) + known[:, 1]
            asked = test[:, given] * len(self.graph.relations) + test[:, 1]
            order = np.argsort(code, kind="stable")
            first, end = (np.searchsorted(code[order], asked, side) for side in ("left", "right"))
            for row, (a, b) in enumerate(zip(first, end, strict=True)):
                scores[row, known[order[a:b], wanted]] = -torch.inf
            ranks.append((scores >= reached).sum(1) + 1)
        return torch.cat(ranks)


def main() -> None:
    """Train as the command line says."""
    parser = command.parser(__doc__)
    parser.add_argument("--model", choices=sorted(MODELS), default="complex")
    options = parser.parse_args()
    command.run(KnowledgeGraph(wordnet_verbs(), options.model), options)


if __name__ == "__main__":
    main()
