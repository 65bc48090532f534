"""Modules of servers beside those of torch that begin with the same rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import torch

import pyps
from tests.pyps.cluster import Cluster

NUM, DIM = 12, 6
# Ids of a range, and the same as any numbers.
SPACES: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "range": lambda ids: ids,
    "any": lambda ids: ids * (1 << 40) - 5,
}
Optimize = Callable[[Any], torch.optim.Optimizer]


def same(ours: torch.Tensor, theirs: torch.Tensor, tolerance: float = 1e-6) -> None:
    torch.testing.assert_close(ours, theirs, rtol=tolerance, atol=tolerance)


@contextmanager
def worker(nodes: int = 1) -> Iterator[pyps.Worker]:
    """A worker of the first of some nodes."""
    with Cluster(nodes, 1) as cluster, cluster.nodes[0].worker() as kv:
        yield kv


def num_of(space: str) -> int | None:
    return NUM if space == "range" else None


def rows_of(module: Any, space: str = "range") -> torch.Tensor:
    """All rows that the server has for ids 0 to NUM - 1."""
    found: torch.Tensor = module.kv.pull(SPACES[space](torch.arange(NUM)))
    return found


def twin(module: Any, space: str = "range", **options: Any) -> Any:
    """A module of torch of the same kind and with the same rows."""
    rows = rows_of(module, space)
    theirs = getattr(torch.nn, type(module).__name__)(NUM, DIM, dtype=rows.dtype, **options)
    theirs.load_state_dict({"weight": rows})
    return theirs


def batches(steps: int = 4, shape: Sequence[int] = (5, 8)) -> Iterator[torch.Tensor]:
    """Ids of which each batch has all, so that optimizers of torch, which step with all rows, do as the server's."""
    generator = torch.Generator().manual_seed(3)
    size = int(torch.tensor(shape).prod())
    for _ in range(steps):
        ids = torch.cat((torch.arange(NUM), torch.randint(NUM, (size - NUM,), generator=generator)))
        yield ids[torch.randperm(size, generator=generator)].view(*shape)


def train_both(
    ours: Any,
    theirs: Any,
    make: Optimize,
    inputs: Sequence[tuple[torch.Tensor, tuple[Any, ...]]],
    space: str = "range",
    tolerance: float = 1e-6,
) -> None:
    """Make steps with both on the same inputs; fail where outputs or rows differ."""
    optimizer = make(theirs.parameters())
    for ids, others in inputs:
        optimizer.zero_grad()
        expected = theirs(ids, *others)
        found = ours(SPACES[space](ids), *others)
        same(found.to(expected.dtype), expected, tolerance)
        factors = torch.linspace(-1, 1, expected.numel()).view(expected.shape)
        for out in (found, expected):
            (out * factors + out.square() / 10).sum().backward()
        optimizer.step()
        same(rows_of(ours, space).to(theirs.weight.dtype), theirs.weight.detach(), tolerance)
