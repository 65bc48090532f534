"""What modules of servers refuse, and what happens when a server ends."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch

import pyps
from pyps.nn import Embedding, EmbeddingBag
from tests.pyps.nn import twins
from tests.pyps.nn.twins import DIM, NUM, worker


@pytest.mark.parametrize("kind", [Embedding, EmbeddingBag])
@pytest.mark.parametrize(
    ("num", "ids", "kind_of_error", "message"),
    [
        (
            NUM,
            torch.tensor([[1, 12]]),
            IndexError,
            r"id 12 at position \(0, 1\) is outside \[0, 11\], the ids of table",
        ),
        (NUM, torch.tensor([[1], [-1]]), IndexError, r"id -1 at position \(1, 0\) is outside \[0, 11\]"),
        (
            None,
            torch.tensor([[1, -1, -2]]),
            IndexError,
            "id -1 is the only number that is no id of table 'embedding'",
        ),
        (NUM, torch.tensor([[1.0]]), TypeError, "ids must be int64 or int32, not float32"),
        (NUM, torch.tensor([[True]]), TypeError, "ids must be int64 or int32, not bool"),
        (NUM, [[1]], TypeError, "ids must be a tensor of int64 or int32, not list"),
        (
            NUM,
            torch.empty(1, 1, dtype=torch.int64, device="meta"),
            ValueError,
            r"not on device meta: make the module with device='meta'",
        ),
    ],
)
def test_ids_that_there_are_not(
    kind: Callable[..., Any], num: int | None, ids: Any, kind_of_error: type[Exception], message: str
) -> None:
    with worker() as kv:
        module = kind(num, DIM, kv, optimizer="sgd:lr=1")
        with pytest.raises(kind_of_error, match=message):
            module(ids)
        assert module.kv.stats()["pulls"] == 0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"optimizer": None},
            r"there is no optimizer.*optimizer=pyps.optim.Adagrad.*kv.table\('embedding'\)",
        ),
        ({"optimizer": "adam:lr=1"}, "table 'embedding' is there with other options: .* optimizer=sgd:lr=1"),
        ({"dim": 5}, "table 'embedding' is there with other options: num_keys=12 lengths=6 "),
        ({"num": 13}, "table 'embedding' is there with other options: num_keys=12 lengths=6 "),
        ({"dtype": "float64"}, "table 'embedding' is there with other options: .* dtype=float32"),
        ({"dtype": "int32"}, "sgd is not for int32"),
        ({"num": 0, "name": "other"}, "num_keys is 0"),
        ({"padding_idx": 12}, r"padding_idx is 12; it must be in \[-12, 12\)"),
        ({"padding_idx": -13}, r"padding_idx is -13; it must be in \[-12, 12\)"),
        ({"max_norm": 0}, "max_norm is 0; it must be above 0"),
    ],
)
def test_a_table_that_does_not_fit(options: dict[str, Any], message: str) -> None:
    with worker() as kv:
        Embedding(NUM, DIM, kv, optimizer="sgd:lr=1")
        arguments = {"num": NUM, "dim": DIM, "kv": kv, "optimizer": "sgd:lr=1", **options}
        with pytest.raises(ValueError, match=message):
            Embedding(**arguments)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"dim": 5}, r"rows of \[5\] elements do not fit table 'users': num_keys=12 lengths=6"),
        ({"num": 13}, "table 'users' has 12 keys, not 13"),
        ({"num": None}, "table 'users' has 12 keys, not keys that are any numbers"),
        (
            {"optimizer": "adam:lr=1"},
            "optimizer: kv is a worker of table 'users', which is there with num_keys=12 ",
        ),
        ({"name": "others"}, "name: kv is a worker of table 'users'"),
        ({"dtype": "float32", "capacity": 3}, "dtype, capacity: kv is a worker of table 'users'"),
    ],
)
def test_a_worker_of_a_table_that_does_not_fit(options: dict[str, Any], message: str) -> None:
    with worker() as kv:
        kv.node.table("users", dim=DIM, num_keys=NUM, optimizer="sgd:lr=1")
        with pytest.raises(ValueError, match=message):
            Embedding(**{"num": NUM, "dim": DIM, "kv": kv.table("users"), **options})


def test_a_table_without_an_optimizer() -> None:
    with worker() as kv:
        kv.node.table("users", dim=DIM, num_keys=NUM)
        with pytest.raises(
            ValueError, match=r"table 'users' has no optimizer.*server.table\('users', dim=6, opt"
        ):
            Embedding(NUM, DIM, kv.table("users"))


def test_what_is_no_worker() -> None:
    with pyps.Server(1) as server, pytest.raises(TypeError, match=r"kv is Server; it must be a worker"):
        Embedding(NUM, DIM, server, optimizer="sgd:lr=1")  # type: ignore[arg-type]


def test_a_mode_that_there_is_not() -> None:
    with worker() as kv, pytest.raises(ValueError, match="mode is 'last'; it must be one of sum, mean, max"):
        EmbeddingBag(NUM, DIM, kv, optimizer="sgd:lr=1", mode="last")


@pytest.mark.parametrize("asynchronous", [False, True])
@pytest.mark.parametrize("nodes", [1, 2])
def test_gradients_that_are_no_numbers(asynchronous: bool, nodes: int) -> None:
    with worker(nodes) as kv:
        optimizer = pyps.optim.SGD(lr=1, refuse_nan=True)
        module = Embedding(NUM, DIM, kv, optimizer=optimizer, asynchronous=asynchronous)
        before = twins.rows_of(module)

        def train() -> None:
            (module(torch.tensor([1, 11])) * torch.nan).sum().backward()
            module.wait()

        with pytest.raises(ValueError, match=r"the gradient of key 1 at position 0 has a NaN"):
            train()
        assert torch.equal(twins.rows_of(module), before)


def test_a_graph_is_gone_after_its_backward() -> None:
    with worker() as kv:
        module = Embedding(NUM, DIM, kv, optimizer="sgd:lr=1")
        loss = module(torch.tensor([1])).sum()
        loss.backward()
        with pytest.raises(RuntimeError, match="backward through the graph a second time"):
            loss.backward()
        assert module.kv.stats()["pushes"] == 1


@pytest.mark.parametrize("nodes", [1, 2])
def test_ids_that_were_written_to_before_the_backward(nodes: int) -> None:
    """Where they are the keys themselves; else the gradients are those of the ids that were looked up."""
    with worker(nodes) as kv:
        module = Embedding(NUM, DIM, kv, optimizer="sgd:lr=1")
        before = twins.rows_of(module)
        ids = torch.tensor([1, 2])
        loss = module(ids).sum()
        ids.add_(3)
        if nodes == 1:
            with pytest.raises(RuntimeError, match="modified by an inplace operation"):
                loss.backward()
        else:
            loss.backward()
            before[[1, 2]] -= 1
        assert torch.equal(twins.rows_of(module), before)


@pytest.mark.parametrize("ends", ["server", "worker", "table"])
def test_a_table_that_has_ended(ends: str) -> None:
    with pyps.Server(1) as server, server.worker() as kv:
        module = Embedding(NUM, DIM, kv, optimizer="sgd:lr=1")
        loss = module(torch.tensor([1])).sum()
        {"server": server.shutdown, "worker": kv.finalize, "table": lambda: server.drop_table("embedding")}[
            ends
        ]()
        with pytest.raises(pyps.ClosedError):
            loss.backward()
        with pytest.raises(pyps.ClosedError):
            module(torch.tensor([1]))
        with pytest.raises(pyps.ClosedError):
            module.state_dict()
