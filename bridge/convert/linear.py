"""Layers with a weight that is no convolution's: matrices, tables of rows, numbers of their own for elements."""

from __future__ import annotations

import torch
from torch import Tensor, linalg, nn

from bridge.convert import torch_modules
from bridge.convert.layer import FieldError, Layer
from bridge.convert.torch_modules import Function


def linear(layer: Layer) -> nn.Module:
    """Return a matrix, with or without a bias."""
    weight = layer.weight()
    if weight.dim() != 2:
        raise FieldError(f"weight has {weight.dim()} dimensions, 2 were expected")
    made = nn.Linear(weight.shape[1], weight.shape[0], bias=layer.has("bias"), device="meta")
    made.weight = weight
    made.register_parameter("bias", layer.parameter("bias"))
    return made


def lookup(layer: Layer) -> nn.Module:
    """Rows by their index, which counts from 0 unless the conversion's base is 1; no gradient for the padding's row."""
    weight = layer.weight()
    padding = layer.integer("paddingValue", 0) - 1
    kind = torch_modules.Embedding if layer.conversion.base == 1 else nn.Embedding
    made = kind(
        weight.shape[0],
        weight.shape[1],
        padding_idx=padding if 0 <= padding < weight.shape[0] else None,
        max_norm=layer.get("maxNorm"),
        norm_type=layer.get("normType", 2),
        scale_grad_by_freq=bool(layer.get("shouldScaleGradByFreq", False)),
        device="meta",
    )
    made.weight = weight
    return made


def bilinear(layer: Layer) -> nn.Module:
    """Return a product of two inputs through a matrix for each output."""
    weight = layer.weight()
    made = nn.Bilinear(
        weight.shape[1], weight.shape[2], weight.shape[0], bias=layer.has("bias"), device="meta"
    )
    made.weight = weight
    made.register_parameter("bias", layer.parameter("bias"))
    return OfPair(made)


class OfPair(torch_modules.Around):
    """A module of two inputs, for a list of two."""

    def forward(self, x: list[Tensor]) -> Tensor:
        """Return what the module makes of the two."""
        output: Tensor = self.module(x[0], x[1])
        return output


def prelu(layer: Layer) -> nn.Module:
    """Return a learned slope below zero, for all elements or for each plane."""
    weight = layer.weight()
    if layer.integer("nOutputPlane", 0) > 0:
        return Function(prelu_of_planes, {"weight": weight})
    made = nn.PReLU(1, device="meta")
    made.weight = weight
    return made


def prelu_of_planes(x: Tensor, weight: Tensor) -> Tensor:
    """Return a slope for each plane, which is the second dimension of batches and the first of samples."""
    batched = x.dim() == 2 or x.dim() >= 4
    slopes = weight.view(-1, *(1,) * (x.dim() - (2 if batched else 1)))
    return torch.where(x > 0, x, slopes * x)


def spread(numbers: Tensor, x: Tensor) -> Tensor:
    """Return learned numbers as they stand beside the input: all of them, or the same for each of a batch."""
    if x.numel() == numbers.numel():
        return numbers.view_as(x)
    return numbers if x.dim() == numbers.dim() else numbers.reshape(1, *x.shape[1:])


def scale(x: Tensor, weight: Tensor) -> Tensor:
    """Each element times its number."""
    return x * (weight if weight.numel() == 1 else spread(weight, x))


def shift(x: Tensor, bias: Tensor) -> Tensor:
    """Each element plus its number."""
    return x + (bias if bias.numel() == 1 else spread(bias, x))


def cosine(x: Tensor, weight: Tensor) -> Tensor:
    """Return the cosine between each row and each row of the weight."""
    lengths = linalg.vector_norm(x, 2, -1, keepdim=True) + 1e-12
    cosines: Tensor = x @ weight.t() / lengths / (linalg.vector_norm(weight, 2, 1) + 1e-12)
    return cosines


def euclidean(x: Tensor, weight: Tensor) -> Tensor:
    """Return the distance from each row to each column of the weight."""
    distances: Tensor = linalg.vector_norm(x.unsqueeze(-1) - weight, 2, -2)
    return distances


def weighted_euclidean(x: Tensor, weight: Tensor, diagCov: Tensor) -> Tensor:  # the field's name
    """Return the distance to each column, with a weight for each coordinate."""
    distances: Tensor = linalg.vector_norm((x.unsqueeze(-1) - weight) * diagCov, 2, -2)
    return distances


def weighted(layer: Layer) -> nn.Module:
    """Distances with weights."""
    return Function(weighted_euclidean, {"weight": layer.weight(), "diagCov": layer.parameter("diagCov")})


def length_times_direction(
    v: Tensor, g: Tensor, added: float, least: float, shape: tuple[int, ...], dim: int
) -> Tensor:
    """Return rows as long as `g` says in the directions of `v`, in the shape of a weight: Salimans & Kingma (2016).

    Parameters
    ----------
    v : Tensor of shape (rows, others)
        The directions; squares of their lengths count as `added` more, and lengths as at least `least`.
    g : Tensor of shape (rows, 1)
        The lengths.
    added, least : float
        What keeps the division from zero.
    shape : tuple of int
        The weight's.
    dim : int
        The weight's dimension that the rows are of.
    """
    lengths = (v.square().sum(1, keepdim=True) + added).sqrt().clamp(min=least)
    turned = list(shape)
    turned[0], turned[dim] = turned[dim], turned[0]
    return (g / lengths * v).view(turned).transpose(0, dim)


def linear_weight_norm(layer: Layer) -> nn.Module:
    """Return a Linear whose rows are learned as directions and lengths."""
    v, g = layer.parameter("v"), layer.parameter("g")
    if v is None or g is None:
        raise FieldError("the fields v and g are needed")
    made = nn.Linear(v.shape[1], v.shape[0], bias=layer.has("bias"), device="meta")
    made.register_parameter("bias", layer.parameter("bias"))
    settings = {"added": 0.0, "least": layer.get("eps", 1e-16), "shape": tuple(v.shape), "dim": 0}
    return torch_modules.WithWeight(made, length_times_direction, {"v": v, "g": g}, **settings)


ROWS = {
    "nn.Add": lambda layer: Function(shift, {"bias": layer.parameter("bias")}),
    "nn.Bilinear": bilinear,
    "nn.CAdd": lambda layer: Function(shift, {"bias": layer.parameter("bias")}),
    "nn.CMul": lambda layer: Function(scale, {"weight": layer.weight()}),
    "nn.Cosine": lambda layer: Function(cosine, {"weight": layer.weight()}),
    "nn.Euclidean": lambda layer: Function(euclidean, {"weight": layer.weight()}),
    "nn.Linear": linear,
    "nn.LinearWeightNorm": linear_weight_norm,
    "nn.LookupTable": lookup,
    "nn.Mul": lambda layer: Function(scale, {"weight": layer.weight()}),
    "nn.PReLU": prelu,
    "nn.WeightedEuclidean": weighted,
}
