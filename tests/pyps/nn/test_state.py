"""State dicts of modules whose rows are at a server."""

from __future__ import annotations

import copy
import io
import pickle
from collections.abc import Callable
from typing import Any

import pytest
import torch

import pyps
from pyps.nn import EmbeddingCollection, EmbeddingConfig
from pyps.nn.embeddings import state
from tests.pyps.nn import twins
from tests.pyps.nn.twins import DIM, NUM, worker

OPTIONS: dict[str, Any] = {"optimizer": "adagrad:lr=0.1"}
IDS = torch.tensor([1, 2**50, -7])


@pytest.mark.parametrize("at_once", [state.AT_ONCE, 4 * DIM, 1])
@pytest.mark.parametrize("nodes", [1, 2])
@pytest.mark.parametrize("kind", ["Embedding", "EmbeddingBag"])
def test_weights_go_to_torchs_module_and_come_back(
    kind: str, nodes: int, at_once: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(state, "AT_ONCE", at_once)
    with worker(nodes) as kv:
        ours, theirs = getattr(pyps.nn, kind)(NUM, DIM, kv, **OPTIONS), getattr(torch.nn, kind)(NUM, DIM)
        model, its = torch.nn.Sequential(ours), torch.nn.Sequential(theirs)
        its.load_state_dict(model.state_dict())
        assert torch.equal(theirs.weight, twins.rows_of(ours))
        with torch.no_grad():
            theirs.weight.normal_()
        model.load_state_dict(its.state_dict())
        assert torch.equal(theirs.weight, twins.rows_of(ours))


@pytest.mark.parametrize("dtype", [torch.float64, torch.float16, torch.bfloat16])
def test_rows_are_converted_to_the_dtype_of_the_table(dtype: torch.dtype) -> None:
    with worker() as kv:
        module = pyps.nn.Embedding(NUM, DIM, kv, dtype=dtype, **OPTIONS)
        weight = torch.randn(NUM, DIM)
        module.load_state_dict({"weight": weight})
        assert torch.equal(module.state_dict()["weight"], weight.to(dtype))


def test_rows_of_any_numbers_have_their_keys() -> None:
    with worker() as kv, pyps.Server(1) as other, other.worker() as there:
        module = pyps.nn.Embedding(None, DIM, kv, **OPTIONS)
        assert module.state_dict()["keys"].shape == (0,)
        rows = module(IDS)
        saved = module.state_dict()
        assert sorted(saved["keys"].tolist()) == sorted(IDS.tolist())
        copied = pyps.nn.Embedding(None, DIM, there, initializer="constant:value=0", **OPTIONS)
        copied.load_state_dict(saved)
        assert torch.equal(copied(IDS), rows)


def test_a_collection_has_the_rows_of_each_embedding() -> None:
    configs = {"users": EmbeddingConfig(None, 8), "words": EmbeddingConfig(5, 4)}
    features = {"users": torch.tensor([7, 2**40]), "words": torch.tensor([4, 0])}
    with worker() as kv, pyps.Server(1) as other, other.worker() as there:
        collection = EmbeddingCollection(configs, kv, **OPTIONS)
        rows = collection(features)
        saved = collection.state_dict()
        assert {name: tuple(entry.shape) for name, entry in saved.items()} == {
            "users.keys": (2,),
            "users.rows": (2, 8),
            "words.weight": (5, 4),
        }
        assert saved["users.keys"].sort().values.tolist() == [7, 2**40]
        copied = EmbeddingCollection(configs, there, initializer="constant:value=0", **OPTIONS)
        copied.load_state_dict(saved)
        for feature, found in copied(features).items():
            assert torch.equal(found, rows[feature])


@pytest.mark.parametrize(
    ("num", "entries", "message"),
    [
        (NUM, {}, 'Missing key.*"weight"'),
        (NUM, {"weight": torch.ones(NUM, 5)}, r"weight: the rows have the shape \(12, 5\), not \(12, 6\)"),
        (
            NUM,
            {"weight": torch.ones(NUM, DIM).long()},
            "weight: the rows must be a floating-point tensor, not int64",
        ),
        (NUM, {"weight": 3}, "weight: the rows must be a floating-point tensor, not int"),
        (NUM, {"weight": torch.ones(NUM, DIM), "bias": torch.ones(1)}, 'Unexpected key.*"bias"'),
        (None, {"keys": IDS}, 'Missing key.*"rows"'),
        (
            None,
            {"keys": IDS.double(), "rows": torch.ones(3, DIM)},
            "the keys must be an int64 tensor of one dimension",
        ),
        (None, {"keys": IDS, "rows": torch.ones(2, DIM)}, r"the shape \(2, 6\), not \(3, 6\)"),
        (
            None,
            {"keys": torch.tensor([-1]), "rows": torch.ones(1, DIM)},
            "id -1 is the only number that is no id",
        ),
    ],
)
def test_what_does_not_fit_is_named(num: int | None, entries: dict[str, Any], message: str) -> None:
    with worker() as kv:
        module = pyps.nn.Embedding(num, DIM, kv, **OPTIONS)
        before = module(torch.tensor([1, 2]))
        with pytest.raises(RuntimeError, match=message):
            module.load_state_dict(entries)
        if "bias" not in entries:
            assert torch.equal(module(torch.tensor([1, 2])), before)


def test_one_entry_that_does_not_fit_leaves_a_collection_as_it_is() -> None:
    configs = {"users": EmbeddingConfig(3, 4), "words": EmbeddingConfig(5, 4)}
    with worker() as kv:
        collection = EmbeddingCollection(configs, kv, **OPTIONS)
        before = collection.state_dict()
        with pytest.raises(
            RuntimeError, match=r"words.weight: the rows have the shape \(4, 4\), not \(5, 4\)"
        ):
            collection.load_state_dict({"users.weight": torch.ones(3, 4), "words.weight": torch.ones(4, 4)})
        after = collection.state_dict()
        assert all(torch.equal(after[name], entry) for name, entry in before.items())


def test_without_being_strict_what_is_missing_stays() -> None:
    with worker() as kv:
        module = pyps.nn.Embedding(NUM, DIM, kv, **OPTIONS)
        before = twins.rows_of(module)
        module.load_state_dict({"bias": torch.ones(1)}, strict=False)
        assert torch.equal(twins.rows_of(module), before)


def test_a_module_that_is_not_persistent_has_no_entries() -> None:
    with worker(2) as kv:
        module = pyps.nn.Embedding(None, DIM, kv, persistent=False, **OPTIONS)
        assert module.state_dict() == {}
        module.load_state_dict({})


def test_keys_of_several_nodes_are_for_checkpoints() -> None:
    with worker(2) as kv:
        module = pyps.nn.Embedding(None, DIM, kv, **OPTIONS)
        with pytest.raises(RuntimeError, match=r"are on 2 nodes.*pyps.checkpoint.*persistent=False"):
            module.state_dict()


COPIES: dict[str, Callable[[object], object]] = {
    "copy": copy.copy,
    "deepcopy": lambda module: copy.deepcopy([module]),
    "pickle": lambda module: pickle.dumps([module]),
    "save": lambda module: torch.save([module], io.BytesIO()),
}


@pytest.mark.parametrize("how", COPIES)
def test_a_module_is_not_copied(how: str) -> None:
    with worker() as kv:
        module = pyps.nn.Embedding(NUM, DIM, kv, **OPTIONS)
        with pytest.raises(TypeError, match=r"a pyps.nn.Embedding cannot be .* make another with a worker"):
            COPIES[how](module)
