"""The graph of WordNet's verbs: of which a verb is a way (hypernym), its opposite, what it entails or causes."""

from __future__ import annotations

import bz2
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from examples.apps.management import Keys

FILE = Path(__file__).parent / "data" / "wordnet-verbs.tsv.bz2"


@dataclass(frozen=True)
class Graph:
    """Triples of head, relation and tail, shape (n, 3), as numbers from 0; some are kept for the test."""

    entities: list[str]
    relations: list[str]
    train: Keys
    test: Keys


def wordnet_verbs(most_connected: int | None = None, test: float = 0.05) -> Graph:
    """Return the graph, or the part of it between the entities that are in most triples.

    Every hypernym also stands there as a hyponym, its inverse, as in the data set WN18: so a test triple's inverse may
    be trained with, and the measure says whether the training works, not how well one can guess.
    """
    lines = bz2.decompress(FILE.read_bytes()).decode().splitlines()
    triples = [tuple(line.split("\t")) for line in lines]
    triples += [(tail, "hyponym", head) for head, relation, tail in triples if relation == "hypernym"]
    entities = sorted({name for head, _, tail in triples for name in (head, tail)})
    relations = sorted({relation for _, relation, _ in triples})
    entity, relation = ({name: i for i, name in enumerate(names)} for names in (entities, relations))
    numbers = np.array([(entity[h], relation[r], entity[t]) for h, r, t in triples])
    if most_connected is not None:
        counts = np.bincount(numbers[:, [0, 2]].ravel(), minlength=len(entities))
        chosen = np.sort(np.argsort(-counts, kind="stable")[:most_connected])
        numbers = numbers[np.isin(numbers[:, 0], chosen) & np.isin(numbers[:, 2], chosen)]
        numbers[:, [0, 2]] = np.searchsorted(chosen, numbers[:, [0, 2]])
        entities = [entities[number] for number in chosen]
    numbers = np.random.default_rng(4).permutation(numbers)
    held_out = int(len(numbers) * test)
    return Graph(entities, relations, numbers[held_out:], numbers[:held_out])
