"""Functions of each element, and over the classes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy
import torch
from torch import Tensor, nn

from bridge.convert import torch_modules
from bridge.convert.layer import Layer
from bridge.convert.torch_modules import Function


def function(call: Callable[..., Any], **fields: Any) -> Callable[[Layer], nn.Module]:
    """Return the converter to a `Function` whose settings are fields: setting=(field, default)."""

    def converter(layer: Layer) -> nn.Module:
        return Function(call, **{name: layer.get(*field) for name, field in fields.items()})

    return converter


def plain(module: Callable[[], nn.Module]) -> Callable[[Layer], nn.Module]:
    """Return the converter to a module without settings."""
    return lambda _layer: module()


def threshold(layer: Layer) -> nn.Module:
    """X above a threshold, else a value; at 0 a ReLU."""
    limit = layer.get("threshold", 0 if layer.typename.endswith("ReLU") else 1e-6)
    value = layer.get("val", 0)
    return nn.ReLU() if limit == value == 0 else nn.Threshold(limit, value)


def hardtanh(layer: Layer) -> nn.Module:
    """Cut off on both sides; files of early versions have no limits."""
    return nn.Hardtanh(layer.get("min_val", -1), layer.get("max_val", 1))


def leaky(layer: Layer) -> nn.Module:
    """Return a small slope below zero."""
    return nn.LeakyReLU(layer.get("negval", 0.01))


def elu(layer: Layer) -> nn.Module:
    """Return an exponential below zero."""
    return nn.ELU(layer.get("alpha", 1))


def softplus(layer: Layer) -> nn.Module:
    """Return a smooth ReLU."""
    return nn.Softplus(layer.get("beta", 1), layer.get("threshold", 20))


def hardshrink(layer: Layer) -> nn.Module:
    """Zero near zero."""
    return nn.Hardshrink(layer.get("lambda", 0.5))


def softshrink(layer: Layer) -> nn.Module:
    """Return moved towards zero."""
    return nn.Softshrink(layer.get("lambda", 0.5))


def rrelu(layer: Layer) -> nn.Module:
    """Return a random slope below zero; the mean slope in evaluation."""
    return nn.RReLU(layer.get("lower", 1 / 8), layer.get("upper", 1 / 3))


def clipped(layer: Layer) -> nn.Module:
    """Return a ReLU with a ceiling."""
    return nn.Hardtanh(0, layer.get("ceiling", 1))


def glu(layer: Layer) -> nn.Module:
    """One half times the sigmoid of the other."""
    return nn.GLU(layer.integer("dim", 0) - 1)


def dropout(layer: Layer) -> nn.Module | None:
    """Elements at random; the first version scaled in evaluation, and some are random there too: those stay Lua's."""
    if layer.get("stochastic_inference", False):
        return None
    if layer.get("v2", False):
        return nn.Dropout(layer.get("p", 0.5))
    return ScaledInEvaluation(layer.get("p", 0.5), 0)


def planes(dims: int) -> Callable[[Layer], nn.Module | None]:
    """Return the converter of a dropout of whole planes of so many dimensions."""

    def converter(layer: Layer) -> nn.Module | None:
        stochastic = layer.get("stochastic_inference", False)
        return None if stochastic else ScaledInEvaluation(layer.get("p", 0.5), dims)

    return converter


class ScaledInEvaluation(nn.Module):
    """A dropout that scales in evaluation by 1 - p, where PyTorch's scale in training by 1 / (1 - p)."""

    def __init__(self, p: float, dims: int) -> None:
        super().__init__()
        self.p, self.dims = p, dims

    def forward(self, x: Tensor) -> Tensor:
        """Return the input with what was drawn at zero: elements, or planes of `dims` dimensions."""
        if not self.training:
            return x * (1 - self.p)
        kept = [*x.shape[: x.dim() - self.dims], *(1,) * self.dims]
        return x * x.new_empty(kept).bernoulli_(1 - self.p)

    def extra_repr(self) -> str:
        """Return the settings."""
        return f"p={self.p}, dims={self.dims}"


class WhiteNoise(nn.Module):
    """The input, with normal noise added in training."""

    def __init__(self, mean: float, std: float) -> None:
        super().__init__()
        self.mean, self.std = mean, std

    def forward(self, x: Tensor) -> Tensor:
        """Return the input, with noise in training."""
        return x + torch.randn_like(x) * self.std + self.mean if self.training else x


def noise(layer: Layer) -> nn.Module:
    """Return normal noise in training."""
    return WhiteNoise(layer.get("mean", 0), layer.get("std", 0.1))


def power(x: Tensor, exponent: float) -> Tensor:
    """Each element to a power."""
    return x.pow(exponent)


def plus(x: Tensor, constant: float) -> Tensor:
    """Each element plus a number."""
    return x + constant


def times(x: Tensor, constant: float) -> Tensor:
    """Each element times a number."""
    return x * constant


def crelu(x: Tensor, dims: int) -> Tensor:
    """Return ReLU of x and of -x, one behind the other along the first dimension of a sample."""
    dim = 0 if x.dim() == dims else 1
    return torch.cat([x, -x], dim).relu()


def copy(layer: Layer) -> nn.Module:
    """Return a copy in another type: that of the layer's output."""
    output = layer.get("output")
    typed = torch.from_numpy(output) if isinstance(output, numpy.ndarray) else output
    dtype = typed.dtype if isinstance(typed, Tensor) else None
    return Function(torch_modules.cast, dtype=dtype)


ROWS = {
    "nn.Abs": function(torch.abs),
    "nn.AddConstant": function(plus, constant=("constant_scalar", 0)),
    "nn.CReLU": function(crelu, dims=("nInputDims", 1)),
    "nn.Clamp": hardtanh,
    "nn.Contiguous": plain(nn.Identity),
    "nn.Copy": copy,
    "nn.Dropout": dropout,
    "nn.ELU": elu,
    "nn.Exp": function(torch.exp),
    "nn.GatedLinearUnit": glu,
    "nn.HardShrink": hardshrink,
    "nn.HardTanh": hardtanh,
    "nn.Identity": plain(nn.Identity),
    "nn.LeakyReLU": leaky,
    "nn.Log": function(torch.log),
    "nn.LogSigmoid": plain(nn.LogSigmoid),
    "nn.LogSoftMax": plain(lambda: torch_modules.LogSoftmax(-1)),
    "nn.MulConstant": function(times, constant=("constant_scalar", 1)),
    "nn.Power": function(power, exponent=("pow", 1)),
    "nn.RReLU": rrelu,
    "nn.ReLU": threshold,
    "nn.ReLU6": plain(nn.ReLU6),
    "nn.Sigmoid": plain(nn.Sigmoid),
    "nn.SoftMax": plain(lambda: torch_modules.Softmax(-1)),
    "nn.SoftMin": plain(lambda: torch_modules.Softmin(-1)),
    "nn.SoftPlus": softplus,
    "nn.SoftShrink": softshrink,
    "nn.SoftSign": plain(nn.Softsign),
    "nn.SpatialDropout": planes(2),
    "nn.SpatialLogSoftMax": plain(lambda: nn.LogSoftmax(-3)),
    "nn.SpatialSoftMax": plain(lambda: nn.Softmax(-3)),
    "nn.Sqrt": function(torch.sqrt),
    "nn.Square": function(torch.square),
    "nn.Tanh": plain(nn.Tanh),
    "nn.TanhShrink": plain(nn.Tanhshrink),
    "nn.Threshold": threshold,
    "nn.VolumetricDropout": planes(3),
    "nn.WhiteNoise": noise,
    "cudnn.ClippedReLU": clipped,
}
