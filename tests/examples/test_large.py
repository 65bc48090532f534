"""Programs with generated data: what their data are, and what they learn on one node and on two."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path

import numpy as np
import pytest
import torch

from examples.apps.hidden import normal
from examples.apps.large import TASKS
from examples.apps.made_graph import COMMUNITIES, MadeGraph
from examples.apps.made_matrix import NOISE, RANK, MadeMatrix
from examples.apps.made_text import TOPICS, MadeText
from examples.apps.rows import LargeTask, Rows
from examples.apps.training import Epoch, train

ROOT = Path(__file__).parents[2]
KEYS = 10**7


@dataclass(frozen=True)
class Small:
    """A task that learns within seconds.

    Attributes
    ----------
    make : callable
        ``make(keys=)``
    epochs : int
    reached, chance : float
        Its quality at the end, and that of someone who knows nothing.
    tolerance : float
        How far qualities differ from run to run.
    """

    make: Callable[..., LargeTask]
    epochs: int
    reached: float
    chance: float
    tolerance: float


SMALL = {
    "matrix": Small(
        partial(MadeMatrix, width=8, samples=100_000, batch_size=1024, judged_samples=2048, exponent=1.3),
        epochs=5,
        reached=0.62,
        chance=1.0,
        tolerance=0.05,
    ),
    "graph": Small(
        partial(MadeGraph, width=32, samples=24_000, relations=8, batch_size=256, exponent=1.5),
        epochs=6,
        reached=0.2,
        chance=0.05,
        tolerance=0.06,
    ),
    "text": Small(
        partial(MadeText, width=16, samples=16_384, words_at_once=256, judged_words=512, exponent=1.3),
        epochs=5,
        reached=0.4,
        chance=1 / TOPICS,
        tolerance=0.15,
    ),
}


@cache
def trained(name: str, nodes: int, management: str, keys: int = KEYS) -> list[Epoch]:
    task = SMALL[name].make(keys=keys)
    epochs = SMALL[name].epochs
    return train(task, nodes=nodes, management=management, epochs=epochs, layout=Rows(task))


@pytest.mark.slow
@pytest.mark.parametrize(("nodes", "management"), [(1, "classic"), (2, "classic"), (2, "intent")])
@pytest.mark.parametrize("name", SMALL)
def test_a_program_learns(name: str, nodes: int, management: str) -> None:
    small, epochs = SMALL[name], trained(name, nodes, management)
    ways = np.sign(small.reached - small.chance)
    assert ways * epochs[-1].quality >= ways * small.reached
    assert ways * small.make(keys=KEYS).best() > ways * epochs[-1].quality
    assert epochs[-1].loss < 0.95 * epochs[0].loss


@pytest.mark.slow
@pytest.mark.parametrize("management", ["classic", "intent"])
@pytest.mark.parametrize("name", SMALL)
def test_two_nodes_learn_as_much_as_one(name: str, management: str) -> None:
    one, two = trained(name, 1, "classic")[-1], trained(name, 2, management)[-1]
    assert two.quality == pytest.approx(one.quality, abs=SMALL[name].tolerance)
    assert two.share_local > 0.9 if management == "intent" else two.share_local < 0.6


@pytest.mark.slow
@pytest.mark.parametrize("name", SMALL)
def test_memory_grows_with_what_is_used_and_not_with_the_keys(name: str) -> None:
    few, many = trained(name, 1, "classic", KEYS // 10), trained(name, 1, "classic")
    assert many[-1].memory < 1.3 * few[-1].memory
    assert many[-1].memory > 1.15 * many[0].memory


@pytest.mark.slow
def test_it_learns_as_much_where_all_keys_exist() -> None:
    """And they take memory from the beginning."""
    task = SMALL["text"].make(keys=20_000)
    used, all_made = (
        train(task, epochs=SMALL["text"].epochs, layout=Rows(task, made)) for made in ("used", "all")
    )
    assert all_made[-1].quality == pytest.approx(used[-1].quality, abs=SMALL["text"].tolerance)
    assert all_made[0].memory > 20_000 * 17 * 4
    assert all_made[-1].memory == pytest.approx(all_made[0].memory, rel=0.01)


@pytest.mark.parametrize("name", TASKS)
def test_batches_name_each_parameter_once_and_all_that_they_use(name: str) -> None:
    task = TASKS[name](keys=100_000, width=8, samples=2048)
    counted = 0
    for stage in task.stages(1, 2, 0):
        for batch in stage.batches:
            counted += batch.samples
            for ids, (count, _) in zip(batch.ids, task.groups, strict=True):
                assert (np.diff(ids) > 0).all()
                assert 0 <= ids[0] <= ids[-1] < count
            parameters = [torch.zeros(len(i), w) for i, (_, w) in zip(batch.ids, task.groups, strict=True)]
            assert torch.isfinite(task.loss(parameters, batch))
    assert counted == 1024 or (name == "text" and counted > 1024)


def test_the_matrix_is_of_its_rank_but_for_the_noise() -> None:
    task = MadeMatrix(judged_samples=4096)
    factors = [
        torch.from_numpy(normal(ids, RANK, task.hidden_seed + side)) / RANK**0.25
        for side, ids in enumerate(task.judged())
    ]
    assert task.quality(factors) == pytest.approx(NOISE, abs=0.01)


def test_workers_have_rows_of_their_own() -> None:
    task = MadeMatrix(keys=1000, width=4, samples=4096)
    of_workers = [
        {
            row
            for stage in task.stages(worker, 3, 0)
            for batch in stage.batches
            for row in batch.ids[0].tolist()
        }
        for worker in range(3)
    ]
    assert all(of_workers)
    assert not of_workers[0] & of_workers[1] | of_workers[1] & of_workers[2] | of_workers[0] & of_workers[2]


def test_a_relation_leads_from_one_community_to_another() -> None:
    heads, relations, tails = MadeGraph(relations=3).triples(5000, np.random.default_rng(1)).T
    steps = (tails - heads) % COMMUNITIES
    assert all(len(set(steps[relations == relation])) == 1 for relation in range(3))
    assert len(set(heads % COMMUNITIES)) == COMMUNITIES


def test_who_knows_the_communities_reaches_the_best_rank() -> None:
    """Heads and tails get the powers of a root of unity, whose products are greatest for the right community."""
    task = MadeGraph(relations=40)
    heads, relations, tails = task.held_out.T
    steps = np.zeros(40, np.int64)
    steps[relations] = (tails - heads) % COMMUNITIES
    vectors = [
        np.exp(2j * np.pi * np.outer(of % COMMUNITIES, np.arange(COMMUNITIES)) / COMMUNITIES)
        for of in (np.concatenate([heads, tails]), steps[relations], task.others)
    ]
    vectors[0][len(heads) :] += 0.01 * normal(tails, COMMUNITIES, seed=1)  # decides within a community
    vectors[2] += 0.01 * normal(task.others, COMMUNITIES, seed=1)
    parts = [torch.from_numpy(np.concatenate([vector.real, vector.imag], 1)).float() for vector in vectors]
    assert task.quality(parts) == pytest.approx(task.best(), abs=0.05)


def test_a_sentence_has_a_topic() -> None:
    """Two words that stand near each other share it more often than others: those of any topic aside."""
    task = MadeText(keys=100_000, width=4, samples=4096)
    share = []
    for stage in task.stages(0, 1, 0):
        for batch in stage.batches:
            (inner, outer, _), (center_at, context_at) = batch.ids, batch.data
            share.append((inner[center_at] % TOPICS == outer[context_at] % TOPICS).mean())
    assert 0.3 < np.mean(share) < 0.5


def test_words_of_one_direction_for_each_topic_are_judged_best() -> None:
    task = MadeText(judged_words=TOPICS * 16)
    vectors = torch.eye(TOPICS).repeat(16, 1)
    assert task.quality([vectors]) == 1
    assert task.quality([vectors[torch.randperm(len(vectors))]]) < 0.1


@pytest.mark.slow
@pytest.mark.parametrize("name", ["matrix", "graph", "text"])
def test_the_command_line_works(name: str) -> None:
    sizes = ["--keys", "50000", "--dim", "8", "--samples", "4096", "--made", "all", "--epochs", "1"]
    done = subprocess.run(
        [sys.executable, "-m", "examples.apps.large", name, *sizes],
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert re.search(r"^the best .* there can be: \d\.\d+$", done.stdout, re.MULTILINE)
    assert re.search(r"^epoch 1: .* samples/s, .* GB, loss .* % local$", done.stdout, re.MULTILINE)
