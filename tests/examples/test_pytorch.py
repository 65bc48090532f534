"""The programs that train models of PyTorch with rows and parameters at the server learn, and draw how."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

import pyps
from examples.pytorch import characters, knowledge_graph, recommender, words
from examples.pytorch.progress import Curve

# What trains a small model, and how far its measure gets: at least, or for what should fall at most.
PROGRAMS: dict[str, tuple[Callable[..., Curve], float]] = {
    "words": (partial(words.train, steps=300, verses=2000), 0.05),
    "knowledge_graph": (partial(knowledge_graph.train, steps=100, most_connected=500), 0.3),
    "recommender": (partial(recommender.train, steps=300, readers=400, books=300), 0.15),
}


def train(program: Callable[..., Curve]) -> Curve:
    with pyps.init(num_keys=1, value_length=1) as node, node.worker() as kv:
        return program(node, kv)


@pytest.mark.long
@pytest.mark.parametrize("name", PROGRAMS)
def test_it_learns(name: str) -> None:
    program, good = PROGRAMS[name]
    values = train(program).values
    assert len(values) > 5
    assert values[0] < good / 2
    assert max(values) > good


@pytest.mark.long
def test_a_network_of_torch7_and_its_twin_learn_letters() -> None:
    bits = train(partial(characters.train, steps=40)).values
    assert bits[0] > 4.6  # as if all letters were as frequent
    assert bits[-1] < 3.6


@pytest.mark.long
def test_processes_train_together_and_one_draws(tmp_path: Path) -> None:
    picture = tmp_path / "curve.svg"
    program = ["-m", "examples.pytorch.knowledge_graph", "--steps", "30", "--plot", str(picture)]
    done = subprocess.run(
        [sys.executable, "-m", "moontide", "launch", "-n", "2", sys.executable, *program],
        check=False,
        capture_output=True,
        text=True,
        timeout=100,
        cwd=Path(__file__).parents[2],
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("step     0: mean reciprocal rank") == 1
    assert "mean reciprocal rank" in picture.read_text()


def test_a_curve_looks_before_between_and_after() -> None:
    looks = iter(range(100))
    curve = Curve("looks", is_silent=True)
    assert list(curve.follow(5, lambda: next(looks), looks=2)) == [0, 1, 2, 3, 4]
    assert (curve.steps, curve.values) == ([0, 2, 4, 5], [0, 1, 2, 3])
