"""`pyps.nn.EmbeddingBag` beside `torch.nn.EmbeddingBag`."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
import torch

import pyps
from tests.pyps.nn.twins import DIM, NUM, SPACES, batches, num_of, same, train_both, twin, worker

STARTS = torch.tensor([0, 3, 3, 20])  # the second bag is empty


def sgd(parameters: Any) -> torch.optim.Optimizer:
    return torch.optim.SGD(parameters, lr=0.1)


@pytest.mark.parametrize("nodes", [1, 2])
@pytest.mark.parametrize("space", SPACES)
@pytest.mark.parametrize(
    ("mode", "options"),
    [
        *itertools.product(
            ("sum", "mean", "max"), ({}, {"padding_idx": 3}, {"max_norm": 1.5}, {"include_last_offset": True})
        ),
        ("sum", {"scale_grad_by_freq": True}),
        ("mean", {"scale_grad_by_freq": True}),
    ],
    ids=str,
)
def test_steps_are_those_of_torch(mode: str, options: dict[str, Any], space: str, nodes: int) -> None:
    ours = {"mode": mode, **options}
    if "padding_idx" in options:
        ours["padding_idx"] = int(SPACES[space](torch.tensor(options["padding_idx"])))
    starts = torch.cat((STARTS, torch.tensor([40]))) if "include_last_offset" in options else STARTS
    inputs: list[Any] = [(ids, (starts,)) for ids in batches(shape=(40,))]
    if "include_last_offset" not in options:
        inputs += [(ids, ()) for ids in batches()]
    with worker(nodes) as kv:
        module = pyps.nn.EmbeddingBag(num_of(space), DIM, kv, optimizer="sgd:lr=0.1", dtype="float64", **ours)
        if space == "any" and "padding_idx" in options:
            kv.table("embedding").set([ours["padding_idx"]], torch.zeros(1, DIM).double())
        train_both(module, twin(module, space, mode=mode, **options), sgd, inputs, space)


@pytest.mark.parametrize("nodes", [1, 2])
def test_weights_of_samples_count_and_have_gradients(nodes: int) -> None:
    with worker(nodes) as kv:
        module = pyps.nn.EmbeddingBag(NUM, DIM, kv, mode="sum", optimizer="adagrad:lr=0.1")
        theirs = twin(module, mode="sum")
        weights = torch.linspace(-1, 2, 40)
        inputs: list[Any] = [(ids, (STARTS, weights)) for ids in batches(shape=(40,))]
        train_both(module, theirs, lambda rows: torch.optim.Adagrad(rows, lr=0.1), inputs)
        gradients: list[Any] = []
        for one in (module, theirs):
            own = weights.clone().requires_grad_()
            one(inputs[0][0], STARTS, own).square().sum().backward()
            gradients.append(own.grad)
        same(*gradients)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_bags_have_the_dtype_of_the_table(dtype: torch.dtype) -> None:
    with worker() as kv:
        module = pyps.nn.EmbeddingBag(NUM, DIM, kv, mode="sum", optimizer="sgd:lr=0.1", dtype=dtype)
        bags = module(torch.tensor([[1, 2], [2, 2]]), per_sample_weights=torch.ones(2, 2, dtype=dtype))
        assert bags.dtype == dtype
        before = module.state_dict()["weight"].float()
        bags.sum().backward()
        after = before - 0.1 * torch.tensor([0, 1, 3] + [0] * 9)[:, None]
        same(module.state_dict()["weight"].float(), after, 0.03)


@pytest.mark.parametrize("bags", [0, 2])
def test_there_may_be_no_ids(bags: int) -> None:
    with worker() as kv:
        module = pyps.nn.EmbeddingBag(NUM, DIM, kv, optimizer="sgd:lr=0.1")
        none = torch.empty(0, dtype=torch.int64)
        rows = module(none, torch.zeros(bags, dtype=torch.int32))
        assert torch.equal(rows, torch.zeros(bags, DIM))
        rows.sum().backward()
        assert module.kv.stats()["pushes"] == 0


def test_its_text_says_what_it_is() -> None:
    with worker() as kv:
        module = pyps.nn.EmbeddingBag(None, DIM, kv, optimizer="sgd:lr=1", mode="max")
        assert repr(module) == "EmbeddingBag(None, 6, table 'embedding', mode=max)"
