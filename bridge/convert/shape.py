"""Other shapes, parts of a tensor, and what is left of a dimension."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from bridge.convert.layer import Layer
from bridge.convert.torch_modules import Function


def dimension(x: Tensor, dim: int, dims: int | None) -> int:
    """Return Torch7's dimension from 0: a negative one counts from the last, others move by one behind a batch."""
    if dim < 0:
        return x.dim() + dim
    return dim if dims is not None and x.dim() == dims + 1 else dim - 1


def along(
    call: Callable[..., Any], field: str = "dimension", dims: str = "nInputDims", **more: str
) -> Callable[[Layer], nn.Module]:
    """Return the converter of a function with a dimension that a batch moves, and further fields."""

    def converter(layer: Layer) -> nn.Module:
        settings = {setting: layer.get(name) for setting, name in more.items()}
        return Function(call, dim=layer.integer(field, 1), dims=layer.get(dims), **settings)

    return converter


def view(x: Tensor, size: tuple[int, ...], dims: int | None) -> Tensor:
    """Return the elements in another shape; what the sizes leave over is the batch."""
    inner = x.dim() if dims is None else dims
    batch = math.prod(x.shape[: max(x.dim() - inner, 0)])
    if -1 not in size:
        batch *= math.prod(x.shape[max(x.dim() - inner, 0) :]) // math.prod(size)
    if batch == 1 and (dims is None or x.dim() <= dims):
        return x.reshape(size)
    return x.reshape(batch, *size)


def viewed(layer: Layer) -> nn.Module:
    """Another shape."""
    return Function(view, size=layer.sizes("size"), dims=layer.get("numInputDims"))


def reshape(x: Tensor, size: tuple[int, ...], batch: bool | None) -> Tensor:
    """Return the elements in another shape, for each of a batch where there is one."""
    if batch is None:
        batch = not (x.numel() == math.prod(size) and x.shape[0] != 1)
    return x.reshape(x.shape[0], *size) if batch else x.reshape(size)


def reshaped(layer: Layer) -> nn.Module:
    """Another shape."""
    return Function(reshape, size=layer.sizes("size"), batch=layer.get("batchMode"))


def collapse(x: Tensor, dims: int) -> Tensor:
    """Return all dimensions of a sample as one."""
    return x.flatten(1) if x.dim() > dims else x.flatten()


def transpose(x: Tensor, pairs: tuple[tuple[int, int], ...], dims: int | None) -> Tensor:
    """Return the tensor with pairs of dimensions exchanged, one after the other."""
    moved = 1 if dims is not None and x.dim() == dims + 1 else 0
    for one, other in pairs:
        x = x.transpose(one - 1 + moved, other - 1 + moved)
    return x


def transposed(layer: Layer) -> nn.Module:
    """Dimensions exchanged."""
    pairs = tuple((int(one), int(other)) for one, other in layer.get("permutations", ()))
    return Function(transpose, pairs=pairs, dims=layer.get("numInputDims"))


def squeeze(x: Tensor, dim: int | None, dims: int | None) -> Tensor:
    """Return the tensor without dimensions of size 1, or without one."""
    if dim is None:
        return x.reshape(1) if x.numel() == 1 else x.squeeze()
    moved = 1 if dims is not None and x.dim() == dims + 1 else 0
    return x.squeeze(dim - 1 + moved) if x.dim() > 1 else x


def squeezed(layer: Layer) -> nn.Module:
    """Dimensions left out."""
    return Function(squeeze, dim=layer.get("dim"), dims=layer.get("numInputDims"))


def unsqueeze(x: Tensor, dim: int, dims: int | None) -> Tensor:
    """Return the tensor with a dimension of size 1 put in."""
    return x.unsqueeze(x.dim() - (x.dim() if dims is None else dims) + dim - 1)


def replicate(x: Tensor, count: int, dim: int, dims: int | None) -> Tensor:
    """Return the tensor some times along a new dimension."""
    place = dim - 1 + (0 if dims is None else x.dim() - dims)
    x = x.unsqueeze(place)
    return x.expand(*(count if d == place else -1 for d in range(x.dim())))


def replicated(layer: Layer) -> nn.Module:
    """Repeated along a new dimension."""
    count, dim = layer.integer("nfeatures"), layer.integer("dim", 1)
    return Function(replicate, count=count, dim=dim, dims=layer.get("ndim"))


def narrow(x: Tensor, dim: int, index: int, length: int) -> Tensor:
    """Return `length` places of a dimension from `index` (from 1) on, as nn.Narrow means negative ones."""
    place = dim - 1 if dim > 0 else x.dim() + dim
    size = x.shape[place]
    if length < 0:
        length += size - index + 2
    return x.narrow(place, 0, size - length) if index < 0 else x.narrow(place, index - 1, length)


def narrowed(layer: Layer) -> nn.Module:
    """Part of a dimension."""
    dim, index = layer.integers(("dimension", "index"))
    return Function(narrow, dim=dim, index=index, length=layer.integer("length", 1))


def select(x: Tensor, dim: int, index: int) -> Tensor:
    """Return one place (from 1, or from the end) of a dimension."""
    return x.select(dim - 1 if dim > 0 else x.dim() + dim, index - 1 if index > 0 else index)


def selected(layer: Layer) -> nn.Module:
    """One place."""
    return Function(select, dim=layer.integer("dimension"), index=layer.integer("index"))


def split(x: Tensor, dim: int, dims: int | None) -> list[Tensor]:
    """Return the slices along a dimension."""
    return list(x.unbind(dimension(x, dim, dims)))


def total(x: Tensor, dim: int, dims: int | None, mean: bool | None, squeeze: bool | None) -> Tensor:
    """Return the sum, or mean, along a dimension."""
    place = dimension(x, dim, dims)
    keep = squeeze is False or x.dim() == 1
    return x.mean(place, keepdim=keep) if mean else x.sum(place, keepdim=keep)


def largest(x: Tensor, dim: int, dims: int | None) -> Tensor:
    """Return the largest element along a dimension, which takes all of the gradient."""
    return x.max(dimension(x, dim, dims), keepdim=x.dim() == 1).values


def smallest(x: Tensor, dim: int, dims: int | None) -> Tensor:
    """Return the smallest element along a dimension, which takes all of the gradient."""
    return x.min(dimension(x, dim, dims), keepdim=x.dim() == 1).values


class Constant(nn.Module):
    """The same tensor whatever the input; for each of a batch if the input has more than `dims` dimensions."""

    value: Tensor

    def __init__(self, value: Tensor, dims: int | None) -> None:
        super().__init__()
        self.register_buffer("value", value)
        self.dims = dims

    def forward(self, x: Tensor) -> Tensor:
        """Return the tensor."""
        value = self.value
        if self.dims is not None and x.dim() > self.dims:
            value = value.expand(x.shape[0], *value.shape)
        return value + x.sum() * 0 if x.requires_grad else value


def constant(layer: Layer) -> nn.Module:
    """Return the same tensor always."""
    return Constant(layer.needed("value").clone(), layer.get("nInputDim"))


def one_hot(x: Tensor, size: int, base: int, dtype: torch.dtype) -> Tensor:
    """Return indices as rows of zeros with a 1 in their place."""
    return functional.one_hot(x.long() - base, size).to(dtype)


def indicators(layer: Layer) -> nn.Module:
    """Rows with a 1."""
    return Function(one_hot, size=layer.integer("outputSize"), base=layer.conversion.base, dtype=layer.dtype)


ROWS = {
    "nn.Collapse": lambda layer: Function(collapse, dims=layer.integer("nInputDim")),
    "nn.Constant": constant,
    "nn.Max": along(largest),
    "nn.Mean": along(total, mean="sizeAverage", squeeze="squeeze"),
    "nn.Min": along(smallest),
    "nn.Narrow": narrowed,
    "nn.OneHot": indicators,
    "nn.Replicate": replicated,
    "nn.Reshape": reshaped,
    "nn.Select": selected,
    "nn.SplitTable": along(split),
    "nn.Squeeze": squeezed,
    "nn.Sum": along(total, mean="sizeAverage", squeeze="squeeze"),
    "nn.Transpose": transposed,
    "nn.Unsqueeze": along(unsqueeze, "pos", "numInputDims"),
    "nn.View": viewed,
    "OneHot": indicators,  # char-rnn's own class
}
