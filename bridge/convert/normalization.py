"""Means and deviations, norms, and neighbourhoods of pixels."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from bridge.convert.layer import Layer
from bridge.convert.torch_modules import Function


class ByAverages(nn.modules.batchnorm._BatchNorm):
    """A batch normalisation that takes one sample as Torch7 does: by the running averages, which stay as they are.

    In evaluation the sample may lack the dimension of the batch; the output has it.
    """

    dimensions: int

    def forward(self, x: Tensor) -> Tensor:
        """Return the normalised batch."""
        if not self.training and x.dim() == self.dimensions - 1:
            x = x.unsqueeze(0)
        if self.training and x.shape[0] == 1:
            mean, variance = self.running_mean, self.running_var
            return functional.batch_norm(x, mean, variance, self.weight, self.bias, False, 0, self.eps)
        return super().forward(x)


class BatchNorm1d(ByAverages, nn.BatchNorm1d):
    """A batch of vectors."""

    dimensions = 2


class BatchNorm2d(ByAverages, nn.BatchNorm2d):
    """A batch of images."""

    dimensions = 4


class BatchNorm3d(ByAverages, nn.BatchNorm3d):
    """A batch of volumes."""

    dimensions = 5


def batch(kind: Callable[..., Any]) -> Callable[[Layer], nn.Module]:
    """Return the converter of batch normalisations."""

    def converter(layer: Layer) -> nn.Module:
        mean, eps = layer.needed("running_mean"), layer.get("eps", 1e-5)
        made = kind(mean.numel(), eps, layer.get("momentum", 0.1), layer.has("weight"), device="meta")
        made.register_parameter("weight", layer.parameter("weight"))
        made.register_parameter("bias", layer.parameter("bias"))
        made.running_mean = layer.buffer("running_mean")
        made.running_var = variance(layer, eps)
        made.num_batches_tracked = torch.zeros((), dtype=torch.long)
        return made  # type: ignore[no-any-return]

    return converter


def variance(layer: Layer, eps: float) -> Tensor | None:
    """Return the running variance; files of the first version have 1 / sqrt(variance + eps) as running_std."""
    if layer.tensor("running_var") is not None:
        return layer.buffer("running_var")
    return layer.needed("running_std").pow(-2) - eps


def across_planes(layer: Layer) -> nn.Module:
    """Divided by a sum over neighbouring planes; of an even size, Torch7 takes one plane more than PyTorch."""
    size, alpha = layer.integer("size"), layer.get("alpha", 1e-4)
    beta, k = layer.get("beta", 0.75), layer.get("k", layer.get("K", 1))
    if size % 2:
        return nn.LocalResponseNorm(size, alpha, beta, k)
    planes = 2 * ((size - 1) // 2) + 1
    return nn.LocalResponseNorm(planes, alpha * planes / size, beta, k)


def normalize(x: Tensor, p: float, eps: float) -> Tensor:
    """Return rows (or a vector) divided by their p-norm."""
    if p == float("inf"):
        return x / (x.abs().amax(-1, keepdim=True) + eps)
    return x / (x.abs().pow(p).sum(-1, keepdim=True) + eps).pow(1 / p)


def normalized(layer: Layer) -> nn.Module:
    """Rows divided by their norm."""
    return Function(normalize, p=layer.get("p", 2), eps=layer.get("eps", 1e-10))


class Neighbourhood(nn.Module):
    """The weighted mean of each pixel's neighbourhood in all planes, with less of it at the border."""

    kernel: Tensor

    def __init__(self, kernel: Tensor, planes: int) -> None:
        super().__init__()
        self.planes = planes
        self.register_buffer("kernel", kernel if kernel.dim() == 2 else torch.outer(kernel, kernel))

    def sums(self, x: Tensor) -> Tensor:
        """Return the weighted sums, one plane for all."""
        rows, columns = self.kernel.shape
        kernel = self.kernel.expand(1, x.shape[-3], rows, columns)
        sides = (columns // 2, (columns - 1) // 2, rows // 2, (rows - 1) // 2)
        return functional.conv2d(functional.pad(x, sides), kernel)


class Subtractive(Neighbourhood):
    """Each pixel less its neighbourhood's mean."""

    def forward(self, x: Tensor) -> Tensor:
        """Return the differences."""
        return x - self.sums(x) / self.sums(torch.ones_like(x))


class Divisive(Neighbourhood):
    """Each pixel divided by its neighbourhood's deviation, which counts as at least a threshold."""

    def __init__(self, kernel: Tensor, planes: int, threshold: float, value: float) -> None:
        super().__init__(kernel, planes)
        self.threshold, self.value = threshold, value

    def forward(self, x: Tensor) -> Tensor:
        """Return the quotients."""
        deviations = self.sums(x.square()).sqrt() / self.sums(torch.ones_like(x))
        return x / functional.threshold(deviations, self.threshold, self.value)


def subtractive(layer: Layer) -> nn.Module:
    """Less the neighbourhood's mean."""
    return Subtractive(layer.needed("kernel").clone(), layer.integer("nInputPlane", 1))


def divisive(layer: Layer) -> nn.Module:
    """Divided by the neighbourhood's deviation."""
    limit = layer.get("threshold", 1e-4)
    kernel, planes = layer.needed("kernel").clone(), layer.integer("nInputPlane", 1)
    return Divisive(kernel, planes, limit, layer.get("thresval", limit))


def contrastive(layer: Layer) -> nn.Module:
    """One behind the other."""
    first, second = (Layer(part, layer.conversion) for part in layer.get("normalizer").fields()["modules"])
    return nn.Sequential(subtractive(first), divisive(second))


ROWS = {
    "cudnn.BatchNormalization": batch(nn.BatchNorm1d),  # one sample has its own statistics there
    "cudnn.SpatialBatchNormalization": batch(nn.BatchNorm2d),
    "cudnn.VolumetricBatchNormalization": batch(nn.BatchNorm3d),
    "nn.BatchNormalization": batch(BatchNorm1d),
    "nn.Normalize": normalized,
    "nn.SpatialBatchNormalization": batch(BatchNorm2d),
    "nn.SpatialContrastiveNormalization": contrastive,
    "nn.SpatialCrossMapLRN": across_planes,
    "nn.SpatialDivisiveNormalization": divisive,
    "nn.SpatialSubtractiveNormalization": subtractive,
    "nn.VolumetricBatchNormalization": batch(BatchNorm3d),
}
