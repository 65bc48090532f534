"""Layers of PyTorch that Torch7 has under another name."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from torch import nn

from bridge.convert import torch_modules
from bridge.convert.lua_builder import Builder, Row, need, numbers, refused, turned


def plain(name: str, *attributes: str) -> Row:
    """Return the row of a layer whose arguments are attributes of the module."""

    def row(builder: Builder, module: Any, _name: str) -> Any:
        return builder.nn[name](*(getattr(module, attribute) for attribute in attributes))

    return row


def linear(builder: Builder, module: nn.Linear, _name: str) -> Any:
    """Make a matrix, for any number of dimensions in front."""
    return builder.nn.Linear(module.in_features, module.out_features, module.bias is not None)


def batch(lua_name: str) -> Row:
    """Return the row of batch normalisations."""

    def row(builder: Builder, module: Any, name: str) -> Any:
        need(module, name, track_running_stats=True)
        if module.momentum is None:
            raise refused(module, name, "momentum=None, a running mean of all batches: give it as a number")
        return builder.nn[lua_name](module.num_features, module.eps, module.momentum, bool(module.affine))

    return row


def maximum(lua_name: str, axes: int, dilated: str) -> Row:
    """Return the row of maxima of windows."""

    def row(builder: Builder, module: Any, name: str) -> Any:
        need(module, name, return_indices=False)
        sizes = [n for v in (module.kernel_size, module.stride, module.padding) for n in turned(v, axes)]
        dilation = turned(module.dilation, axes)
        plain_one = all(one == 1 for one in dilation)
        made = builder.nn[lua_name](*sizes) if plain_one else builder.nn[dilated](*sizes, *dilation)
        return made.ceil() if module.ceil_mode else made

    return row


def average(lua_name: str, axes: int) -> Row:
    """Return the row of means of windows."""

    def row(builder: Builder, module: Any, name: str) -> Any:
        sizes = [n for v in (module.kernel_size, module.stride, module.padding) for n in turned(v, axes)]
        made = builder.nn[lua_name](*sizes)
        if module.ceil_mode:
            made.ceil()
        if not module.count_include_pad:
            made.setCountExcludePad()
        if module.divisor_override is None:
            return made
        made.divide = False
        if module.divisor_override == 1:
            return made
        scaled = builder.nn.MulConstant(1 / module.divisor_override)
        return builder.nn.Sequential().add(made).add(scaled)

    return row


def adaptive(lua_name: str) -> Row:
    """Return the row of as many windows as the output has places."""

    def row(builder: Builder, module: Any, name: str) -> Any:
        sizes = numbers(module.output_size, 2) if module.output_size is not None else [None]
        if None in sizes:
            raise refused(module, name, "None as a size of the output: give it as a number")
        return builder.nn[lua_name](sizes[1], sizes[0])

    return row


def softmax(lua_name: str) -> Row:
    """Return the row of functions over the classes: the second dimension, the last, or the planes."""

    def row(builder: Builder, module: Any, name: str) -> Any:
        made = builder.nn[lua_name]()
        if isinstance(module, torch_modules.Softmax | torch_modules.LogSoftmax | torch_modules.Softmin):
            return made
        if module.dim == -3:
            return builder.nn[f"Spatial{lua_name}"]()
        if module.dim == -1:  # Torch7's takes the planes of what has three dimensions or more
            return builder.nn.Bottle(made)
        if module.dim not in (1, None):
            raise refused(module, name, f"dim={module.dim}, where 1, -1 and -3 have a counterpart")
        return made

    return row


def embedding(builder: Builder, module: nn.Embedding, name: str) -> Any:
    """Make a table of rows, whose indices count from 1."""
    need(module, name, sparse=False)
    padding = 0 if module.padding_idx is None else module.padding_idx + 1
    arguments: list[float] = [module.num_embeddings, module.embedding_dim, padding]
    if module.max_norm is not None:
        arguments += [module.max_norm, module.norm_type]
    made = builder.nn.LookupTable(*arguments)
    return made.scaleGradByFreq() if module.scale_grad_by_freq else made


def flatten(builder: Builder, module: nn.Flatten, name: str) -> Any:
    """Make a view that leaves the batch."""
    need(module, name, start_dim=1, end_dim=-1)
    return builder.nn.Collapse(1)


def upsampled(builder: Builder, module: Any, name: str) -> Any:
    """Make images some times as large."""
    factor = module.scale_factor
    if factor is None and module.mode == "bilinear" and module.align_corners:
        height, width = numbers(module.size, 2)
        return builder.nn.SpatialUpSamplingBilinear({"oheight": height, "owidth": width})
    if factor is None or isinstance(factor, tuple) or int(factor) != factor:
        raise refused(module, name, f"scale_factor={factor!r}, where only a whole number has a counterpart")
    if module.mode == "nearest":
        return builder.nn.SpatialUpSamplingNearest(int(factor))
    need(module, name, mode="bilinear", align_corners=True)
    return builder.nn.SpatialUpSamplingBilinear(int(factor))


def layer_norm(builder: Builder, module: nn.LayerNorm, name: str) -> Any:
    """Make a normalisation of the last dimension out of Torch7's means and tables."""
    if len(module.normalized_shape) != 1:
        raise refused(
            module, name, f"normalized_shape={module.normalized_shape}, where only one dimension has one"
        )
    lua, size = builder.nn, module.normalized_shape[0]
    mean = lua.Sequential().add(lua.Mean(2)).add(lua.Replicate(size, 2))
    deviation = lua.Sequential().add(lua.Square()).add(lua.Mean(2)).add(lua.AddConstant(module.eps))
    deviation.add(lua.Sqrt()).add(lua.Replicate(size, 2))
    made = lua.Sequential().add(lua.ConcatTable().add(lua.Identity()).add(mean)).add(lua.CSubTable())
    made.add(lua.ConcatTable().add(lua.Identity()).add(deviation)).add(lua.CDivTable())
    for layer, field in ((lua.CMul(size), "weight"), (lua.CAdd(size), "bias")):
        if getattr(module, field) is not None:
            builder.fill(layer, module, name, (field,))
            made.add(layer)
    return lua.Bottle(made, 2)


def gated(builder: Builder, module: nn.GLU, name: str) -> Any:
    """Make one half times the sigmoid of the other."""
    if module.dim < -1:
        raise refused(module, name, f"dim={module.dim}: give it from the front, or as -1")
    return builder.nn.GatedLinearUnit(*([] if module.dim == -1 else [module.dim + 1]))


def weighted(builder: Builder, gate: Any) -> Any:
    """Make the input times what the gate makes of it."""
    lua = builder.nn
    return lua.Sequential().add(lua.ConcatTable().add(lua.Identity()).add(gate)).add(lua.CMulTable())


def silu(builder: Builder, _module: nn.SiLU, _name: str) -> Any:
    """Make x sigmoid(x)."""
    return weighted(builder, builder.nn.Sigmoid())


def gelu(builder: Builder, module: nn.GELU, name: str) -> Any:
    """Make x sigmoid(2 sqrt(2 / pi) (x + 0.044715 x^3)), which is the form with a tanh (Hendrycks & Gimpel, 2016)."""
    if module.approximate != "tanh":
        raise refused(module, name, "Torch7 has no erf: take nn.GELU('tanh') if its values are near enough")
    lua = builder.nn
    cubic = lua.Sequential().add(lua.Power(3)).add(lua.MulConstant(0.044715))
    gate = lua.Sequential().add(lua.ConcatTable().add(lua.Identity()).add(cubic)).add(lua.CAddTable())
    return weighted(builder, gate.add(lua.MulConstant(math.sqrt(8 / math.pi))).add(lua.Sigmoid()))


def across_planes(builder: Builder, module: nn.LocalResponseNorm, name: str) -> Any:
    """Make a division by a sum over neighbouring planes, which in Torch7 are as many on both sides."""
    if module.size % 2 == 0:
        raise refused(module, name, f"size={module.size}, where only odd sizes have a counterpart")
    return builder.nn.SpatialCrossMapLRN(module.size, module.alpha, module.beta, module.k)


def bilinear(builder: Builder, module: nn.Bilinear, _name: str) -> Any:
    """Make a product of two inputs, which come as a table."""
    sizes = (module.in1_features, module.in2_features, module.out_features)
    return builder.nn.Bilinear(*sizes, module.bias is not None)


def prelu(builder: Builder, module: nn.PReLU, _name: str) -> Any:
    """Make a learned slope, for all elements or for each plane."""
    return builder.nn.PReLU(*([] if module.num_parameters == 1 else [module.num_parameters]))


def padding(lua_name: str) -> Row:
    """Return the row of borders: left, right, top, bottom, of volumes also front and back."""

    def row(builder: Builder, module: Any, _name: str) -> Any:
        return builder.nn[lua_name](*numbers(module.padding, 6 if lua_name.startswith("Volumetric") else 4))

    return row


def softplus(builder: Builder, module: nn.Softplus, name: str) -> Any:
    """Make a smooth ReLU."""
    need(module, name, threshold=20)
    return builder.nn.SoftPlus(module.beta)


ROWS: Mapping[type[nn.Module], Row] = {
    nn.AdaptiveAvgPool2d: adaptive("SpatialAdaptiveAveragePooling"),
    nn.AdaptiveMaxPool2d: adaptive("SpatialAdaptiveMaxPooling"),
    nn.AvgPool2d: average("SpatialAveragePooling", 2),
    nn.AvgPool3d: average("VolumetricAveragePooling", 3),
    nn.BatchNorm1d: batch("BatchNormalization"),
    nn.BatchNorm2d: batch("SpatialBatchNormalization"),
    nn.BatchNorm3d: batch("VolumetricBatchNormalization"),
    nn.Bilinear: bilinear,
    nn.Dropout: plain("Dropout", "p"),
    nn.ELU: plain("ELU", "alpha"),
    nn.Embedding: embedding,
    nn.Flatten: flatten,
    nn.GELU: gelu,
    nn.GLU: gated,
    nn.Hardshrink: plain("HardShrink", "lambd"),
    nn.Hardtanh: plain("HardTanh", "min_val", "max_val"),
    nn.Identity: plain("Identity"),
    nn.LayerNorm: layer_norm,
    nn.LeakyReLU: plain("LeakyReLU", "negative_slope"),
    nn.Linear: linear,
    nn.LocalResponseNorm: across_planes,
    nn.LogSigmoid: plain("LogSigmoid"),
    nn.LogSoftmax: softmax("LogSoftMax"),
    nn.MaxPool2d: maximum("SpatialMaxPooling", 2, "SpatialDilatedMaxPooling"),
    nn.MaxPool3d: maximum("VolumetricMaxPooling", 3, "VolumetricDilatedMaxPooling"),
    nn.PReLU: prelu,
    nn.PixelShuffle: plain("PixelShuffle", "upscale_factor"),
    nn.RReLU: plain("RReLU", "lower", "upper"),
    nn.ReLU: plain("ReLU"),
    nn.ReLU6: plain("ReLU6"),
    nn.ReflectionPad2d: padding("SpatialReflectionPadding"),
    nn.ReplicationPad2d: padding("SpatialReplicationPadding"),
    nn.ReplicationPad3d: padding("VolumetricReplicationPadding"),
    nn.SiLU: silu,
    nn.Sigmoid: plain("Sigmoid"),
    nn.Softmax: softmax("SoftMax"),
    nn.Softmin: softmax("SoftMin"),
    nn.Softplus: softplus,
    nn.Softshrink: plain("SoftShrink", "lambd"),
    nn.Softsign: plain("SoftSign"),
    nn.Tanh: plain("Tanh"),
    nn.Tanhshrink: plain("TanhShrink"),
    nn.Threshold: plain("Threshold", "threshold", "value"),
    nn.Upsample: upsampled,
    nn.ZeroPad2d: padding("SpatialZeroPadding"),
}
