"""`pyps.nn.EmbeddingCollection`: several embeddings, one table, one pull and one push."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch

import pyps
from pyps.nn import EmbeddingCollection, EmbeddingConfig, Jagged
from tests.pyps.nn.twins import same, worker

BAGS = 3
# The embeddings of a collection: keys that are a range, numbers of embeddings in keys with one length and with several.
COLLECTIONS = {
    "range": {
        "users": EmbeddingConfig(10, 4),
        "words": EmbeddingConfig(7, 4, ("title", "text"), "mean"),
        "tags": EmbeddingConfig(5, 4, pooling="none"),
    },
    "any": {
        "users": EmbeddingConfig(None, 4),
        "words": EmbeddingConfig(7, 4, ("title", "text"), "mean"),
        "tags": EmbeddingConfig(None, 4, pooling="none"),
    },
    "lengths": {
        "users": EmbeddingConfig(10, 8),
        "words": EmbeddingConfig(None, 4, ("title", "text"), "mean"),
        "tags": EmbeddingConfig(5, 2, pooling="none"),
    },
}
FEATURES: dict[str, Any] = {
    "users": torch.tensor([1, 3, 1]),
    "title": (torch.tensor([1, 2, 2, 6]), torch.tensor([2, 0, 2])),
    "text": torch.tensor([[1, 2], [3, 4], [6, 6]]),
    "tags": Jagged(torch.tensor([4, 4, 0]), torch.tensor([1, 1, 1])),
}


class Keyed:
    """Features as torchrec's KeyedJaggedTensor has them."""

    def __init__(self, features: dict[str, Jagged], weighted: bool = False) -> None:
        self._features, self._weighted = features, weighted

    def keys(self) -> list[str]:
        return list(self._features)

    def values(self) -> torch.Tensor:
        return torch.cat([one.values for one in self._features.values()])

    def lengths(self) -> torch.Tensor:
        return torch.cat([one.lengths for one in self._features.values()])

    def weights_or_none(self) -> torch.Tensor | None:
        weights = [one.weights for one in self._features.values() if one.weights is not None]
        return torch.cat(weights) if self._weighted else None


class Torchs(torch.nn.Module):
    """The same embeddings as torch has them, with the first ids of each."""

    def __init__(self, collection: EmbeddingCollection, ids: int = 7) -> None:
        super().__init__()
        self.configs = collection.embeddings
        self.rows = torch.nn.ParameterDict()
        for name, rows in rows_of(collection, ids).items():
            self.rows[name] = torch.nn.Parameter(rows)

    def forward(self, features: dict[str, Any]) -> dict[str, torch.Tensor]:
        found = {}
        for name, config in self.configs.items():
            for feature in config.features or (name,):
                given = features[feature]
                if isinstance(given, torch.Tensor):
                    ids, offsets = given, torch.arange(len(given)) if given.dim() == 1 else None
                else:
                    ids, offsets = given[0], given[1].cumsum(0) - given[1]
                if config.pooling == "none":
                    found[feature] = torch.nn.functional.embedding(ids, self.rows[name])
                else:
                    found[feature] = torch.nn.functional.embedding_bag(
                        ids, self.rows[name], offsets, mode=config.pooling
                    )
        return found


def rows_of(collection: EmbeddingCollection, ids: int = 7) -> dict[str, torch.Tensor]:
    found = {}
    with torch.no_grad():
        for name, config in collection.embeddings.items():
            known = torch.arange(min(ids, config.num or ids))
            bags = (known, torch.ones(len(known), dtype=torch.int64))
            nothing = (known[:0], known[:0])
            features = dict.fromkeys(FEATURES, nothing) | {(config.features or (name,))[0]: bags}
            found[name] = collection(features)[(config.features or (name,))[0]].clone()
    return found


@pytest.mark.parametrize("nodes", [1, 2])
@pytest.mark.parametrize("kind", COLLECTIONS)
def test_steps_are_those_of_torch_by_one_pull_and_one_push(kind: str, nodes: int) -> None:
    with worker(nodes) as kv:
        collection = EmbeddingCollection(COLLECTIONS[kind], kv, optimizer="sgd:lr=0.1")
        theirs = Torchs(collection)
        optimizer = torch.optim.SGD(theirs.parameters(), lr=0.1)
        for step in range(1, 4):
            optimizer.zero_grad()
            before = collection.kv.stats()
            found, expected = collection(FEATURES), theirs(FEATURES)
            assert list(found) == ["users", "title", "text", "tags"]
            for rows in (found, expected):
                sum(step * one.square().sum() for one in rows.values()).backward()
            optimizer.step()
            after = collection.kv.stats()
            assert (after["pulls"] - before["pulls"], after["pushes"] - before["pushes"]) == (1, 1)
            for feature, one in expected.items():
                same(found[feature], one)
            for name, rows in rows_of(collection).items():
                same(rows, theirs.rows[name].detach())


@pytest.mark.parametrize(("kind", "options"), [("range", "num_keys=22"), ("any", "capacity=2000007")])
def test_embeddings_of_one_length_have_a_table_of_that_length(kind: str, options: str) -> None:
    with worker() as kv:
        table = EmbeddingCollection(COLLECTIONS[kind], kv, optimizer="sgd:lr=1").table
        assert isinstance(table, pyps.Table)
        assert table.options.startswith(f"{options} lengths=4 ")


def test_an_embedding_that_the_loss_does_not_use_has_no_step() -> None:
    with worker() as kv:
        collection = EmbeddingCollection(COLLECTIONS["range"], kv, optimizer="adam:lr=0.1")
        collection(FEATURES)["users"].sum().backward()
        assert collection.kv.stats()["keys_pushed"] == 2


def keyed(features: dict[str, Any]) -> Keyed:
    return Keyed({name: jagged(given) for name, given in features.items()})


def jagged(given: Any) -> Jagged:
    if isinstance(given, tuple):
        return Jagged(*given)
    return Jagged(given.flatten(), torch.full((len(given),), given.numel() // len(given)))


FORMS: dict[str, Callable[[dict[str, Any]], Any]] = {
    "keyed": keyed,
    "jagged": lambda features: {name: jagged(given) for name, given in features.items()},
    "mixed": dict,
}


@pytest.mark.parametrize("form", FORMS)
def test_all_forms_of_features_give_the_same(form: str) -> None:
    with worker() as kv:
        collection = EmbeddingCollection(COLLECTIONS["any"], kv, optimizer="sgd:lr=1")
        expected = collection(FEATURES)
        others = {"other": (torch.tensor([9]), torch.tensor([1, 0, 0]))}
        found = collection(FORMS[form](FEATURES | others))
        for feature, one in expected.items():
            assert torch.equal(found[feature].detach(), one.detach())


@pytest.mark.parametrize("form", ["dict", "object", "keyed"])
def test_weights_are_those_of_bags(form: str) -> None:
    bags = Jagged(torch.tensor([1, 2, 2]), torch.tensor([2, 1]), torch.tensor([0.5, 2.0, -1.0]))
    one = Keyed({"users": bags}, weighted=True)
    features = {"dict": {"users": bags}, "object": {"users": one}, "keyed": one}
    with worker() as kv:
        collection = EmbeddingCollection({"users": EmbeddingConfig(5, 4)}, kv, optimizer="sgd:lr=1")
        rows = rows_of(collection)["users"]
        found = collection(features[form])["users"]
        same(found.detach(), torch.stack((rows[1] / 2 + 2 * rows[2], -rows[2])))


def test_a_collection_can_be_at_a_table_that_is_there() -> None:
    with pyps.Server(1) as server, server.worker() as kv:
        server.table("all", dim=[8, 4, 2], capacity=100, optimizer="sgd:lr=1")
        collection = EmbeddingCollection(COLLECTIONS["lengths"], kv.table("all"))
        assert collection(FEATURES)["users"].shape == (BAGS, 8)


@pytest.mark.parametrize(
    ("features", "message"),
    [
        (3, "features must be a dict by name, or have keys.*not int"),
        ({}, "there is no feature users"),
        ({"users": [1]}, "feature 'users' is list; it must be a tensor, pyps.nn.Jagged"),
        ({"users": torch.ones(1)}, "feature 'users' must be int64 or int32, not float32"),
        ({"users": torch.ones(1, 1, 1).long()}, "must have 1 or 2 dimensions"),
        ({"users": (torch.ones(2).long(), torch.ones(3).long())}, "add up to 3, but there are 2 values"),
        ({"users": (torch.ones(2).long(), torch.tensor([3, -1]))}, "has a bag of length -1"),
        ({"users": (torch.ones(2, 1).long(), torch.tensor([2]))}, "must have one dimension"),
        (
            {"users": Jagged(torch.ones(2).long(), torch.tensor([2]), torch.ones(3))},
            "2 values and weights of",
        ),
        (
            Keyed(
                {
                    name: Jagged(torch.ones(1).long(), torch.tensor([1, 0][:end]))
                    for end, name in ((1, "users"), (2, "b"))
                }
            ),
            "3 lengths are not as many for each of 2 features",
        ),
        (Keyed({"users": Jagged(torch.ones(3).long(), torch.tensor([2]))}), "add up to 2, but there are 3"),
        (
            {"users": torch.tensor([1, 5])},
            r"id 5 at position \(1,\) is outside \[0, 4\], the ids of embedding 'users'",
        ),
    ],
)
def test_features_that_do_not_fit_are_refused(features: Any, message: str) -> None:
    with worker() as kv:
        collection = EmbeddingCollection({"users": EmbeddingConfig(5, 4)}, kv, optimizer="sgd:lr=1")
        with pytest.raises((IndexError, TypeError, ValueError), match=message):
            collection(features)
        assert collection(FEATURES)["users"].shape == (BAGS, 4)


def test_weights_are_for_sums() -> None:
    bags = Jagged(torch.tensor([1]), torch.tensor([1]), torch.ones(1))
    with worker() as kv:
        configs = {"users": EmbeddingConfig(5, 4, pooling="mean")}
        collection = EmbeddingCollection(configs, kv, optimizer="sgd:lr=1")
        with pytest.raises(ValueError, match="'users' has weights, which are for pooling 'sum', not 'mean'"):
            collection({"users": bags})


def test_embeddings_that_make_no_collection_are_refused() -> None:
    with worker() as kv:

        def make(configs: dict[str, EmbeddingConfig]) -> None:
            EmbeddingCollection(configs, kv, optimizer="sgd:lr=1")

        with pytest.raises(ValueError, match="there are no embeddings"):
            make({})
        with pytest.raises(ValueError, match="feature b is named more than once"):
            make({"a": EmbeddingConfig(1, 1, ("b",)), "b": EmbeddingConfig(1, 1)})
        with pytest.raises(ValueError, match="there are 129 embeddings; one table has at most 128"):
            make({str(number): EmbeddingConfig(None, 1) for number in range(129)})
        with pytest.raises(ValueError, match="pooling is 'last'; it must be one of sum, mean, max, none"):
            EmbeddingConfig(1, 1, pooling="last")
        with pytest.raises(ValueError, match="num is 0; it must be at least 1"):
            EmbeddingConfig(0, 1)


def test_its_text_says_what_it_is() -> None:
    with worker() as kv:
        collection = EmbeddingCollection(COLLECTIONS["any"], kv, optimizer="sgd:lr=1")
        assert repr(collection) == "EmbeddingCollection(users: None x 4, words: 7 x 4, tags: None x 4)"
