"""The program that predicts clicks: its model, its data, and what it learns on one node and on two."""

from __future__ import annotations

import re
import subprocess
import sys
from functools import cache
from pathlib import Path

import numpy as np
import pytest
import torch

from examples.apps.click_rate import FEATURES, ClickRate, area, through
from examples.apps.management import MANAGEMENTS
from examples.apps.rows import Rows
from examples.apps.training import Epoch, train

ROOT = Path(__file__).parents[2]
EPOCHS = 4


def small(keys: int = 10**8) -> ClickRate:
    return ClickRate(
        keys=keys, width=8, top=(16,), samples=8192, batch_size=256, judged_samples=2048, rate=0.1
    )


@cache
def trained(nodes: int, management: str, keys: int = 10**8) -> list[Epoch]:
    task = small(keys)
    return train(task, nodes=nodes, management=management, epochs=EPOCHS, layout=Rows(task))


def test_the_area_counts_pairs_in_the_right_order() -> None:
    scores = np.array([0.1, 0.4, 0.3, 0.8], np.float32)
    assert area(scores, np.array([0, 1, 1, 1], np.float32)) == 1
    assert area(scores, np.array([1, 0, 0, 1], np.float32)) == 0.5


def test_a_row_of_a_layer_is_a_neuron_with_its_bias() -> None:
    one, other = torch.tensor([[1.0, -1.0, 0.5], [0.0, 2.0, -5.0]]), torch.tensor([[1.0, 1.0, 0.25]])
    out = through([one, other], torch.tensor([[3.0, 1.0]]))
    assert out.tolist() == [[2.75]], "2.5 and -3, of which the second is cut off"


def test_the_same_seed_gives_the_same_data_and_each_worker_has_its_own() -> None:
    first, again, other = (next(iter(next(small().stages(worker, 2, 0)).batches)) for worker in (0, 0, 1))
    assert all((a == b).all() for a, b in zip(first.ids, again.ids, strict=True))
    assert len(first.ids[0]) != len(other.ids[0]) or (first.ids[0] != other.ids[0]).any()


def test_ids_of_all_features_are_among_the_keys() -> None:
    task = small(keys=1000)
    ids = task.held_out.ids
    assert ids.shape == (2048, FEATURES)
    assert ids.min() >= 0
    assert ids.max() < 1000


def test_the_hidden_model_knows_more_than_chance_and_not_all() -> None:
    assert 0.8 < small().best() < 0.95


@pytest.mark.slow
@pytest.mark.parametrize(("nodes", "management"), [(1, "classic"), *((2, how) for how in MANAGEMENTS)])
def test_it_learns(nodes: int, management: str) -> None:
    epochs = trained(nodes, management)
    assert epochs[-1].quality > 0.74
    assert epochs[-1].quality > epochs[0].quality
    assert epochs[-1].loss < 0.95 * epochs[0].loss
    assert epochs[-1].samples == small().samples


@pytest.mark.slow
@pytest.mark.parametrize("management", MANAGEMENTS)
def test_two_nodes_learn_as_much_as_one(management: str) -> None:
    one, two = trained(1, "classic")[-1], trained(2, management)[-1]
    assert two.quality == pytest.approx(one.quality, abs=0.03)


@pytest.mark.slow
def test_memory_grows_with_what_is_used_and_not_with_the_keys() -> None:
    """Twenty times as many keys that may be take no more; a second epoch brings new ids."""
    few, many = trained(1, "classic", 5 * 10**6), trained(1, "classic")
    assert many[0].memory == pytest.approx(few[0].memory, rel=0.1)
    assert many[-1].memory > 1.5 * many[0].memory
    used = {key for batch in next(small().stages(0, 1, 0)).batches for key in batch.ids[0].tolist()}
    assert many[0].memory < 40 * 2**20 + 200 * len(used)


@pytest.mark.slow
def test_the_command_line_works() -> None:
    sizes = ["--keys", "1000000", "--dim", "8", "--samples", "1024", "--nodes", "2", "--epochs", "1"]
    done = subprocess.run(
        [sys.executable, "-m", "examples.apps.click_rate", *sizes],
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert re.search(r"^the best AUC there can be: 0\.\d+$", done.stdout, re.MULTILINE)
    assert re.search(r"^epoch 1: .* samples/s, .* GB, loss .* % local$", done.stdout, re.MULTILINE)
