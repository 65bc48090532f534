"""Modules whose rows come to a device: see tests/pyps/devices.py for which."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch

import pyps
from pyps.nn import DeviceCache, Embedding, EmbeddingBag, EmbeddingCollection, EmbeddingConfig, Jagged
from tests.pyps.cluster import Cluster
from tests.pyps.devices import on_each
from tests.pyps.nn.twins import DIM, NUM, same, worker

SGD = "sgd:lr=0.1"
Module = Callable[..., Any]
Input = Callable[[torch.Tensor, torch.device | None], tuple[Any, ...]]

CASES: dict[str, tuple[Module, Input]] = {
    "embedding": (lambda kv, **options: Embedding(NUM, DIM, kv, **options), lambda ids, at: (ids.to(at),)),
    "ids on the CPU": (lambda kv, **options: Embedding(NUM, DIM, kv, **options), lambda ids, at: (ids,)),
    "padding": (
        lambda kv, **options: Embedding(NUM, DIM, kv, padding_idx=3, scale_grad_by_freq=True, **options),
        lambda ids, at: (ids.to(at),),
    ),
    "padding among any numbers": (
        lambda kv, **options: Embedding(None, DIM, kv, padding_idx=-1, **options),
        lambda ids, at: ((ids - 1).to(at),),
    ),
    "max_norm": (
        lambda kv, **options: Embedding(NUM, DIM, kv, max_norm=1.5, **options),
        lambda ids, at: (ids.to(at),),
    ),
    "asynchronous": (
        lambda kv, **options: Embedding(NUM, DIM, kv, asynchronous=True, **options),
        lambda ids, at: (ids.to(at),),
    ),
    "bags": (
        lambda kv, **options: EmbeddingBag(NUM, DIM, kv, mode="sum", **options),
        lambda ids, at: (
            ids.view(-1).to(at),
            torch.tensor([0, 3], device=at),
            torch.linspace(-1, 1, ids.numel(), device=at),
        ),
    ),
    "collection": (
        lambda kv, **options: EmbeddingCollection(
            {
                "wide": EmbeddingConfig(NUM, 2 * DIM, features=("bags", "others")),
                "any": EmbeddingConfig(None, DIM, pooling="none"),
            },
            kv,
            **options,
        ),
        lambda ids, at: (
            {
                "bags": Jagged(ids.view(-1).to(at), torch.tensor([1, 0, ids.numel() - 1], device=at)),
                "others": ids.to(at),
                "any": (ids[0] << 20).to(at),
            },
        ),
    ),
}


def batches(count: int = 5) -> list[torch.Tensor]:
    return list(torch.randint(NUM, (count, 4, 3), generator=torch.Generator().manual_seed(2)))


def step(module: Any, given: tuple[Any, ...]) -> list[torch.Tensor]:
    """Train on a batch; return what was looked up."""
    found = module(*given)
    tensors = list(found.values()) if isinstance(found, dict) else [found]
    sum(
        (one * torch.linspace(-1, 1, one.numel(), device=one.device).view(one.shape)).sum() for one in tensors
    ).backward()
    return [one.detach() for one in tensors]


@on_each
@pytest.mark.parametrize("nodes", [1, 2])
@pytest.mark.parametrize("case", CASES)
def test_it_learns_as_without_a_device(case: str, nodes: int, device: torch.device) -> None:
    make, given = CASES[case]
    options = {"optimizer": SGD, "initializer": "normal:seed=3"}
    with worker(nodes) as kv:
        ours, plain = make(kv, name="ours", device=device, **options), make(kv, name="plain", **options)
        for ids in batches():
            for found, expected in zip(
                step(ours, given(ids, device)), step(plain, given(ids, None)), strict=True
            ):
                assert found.device.type == device.type
                same(found.cpu(), expected)


@on_each
def test_rows_that_are_pulled_ahead_come_to_the_device(device: torch.device) -> None:
    inputs = batches(8)
    with Cluster(2, 1) as cluster, cluster.nodes[0].worker() as kv:
        options = {"optimizer": SGD, "initializer": "normal:seed=3"}
        ours = Embedding(NUM, DIM, kv, name="ours", device=device, **options)
        plain = Embedding(NUM, DIM, kv, name="plain", **options)
        loader = pyps.data.prefetch([ids.to(device) for ids in inputs], ours)
        for ids, mine in zip(inputs, loader, strict=True):
            (found,), (expected,) = step(ours, (mine,)), step(plain, (ids,))
            assert found.device.type == device.type
            same(found.cpu(), expected)
        counts = loader.counts[ours]
        assert counts.rows > counts.early > 0


@on_each
def test_a_row_stays_for_so_many_lookups(device: torch.device) -> None:
    with worker() as kv:
        module = Embedding(NUM, DIM, kv, optimizer=SGD, device=device, cache=DeviceCache(NUM, staleness=2))
        seen = [step(module, (torch.tensor([5]),))[0].cpu() for _ in range(8)]
        same(seen[1], seen[0] - 0.1 * torch.linspace(-1, 1, DIM))
        for first in (1, 4):
            assert torch.equal(seen[first], seen[first + 1])
            assert torch.equal(seen[first], seen[first + 2])
            same(seen[first + 3], seen[first] - 0.3 * torch.linspace(-1, 1, DIM))  # all three steps were made


@on_each
@pytest.mark.parametrize("staleness", [1, 4])
@pytest.mark.parametrize("rows", [1, 3, 100])
def test_no_row_is_older_than_the_bound(rows: int, staleness: int, device: torch.device) -> None:
    """However many keys want one slot, each row is what the server had in one of the last lookups."""
    random = torch.Generator().manual_seed(rows)
    with worker(2) as kv:
        module = Embedding(NUM, DIM, kv, optimizer=SGD, device=device, cache=DeviceCache(rows, staleness))
        history = []
        used = 0
        for _ in range(60):
            ids = torch.randint(NUM, (6,), generator=random)
            history.append(module.kv.pull(torch.arange(NUM)))
            (found,) = step(module, (ids,))
            recent = torch.stack(history[-1 - staleness :])[:, ids]
            assert (recent == found.cpu()).all(-1).any(0).all()
            used += len(ids.unique())
        pulled = module.kv.stats()["keys_pulled"] - NUM * len(history)
        assert pulled < used if rows > 1 else pulled <= used


@on_each
def test_a_row_that_is_used_again_keeps_its_slot(device: torch.device) -> None:
    with worker() as kv:
        module = Embedding(NUM, DIM, kv, optimizer=SGD, device=device, cache=DeviceCache(1, staleness=100))
        module.eval()
        hot, cold = torch.tensor([1]), torch.tensor([2])
        for ids in (cold, hot, hot, hot, cold, hot, cold, hot):
            module(ids)
        # The hot one gets the slot when it is pulled again, and the cold one not, although it is pulled again.
        assert module.kv.stats()["keys_pulled"] == 5


@on_each
def test_rows_can_be_forgotten(device: torch.device) -> None:
    with worker() as kv:
        module = Embedding(NUM, DIM, kv, optimizer=SGD, device=device, cache=DeviceCache(1000, staleness=100))
        ids = torch.arange(NUM)
        before = module(ids).cpu()
        module(ids)
        module.kv.set(ids, before + 1)
        assert torch.equal(module(ids).cpu(), before)
        module.forget_cached()
        assert torch.equal(module(ids).cpu(), before + 1)
        module.load_state_dict({"weight": before + 2})
        assert torch.equal(module(ids).cpu(), before + 2)


@on_each
def test_it_learns_with_rows_that_stay(device: torch.device) -> None:
    """The mean of each id's own targets, as closely as with rows that are pulled each time."""
    random = torch.Generator().manual_seed(5)
    wanted = torch.randn(NUM, DIM, generator=random)
    errors = []
    for cache in (None, DeviceCache(NUM, staleness=3)):
        with worker() as kv:
            module = Embedding(NUM, DIM, kv, optimizer="sgd:lr=0.05", device=device, cache=cache)
            for _ in range(150):
                ids = torch.randint(NUM, (32,), generator=random)
                (module(ids) - wanted[ids].to(device)).square().sum().backward()
            errors.append(float((module.kv.pull(torch.arange(NUM)) - wanted).abs().max()))
    assert max(errors) < 1e-3


def test_what_does_not_fit_is_refused_before_there_is_a_table() -> None:
    with worker() as kv:

        def make(**options: Any) -> Embedding:
            return Embedding(NUM, DIM, kv, optimizer=SGD, **options)

        with pytest.raises(ValueError, match="say which one, device='cuda'"):
            make(cache=DeviceCache(10, 1))
        with pytest.raises(ValueError, match=r"max_norm is 1\.0.*leave out cache"):
            make(cache=DeviceCache(10, 1), device="cpu", max_norm=1.0)
        with pytest.raises(ValueError, match="device is xpu, which cannot be used: "):
            make(device="xpu")
        with pytest.raises(ValueError, match="rows is 0; it must be at least 1"):
            DeviceCache(0, 1)
        with pytest.raises(ValueError, match="staleness is 0; it must be at least 1 lookup"):
            DeviceCache(1, 0)
        assert kv.node.table_names() == []
        with pytest.raises(ValueError, match="must be on the CPU or cpu, not on device meta"):
            make(device="cpu")(torch.empty(1, dtype=torch.int64, device="meta"))
