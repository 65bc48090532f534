"""Modules that take or give tables: lists, here."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import Any

import torch
from torch import Tensor, nn

from bridge.convert import shape
from bridge.convert.activation import function
from bridge.convert.layer import Layer
from bridge.convert.torch_modules import Function


def alike(x: Sequence[Tensor]) -> list[Tensor]:
    """Return tensors in the first one's shape: as many elements are enough for Torch7."""
    return [other if other.shape == x[0].shape else other.reshape(x[0].shape) for other in x]


def add(x: Sequence[Tensor] | Tensor) -> Tensor:
    """Return the sum of a list's tensors."""
    return reduce(torch.add, alike(x)) if not isinstance(x, Tensor) else x


def subtract(x: Sequence[Tensor]) -> Tensor:
    """Return the first less the second."""
    first, second = alike(x)
    return first - second


def multiply(x: Sequence[Tensor]) -> Tensor:
    """Return the product of a list's tensors."""
    return reduce(torch.mul, alike(x))


def divide(x: Sequence[Tensor]) -> Tensor:
    """Return the first divided by the second."""
    first, second = alike(x)
    return first / second


def highest(x: Sequence[Tensor]) -> Tensor:
    """Return the largest of a list's tensors, place by place; the first of equals takes the gradient."""
    return reduce(lambda best, other: torch.where(other > best, other, best), x)


def lowest(x: Sequence[Tensor]) -> Tensor:
    """Return the smallest of a list's tensors, place by place; the first of equals takes the gradient."""
    return reduce(lambda best, other: torch.where(other < best, other, best), x)


def join(x: Sequence[Tensor], dim: int, dims: int | None) -> Tensor:
    """Return a list's tensors one after the other."""
    return torch.cat(tuple(x), shape.dimension(x[0], dim, dims))


def entry(x: Any, index: int | str) -> Any:
    """Return one entry of a list (from 1, or from the end), or of a dict."""
    if isinstance(index, str):
        return x[index]
    return x[index - 1 if index > 0 else index]


def entries(x: Sequence[Any], offset: int, length: int) -> list[Any]:
    """Return some entries of a list."""
    return list(x[offset - 1 : offset - 1 + length])


def flatten(x: Any) -> list[Any]:
    """Return the tensors of a nested list."""
    return [x] if isinstance(x, Tensor) else [leaf for inner in x for leaf in flatten(inner)]


def zip_tables(x: Sequence[Sequence[Any]]) -> list[list[Any]]:
    """Return the firsts of each list, the seconds, ..."""
    return [list(together) for together in zip(*x, strict=True)]


def one_to_many(x: Sequence[Any]) -> list[list[Any]]:
    """Return the first with each entry of the second."""
    return [[x[0], other] for other in x[1]]


def dot(x: Sequence[Tensor]) -> Tensor:
    """Return the scalar products of rows."""
    product = (x[0] * x[1]).sum(-1)
    return product.reshape(1) if product.dim() == 0 else product


def cosine(x: Sequence[Tensor]) -> Tensor:
    """Return the cosines between rows."""
    a, b = x
    lengths = (a.square().sum(-1) + 1e-12) * (b.square().sum(-1) + 1e-12)
    cosines = (a * b).sum(-1) / lengths.sqrt()
    return cosines.reshape(1) if cosines.dim() == 0 else cosines


def distance(x: Sequence[Tensor], norm: float) -> Tensor:
    """Return the p-norms of the differences of rows."""
    lengths: Tensor = torch.linalg.vector_norm(x[0] - x[1], norm, -1)
    return lengths.reshape(1) if lengths.dim() == 0 else lengths


def matrices(x: Sequence[Tensor], left: bool, right: bool) -> Tensor:
    """Return the products of matrices, transposed first where asked."""
    a, b = x
    return (a.mT if left else a) @ (b.mT if right else b)


def matrix_vector(x: Sequence[Tensor], turned: bool) -> Tensor:
    """Return the products of matrices and vectors."""
    matrix, vector = x
    return ((matrix.mT if turned else matrix) @ vector.unsqueeze(-1)).squeeze(-1)


def index(x: Sequence[Tensor], dim: int, base: int) -> Tensor:
    """Return the places of a dimension that the second names."""
    return x[0].index_select(dim - 1, x[1].long() - base)


def indexed(layer: Layer) -> nn.Module:
    """Places by their index."""
    return Function(index, dim=layer.integer("dimension"), base=layer.conversion.base)


def masked(x: Sequence[Tensor]) -> Tensor:
    """Return the elements of the first where the second is not 0."""
    return x[0].masked_select(x[1].bool())


def mixture(x: Sequence[Any], dim: int | None) -> Tensor:
    """Return the sum of experts, each times its number in the first of the two."""
    gates, experts = x
    gate_dim = gates.dim() - 1
    parts = experts.unbind(gate_dim if dim is None else dim - 1) if isinstance(experts, Tensor) else experts
    weights = gates.unbind(gate_dim)
    return add(
        [
            expert * weight.reshape(-1, *(1,) * (expert.dim() - 1))
            for expert, weight in zip(parts, weights, strict=True)
        ]
    )


def alone(x: Any) -> list[Any]:
    """Return a list of one."""
    return [x]


def spread_add(x: Sequence[Any]) -> Any:
    """Return the first added to each of the second."""
    return [other + x[0] for other in x[1]]


ROWS = {
    "nn.CAddTable": function(add),
    "nn.CAddTensorTable": function(spread_add),
    "nn.CDivTable": function(divide),
    "nn.CMaxTable": function(highest),
    "nn.CMinTable": function(lowest),
    "nn.CMulTable": function(multiply),
    "nn.CSubTable": function(subtract),
    "nn.CosineDistance": function(cosine),
    "nn.DotProduct": function(dot),
    "nn.FlattenTable": function(flatten),
    "nn.Index": indexed,
    "nn.JoinTable": shape.along(join),
    "nn.MM": function(matrices, left=("transA", False), right=("transB", False)),
    "nn.MV": function(matrix_vector, turned=("trans", False)),
    "nn.MaskedSelect": function(masked),
    "nn.MixtureTable": function(mixture, dim=("dim", None)),
    "nn.NarrowTable": function(entries, offset=("offset", 1), length=("length", 1)),
    "nn.PairwiseDistance": function(distance, norm=("norm", 2)),
    "nn.SelectTable": function(entry, index=("index", 1)),
    "nn.ZipTable": function(zip_tables),
    "nn.ZipTableOneToMany": function(one_to_many),
    "nngraph.JustElement": function(entry, index=("index", 1)),
    "nngraph.JustTable": function(alone),
}
