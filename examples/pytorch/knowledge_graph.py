"""Which verbs of WordNet belong together: ComplEx in plain PyTorch.

    python -m examples.pytorch.knowledge_graph

Entities and relations have complex vectors, whose product says whether a triple of head, relation and tail is true
(Trouillon et al. 2016). Each batch tells the true tails and heads from the same random entities. Measured is the mean
reciprocal rank of the true tail among all entities, for triples that nobody trained with.
"""

from __future__ import annotations

import numpy as np
import torch
from torch import nn
from torch.nn.functional import cross_entropy

import pyps
from examples.apps.triples import wordnet_verbs
from examples.pytorch.progress import Curve, run

WIDTH, BATCH, NEGATIVES, JUDGED = 64, 512, 256, 500


class ComplEx(nn.Module):
    """Vectors of entities and relations, of which the second half is imaginary."""

    def __init__(self, kv: pyps.Worker, entities: int, relations: int) -> None:
        super().__init__()
        begin = pyps.initializers.Normal(std=WIDTH**-0.5, seed=1)
        self.entities, self.relations = (
            pyps.nn.Embedding(count, WIDTH, kv, name=name, optimizer="adagrad:lr=0.2", initializer=begin)
            for name, count in (("entities", entities), ("relations", relations))
        )

    def tails(self, heads: torch.Tensor, relations: torch.Tensor) -> torch.Tensor:
        """Return what a tail's vector is multiplied with to give its score."""
        (h, hi), (r, ri) = self.entities(heads).chunk(2, 1), self.relations(relations).chunk(2, 1)
        return torch.cat([h * r - hi * ri, h * ri + hi * r], 1)

    def heads(self, tails: torch.Tensor, relations: torch.Tensor) -> torch.Tensor:
        """Return the same for a head's."""
        (t, ti), (r, ri) = self.entities(tails).chunk(2, 1), self.relations(relations).chunk(2, 1)
        return torch.cat([t * r + ti * ri, ti * r - t * ri], 1)

    def loss(self, queries: torch.Tensor, right: torch.Tensor, others: torch.Tensor) -> torch.Tensor:
        """Return the cross entropy of the right entities among other ones."""
        wrong = self.entities(others)
        scores = torch.cat([(queries * self.entities(right)).sum(1, keepdim=True), queries @ wrong.T], 1)
        return cross_entropy(scores, torch.zeros(len(queries), dtype=torch.long), reduction="sum")


def train(node: pyps.Node, kv: pyps.Worker, steps: int, most_connected: int | None = None) -> Curve:
    """Train with all verbs, or those in most triples; return the mean reciprocal ranks."""
    graph = wordnet_verbs(most_connected)
    count = len(graph.entities)
    model = ComplEx(kv, count, len(graph.relations))
    random = np.random.default_rng(node.job.rank)
    heads, relations, tails = torch.from_numpy(graph.test[:JUDGED]).T

    def quality() -> float:
        with torch.no_grad():
            scores = model.tails(heads, relations) @ model.entities(torch.arange(count)).T
        rank = (scores >= scores.gather(1, tails[:, None])).sum(1)
        return float((1 / rank).mean())

    curve = Curve("mean reciprocal rank", is_silent=node.job.rank > 0)
    for _ in curve.follow(steps, quality):
        h, r, t = torch.from_numpy(graph.train[random.integers(len(graph.train), size=BATCH)]).T
        others = torch.from_numpy(random.integers(count, size=NEGATIVES))
        loss = model.loss(model.tails(h, r), t, others) + model.loss(model.heads(t, r), h, others)
        loss.backward()  # type: ignore[no-untyped-call]
    kv.barrier()
    return curve


if __name__ == "__main__":
    run(train, __doc__, steps=600)
