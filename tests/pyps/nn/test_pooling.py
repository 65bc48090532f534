"""Pooled rows and their gradients beside those of torch's own functions."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from pyps.nn.embeddings.pooling import Bags, pool
from tests.pyps.devices import on_each

ROWS, DIM, COUNT = 7, 5, 12
OFFSETS = torch.tensor([0, 0, 3, 3, 9, 12])  # bags without ids too, also the last one


def positions(*shape: int) -> torch.Tensor:
    return torch.randint(ROWS, shape, generator=torch.Generator().manual_seed(len(shape)))


CASES: dict[str, Bags] = {
    "a row each": Bags(positions(COUNT), "none"),
    "rows of any shape": Bags(positions(2, 3, 2), "none"),
    "no rows": Bags(positions(0), "none"),
    "rows of no shape": Bags(torch.tensor(3), "none"),
    **{f"{mode} of equal bags": Bags(positions(4, 3), mode) for mode in ("sum", "mean", "max")},
    **{f"{mode} of bags": Bags(positions(COUNT), mode, OFFSETS) for mode in ("sum", "mean", "max")},
    "no bags": Bags(positions(0, 3), "sum"),
    "only empty bags": Bags(positions(0), "mean", torch.tensor([0, 0])),
    "with weights": Bags(positions(4, 3), "sum", weights=torch.linspace(-1, 1, COUNT).view(4, 3)),
}


def moved(bags: Bags, device: torch.device) -> Bags:
    parts = (bags.positions, bags.offsets, bags.weights)
    at, offsets, weights = (None if part is None else part.to(device) for part in parts)
    assert at is not None
    return Bags(at, bags.pooling, offsets, weights)


def rows(device: torch.device, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    values = torch.randn(ROWS, DIM, generator=torch.Generator().manual_seed(3))
    return values.to(device, dtype).requires_grad_()


def gradient(found: torch.Tensor, of: torch.Tensor) -> torch.Tensor:
    weights = torch.linspace(-2, 3, found.numel()).view(found.shape).to(found)
    (found * weights).sum().backward()  # type: ignore[no-untyped-call]
    assert of.grad is not None
    return of.grad.cpu()


@on_each
@pytest.mark.parametrize("case", CASES)
def test_it_is_what_torch_does(case: str, device: torch.device) -> None:
    bags = moved(CASES[case], device)
    ours, torchs = rows(device), rows(device)
    (found,), expected = pool([bags], [ours]), bags.of(torchs)
    assert torch.equal(found.cpu(), expected.cpu())
    assert torch.allclose(gradient(found, ours), gradient(expected, torchs), atol=1e-5)


@pytest.mark.parametrize("dtype", [torch.float64, torch.float16, torch.bfloat16])
@pytest.mark.parametrize("mode", ["none", "sum", "mean"])
def test_it_keeps_the_dtype(mode: str, dtype: torch.dtype) -> None:
    ours, exact = rows(torch.device("cpu"), dtype), rows(torch.device("cpu"))
    bags = Bags(positions(4, 3), mode)
    (found,), (expected,) = pool([bags], [ours]), pool([bags], [exact])
    assert found.dtype == dtype
    limit = 0.1 if dtype != torch.float64 else 1e-5
    assert torch.allclose(gradient(found, ours).float(), gradient(expected, exact), atol=limit, rtol=limit)


def test_features_of_the_same_rows_add_their_gradients() -> None:
    bags = [CASES["sum of equal bags"], CASES["max of bags"], CASES["a row each"], CASES["mean of bags"]]
    ours, torchs = rows(torch.device("cpu")), rows(torch.device("cpu"))
    found = torch.cat([one.reshape(-1) for one in pool(bags, [ours] * len(bags))])
    expected = torch.cat([one.of(torchs).reshape(-1) for one in bags])
    assert torch.equal(found, expected)
    assert torch.allclose(gradient(found, ours), gradient(expected, torchs), atol=1e-5)


def test_rows_that_the_loss_does_not_depend_on_have_no_gradient() -> None:
    used, other = rows(torch.device("cpu")), rows(torch.device("cpu"))
    found, _ = pool([CASES["sum of equal bags"]] * 2, [used, other])
    gradient(found, used)
    assert other.grad is None


def test_a_second_derivative_is_refused() -> None:
    given = rows(torch.device("cpu"))
    (found,) = pool([CASES["sum of equal bags"]], [given])
    (first,) = torch.autograd.grad(found.square().sum(), given, create_graph=True)
    second: Any = first.square().sum()
    with pytest.raises(RuntimeError, match="once_differentiable"):
        second.backward()
