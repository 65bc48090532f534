"""Models that torch.compile compiles around embeddings of a server."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

import pyps
from tests.conftest import Processes
from tests.pyps.nn.twins import DIM, NUM, same, worker
from tests.python_path import python_path

TIMEOUT = 200.0  # seconds that Inductor with its compiler may take

# Dynamo looks at .grad of what comes out of a lookup.
pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore:The .grad attribute of a Tensor:UserWarning"),
]

IDS = torch.tensor([[1, 2], [2, 9]])


class Scores(torch.nn.Module):
    """Something to compute before and after a lookup."""

    def __init__(self, embedding: torch.nn.Module) -> None:
        super().__init__()
        self.embedding = embedding
        self.linear = torch.nn.Linear(DIM, 1)

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        rows = self.embedding((ids * 2).remainder(NUM))
        rows = rows["words"] if isinstance(rows, dict) else rows
        return self.linear(rows.sin()).sigmoid()  # type: ignore[no-any-return]


class Words(torch.nn.Module):
    """A collection with the one feature that a model has."""

    def __init__(self, collection: torch.nn.Module) -> None:
        super().__init__()
        self.collection = collection

    def forward(self, ids: torch.Tensor) -> dict[str, torch.Tensor]:
        found: dict[str, torch.Tensor] = self.collection({"words": ids})
        return found


def embedding(kv: pyps.Worker) -> torch.nn.Module:
    return pyps.nn.Embedding(NUM, DIM, kv, optimizer="sgd:lr=0.1")


def bag(kv: pyps.Worker) -> torch.nn.Module:
    return pyps.nn.EmbeddingBag(NUM, DIM, kv, optimizer="sgd:lr=0.1")


def collection(kv: pyps.Worker) -> torch.nn.Module:
    words = {"words": pyps.nn.EmbeddingConfig(NUM, DIM)}
    return Words(pyps.nn.EmbeddingCollection(words, kv, optimizer="sgd:lr=0.1"))


def train(
    make: Callable[[pyps.Worker], torch.nn.Module], backend: Any
) -> tuple[torch.Tensor, dict[str, Any]]:
    """Train for some steps; return the last output, and the state."""
    torch.manual_seed(1)
    with worker() as kv:
        model = Scores(make(kv))
        run = model if backend is None else torch.compile(model, backend=backend)
        for _ in range(3):
            output = run(IDS)
            output.sum().backward()
        return output.detach(), model.state_dict()


def compare(make: Callable[[pyps.Worker], torch.nn.Module], backend: str) -> None:
    torch.compiler.reset()
    output, state = train(make, backend)
    expected, their_state = train(make, None)
    same(output, expected)
    for name, entry in their_state.items():
        same(state[name], entry)


@pytest.mark.parametrize("make", [embedding, bag, collection])
def test_a_compiled_model_trains_as_one_that_is_not(make: Callable[[pyps.Worker], torch.nn.Module]) -> None:
    compare(make, "aot_eager")


@pytest.mark.long
@pytest.mark.timeout(TIMEOUT + 20)
def test_a_model_that_inductor_compiles_does_so_as_well(processes: Processes, tmp_path: Path) -> None:
    """In a process of its own, as Inductor keeps some."""
    source = "from tests.pyps.nn import test_compile as test; test.compare(test.embedding, 'inductor')"
    run = processes(
        [sys.executable, "-c", source],
        stderr=subprocess.STDOUT,
        env={
            **os.environ,
            "PYTHONPATH": python_path(),
            "TORCHINDUCTOR_CACHE_DIR": str(tmp_path),
            "TORCHINDUCTOR_COMPILE_THREADS": "1",
        },
    )
    output, _ = run.communicate(timeout=TIMEOUT)
    assert run.returncode == 0, output


def test_the_graph_breaks_at_the_lookup_only() -> None:
    torch.compiler.reset()
    graphs: list[str] = []

    def backend(graph: torch.fx.GraphModule, _: object) -> Callable[..., Any]:
        graphs.append(graph.code)
        return graph.forward

    train(embedding, backend)
    before, after = graphs
    assert "remainder" in before
    assert "sigmoid" in after
    assert "sin" in after
