"""Pooling, enlarging and padding of images and volumes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from bridge.convert.convolution import fields
from bridge.convert.layer import Layer
from bridge.convert.torch_modules import Function


def maximum(kind: Callable[..., nn.Module], letters: str) -> Callable[[Layer], nn.Module]:
    """Return the converter of maxima of windows."""

    def converter(layer: Layer) -> nn.Module:
        return kind(
            layer.integers(fields("k", letters)),
            steps(layer, letters),
            layer.integers(fields("pad", letters), 0),
            layer.integers(fields("dilation", letters), 1),
            ceil_mode=bool(layer.get("ceil_mode", False)),
        )

    return converter


def average(kind: Callable[..., nn.Module], letters: str) -> Callable[[Layer], nn.Module]:
    """Return the converter of means of windows (sums, where `divide` is false)."""

    def converter(layer: Layer) -> nn.Module:
        excluded = "EXCLUDE" in str(layer.get("mode", ""))
        return kind(
            layer.integers(fields("k", letters)),
            steps(layer, letters),
            layer.integers(fields("pad", letters), 0),
            ceil_mode=bool(layer.get("ceil_mode", False)),
            count_include_pad=bool(layer.get("count_include_pad", not excluded)),
            divisor_override=None if layer.get("divide", True) else 1,
        )

    return converter


def steps(layer: Layer, letters: str) -> tuple[int, ...]:
    """Return how far apart windows are."""
    return tuple(layer.integer(step, 1) for step in fields("d", letters))


def adaptive(kind: Callable[..., nn.Module]) -> Callable[[Layer], nn.Module]:
    """Return the converter of as many windows as the output has places."""
    return lambda layer: kind(layer.integers(("H", "W")))


def padding(kind: Callable[[Any], nn.Module], *sides: str) -> Callable[[Layer], nn.Module]:
    """Return the converter of borders."""
    return lambda layer: kind(layer.integers(sides, 0))


def nearest(layer: Layer) -> nn.Module:
    """Each pixel repeated."""
    return nn.UpsamplingNearest2d(scale_factor=layer.integer("scale_factor"))


def bilinear(layer: Layer) -> nn.Module:
    """Linear between pixels, the corners stay."""
    if layer.has("scale_factor"):
        return nn.UpsamplingBilinear2d(scale_factor=layer.integer("scale_factor"))
    return nn.UpsamplingBilinear2d(size=layer.integers(("oheight", "owidth")))  # type: ignore[arg-type]


def enlarged(layer: Layer) -> nn.Module:
    """Images or volumes, nearest or linear."""
    linear = layer.get("mode", "nearest") == "linear"
    return Function(enlarge, factor=layer.integer("scale_factor"), linear=linear)


def enlarge(x: Tensor, factor: int, linear: bool) -> Tensor:
    """Return images or volumes some times as large."""
    axes = 3 if x.dim() == 5 else 2
    batch = x if x.dim() == axes + 2 else x.unsqueeze(0)
    if linear:
        mode = "trilinear" if axes == 3 else "bilinear"
        output = functional.interpolate(batch, scale_factor=factor, mode=mode, align_corners=True)
    else:
        output = functional.interpolate(batch, scale_factor=factor)
    return output if x.dim() == axes + 2 else output.squeeze(0)


def subsampled(layer: Layer) -> nn.Module:
    """Return sums of windows, with a weight and a bias for each plane."""
    return Function(
        subsample,
        {"weight": layer.weight(), "bias": layer.parameter("bias")},
        kernel=layer.integers(("kH", "kW")),
        stride=steps(layer, "HW"),
    )


def subsample(
    x: Tensor, weight: Tensor, bias: Tensor, kernel: tuple[int, int], stride: tuple[int, int]
) -> Tensor:
    """Return the sums of windows, times a weight and plus a bias for each plane."""
    sums = functional.avg_pool2d(x, kernel, stride, divisor_override=1)
    return sums * weight.view(-1, 1, 1) + bias.view(-1, 1, 1)


def feature_norms(layer: Layer) -> nn.Module:
    """Norms of neighbouring features."""
    return Function(
        feature_norm,
        width=layer.integer("width"),
        stride=layer.integer("stride"),
        power=layer.get("power"),
        dim=1 if layer.get("batch_mode", False) else 0,
    )


def feature_norm(x: Tensor, width: int, stride: int, power: float, dim: int) -> Tensor:
    """Return the p-norm of each `width` features in a row."""
    return x.unfold(dim, width, stride).pow(power).sum(-1).pow(1 / power)


def shuffled(layer: Layer) -> nn.Module:
    """Planes as pixels."""
    return nn.PixelShuffle(layer.integer("upscaleFactor"))


def padded_by(layer: Layer) -> nn.Module:
    """Numbers before or behind along one dimension."""
    return Function(
        pad,
        dim=layer.integer("dim") - 1,
        count=layer.integer("pad"),
        dims=layer.get("nInputDim"),
        value=layer.get("value", 0),
        index=layer.integer("index", 1),
    )


def pad(x: Tensor, dim: int, count: int, dims: int | None, value: float, index: int) -> Tensor:
    """Put |count| times a value in before the element `index`, or for a positive count as far from the end."""
    if dims is not None and x.dim() != dims:
        dim += 1
    before = x.shape[dim] - index + 1 if count > 0 else index - 1
    shape = [abs(count) if d == dim else size for d, size in enumerate(x.shape)]
    parts = [x.narrow(dim, 0, before), x.new_full(shape, value), x.narrow(dim, before, x.shape[dim] - before)]
    return torch.cat(parts, dim)


SIDES = ("pad_l", "pad_r", "pad_t", "pad_b")

ROWS = {
    "nn.FeatureLPPooling": feature_norms,
    "nn.Padding": padded_by,
    "nn.PixelShuffle": shuffled,
    "nn.SpatialAdaptiveAveragePooling": adaptive(nn.AdaptiveAvgPool2d),
    "nn.SpatialAdaptiveMaxPooling": adaptive(nn.AdaptiveMaxPool2d),
    "nn.SpatialAveragePooling": average(nn.AvgPool2d, "HW"),
    "nn.SpatialDilatedMaxPooling": maximum(nn.MaxPool2d, "HW"),
    "nn.SpatialMaxPooling": maximum(nn.MaxPool2d, "HW"),
    "nn.SpatialReflectionPadding": padding(nn.ReflectionPad2d, *SIDES),
    "nn.SpatialReplicationPadding": padding(nn.ReplicationPad2d, *SIDES),
    "nn.SpatialSubSampling": subsampled,
    "nn.SpatialUpSamplingBilinear": bilinear,
    "nn.SpatialUpSamplingNearest": nearest,
    "nn.SpatialZeroPadding": padding(nn.ZeroPad2d, *SIDES),
    "nn.UpSampling": enlarged,
    "nn.VolumetricAveragePooling": average(nn.AvgPool3d, "THW"),
    "nn.VolumetricDilatedMaxPooling": maximum(nn.MaxPool3d, "THW"),
    "nn.VolumetricMaxPooling": maximum(nn.MaxPool3d, "THW"),
    "nn.VolumetricReplicationPadding": padding(
        nn.ReplicationPad3d, "pleft", "pright", "ptop", "pbottom", "pfront", "pback"
    ),
}
