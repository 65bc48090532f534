"""What the programs compute with: their data, their batches and their measures."""

from __future__ import annotations

import dataclasses
from collections import Counter

import numpy as np
import pytest
import torch

from benchmarks.apps.tasks import APPS
from examples.apps.corpus import king_james, same_stem
from examples.apps.entries import Ratings, made, photograph
from examples.apps.knowledge_graph import MODELS, KnowledgeGraph
from examples.apps.matrix_factorization import ORDERS, MatrixFactorization
from examples.apps.triples import Graph, wordnet_verbs
from examples.apps.word2vec import Word2Vec


@pytest.fixture(scope="module")
def ratings() -> Ratings:
    return made(60, 40, 2000, 2)


@pytest.mark.slow
def test_the_photograph_has_every_pixel_once() -> None:
    picture = photograph()
    cells = [
        cell
        for entries in (picture.train, picture.test)
        for cell in zip(entries.rows, entries.columns, strict=True)
    ]
    assert len(set(cells)) == len(cells) == picture.num_rows * picture.num_columns


@pytest.mark.parametrize("order", ORDERS)
def test_every_entry_is_used_once_in_an_epoch(ratings: Ratings, order: str) -> None:
    task = MatrixFactorization(ratings, order, batch_size=64)
    seen: Counter[tuple[int, int, float]] = Counter()
    for worker in range(3):
        for stage in task.stages(worker, 3, 0):
            for batch in stage.batches:
                (rows, columns), (row_at, column_at, values) = batch.ids, batch.data
                seen.update(zip(rows[row_at], columns[column_at], values.tolist(), strict=True))
    train = ratings.train
    assert seen == Counter(zip(train.rows, train.columns, train.values.tolist(), strict=True))


def test_in_a_stage_of_dsgd_no_two_workers_use_a_column(ratings: Ratings) -> None:
    task = MatrixFactorization(ratings, "dsgd")
    for stages in zip(*(task.stages(worker, 4, 0) for worker in range(4)), strict=True):
        blocks = [stage.block for stage in stages]
        assert sorted(np.concatenate(blocks)) == list(range(60, 100))  # type: ignore[arg-type]
        for stage, block in zip(stages, blocks, strict=True):
            assert all(np.isin(batch.ids[1] + 60, block).all() for batch in stage.batches)  # type: ignore[arg-type]


def test_columns_are_visited_one_after_another(ratings: Ratings) -> None:
    [stage] = MatrixFactorization(ratings, "columns", batch_size=64).stages(0, 1, 0)
    of_batches = [batch.ids[1] for batch in stage.batches]
    assert sum(map(len, of_batches)) <= 40 + len(of_batches) - 1


def test_the_graph_of_verbs_has_inverses_and_no_triple_twice() -> None:
    graph = wordnet_verbs()
    triples = np.concatenate([graph.train, graph.test])
    assert len(np.unique(triples, axis=0)) == len(triples)
    up, down = graph.relations.index("hypernym"), graph.relations.index("hyponym")
    assert {(h, t) for h, r, t in triples if r == up} == {(t, h) for h, r, t in triples if r == down}
    assert triples[:, [0, 2]].max() == len(graph.entities) - 1


def test_the_most_connected_part_keeps_the_names() -> None:
    whole, part = wordnet_verbs(), wordnet_verbs(most_connected=100)
    triples = {
        tuple(names)
        for graph in (whole, part)
        for names in [(graph.entities[h], graph.relations[r], graph.entities[t]) for h, r, t in graph.train]
        if graph is part
    }
    every = {
        (whole.entities[h], whole.relations[r], whole.entities[t])
        for h, r, t in np.concatenate([whole.train, whole.test])
    }
    assert triples
    assert triples <= every


@pytest.mark.parametrize("model", MODELS)
def test_both_queries_give_the_same_score(model: str) -> None:
    queries, relation_width = MODELS[model]
    h, t = torch.randn(2, 5, 8, dtype=torch.float64)
    r = torch.randn(5, relation_width(8), dtype=torch.float64)
    for_tail, for_head = queries(h, r, t)
    torch.testing.assert_close((for_tail * t).sum(1), (for_head * h).sum(1))


def test_complex_is_the_real_part_of_the_product() -> None:
    h, r, t = torch.randn(3, 4, 3, dtype=torch.complex128)
    parts = (torch.cat([x.real, x.imag], 1) for x in (h, r, t))
    for_tail, _ = MODELS["complex"][0](*parts)
    torch.testing.assert_close(
        (for_tail * torch.cat([t.real, t.imag], 1)).sum(1), (h * r * t.conj()).sum(1).real
    )


def test_a_rank_does_not_count_other_true_entities() -> None:
    """Scores of RESCAL with width 1 are products: of tails for head 3 the order is 3, 2, 1, 0."""
    entities = ["a", "b", "c", "d"]
    train = np.array([[3, 0, 3]])
    graph = Graph(entities, ["r"], train, np.array([[3, 0, 1]]))
    task = KnowledgeGraph(graph, "rescal", width=1)
    numbers = torch.tensor([[1.0], [2.0], [3.0], [4.0]])
    tail, head = task.ranks([numbers, torch.ones(1, 1)]).tolist()
    assert tail == 2, "before 1 comes 2; 3 is true"
    assert head == 1


def test_text_words_and_verses_fit() -> None:
    corpus = king_james(verses=2, least=1)
    words = [corpus.words[number] for number in corpus.text]
    assert words[:3] == ["in", "the", "beginning"]
    assert corpus.verses[words.index("without")] == 1
    assert [words.count(word) for word in corpus.words] == corpus.counts.tolist()


@pytest.mark.slow
def test_words_of_one_stem_are_paired() -> None:
    corpus = king_james()
    pairs = {(corpus.words[a], corpus.words[b]) for a, b in same_stem(corpus)}
    assert {("king", "kings"), ("walk", "walked"), ("seek", "seeketh")} <= pairs


@pytest.mark.slow
def test_pairs_are_of_near_words_in_one_verse() -> None:
    corpus = king_james(verses=200, least=1)
    task = Word2Vec(corpus, window=2, sample=1.0)
    near = set()
    for distance in (1, 2):
        same = corpus.verses[:-distance] == corpus.verses[distance:]
        pairs = np.stack([corpus.text[:-distance], corpus.text[distance:]], 1)[same]
        near |= {*map(tuple, pairs.tolist()), *map(tuple, pairs[:, ::-1].tolist())}
    [stage] = task.stages(0, 1, 0)
    seen = set()
    for batch in stage.batches:
        (inner, outer), (center_at, context_at) = batch.ids, batch.data
        seen |= set(zip(inner[center_at].tolist(), outer[context_at].tolist(), strict=True))
    assert seen <= near
    assert len(seen) > len(near) / 2


@pytest.mark.parametrize("name", APPS)
def test_batches_name_each_parameter_once_and_all_that_they_use(name: str) -> None:
    task = APPS[name].small()
    for stage in task.stages(1, 2, 0):
        for batch in list(stage.batches)[:3]:
            for ids, (count, _) in zip(batch.ids, task.groups, strict=True):
                assert (np.diff(ids) > 0).all()
                assert 0 <= ids[0] <= ids[-1] < count
            parameters = [torch.zeros(len(i), w) for i, (_, w) in zip(batch.ids, task.groups, strict=True)]
            if task.sampled:
                parameters.append(torch.zeros(task.sampled.count, task.groups[task.sampled.group][1]))
            assert torch.isfinite(task.loss(parameters, batch))


@pytest.mark.parametrize(("name", "field"), [("dsgd", "order"), ("complex", "model")])
def test_an_unknown_choice_is_refused(name: str, field: str) -> None:
    with pytest.raises(ValueError, match="'other'; it must be one of"):
        dataclasses.replace(APPS[name].small(), **{field: "other"})  # type: ignore[type-var]
