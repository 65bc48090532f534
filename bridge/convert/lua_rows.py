"""The table of `to_lua`: PyTorch's class -> the function that makes Torch7's layer of one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from torch import nn

from bridge.convert import modules
from bridge.convert.builder import Builder, Row, refused


def need(module: nn.Module, name: str, **wanted: Any) -> None:
    """Refuse a module whose settings Torch7 has not.

    Raises
    ------
    ConversionError
        When an attribute is not what is wanted.
    """
    for attribute, value in wanted.items():
        found = getattr(module, attribute)
        if found != value:
            raise refused(module, name, f"{attribute}={found!r}, where only {value!r} has a counterpart")


def numbers(value: Any, axes: int) -> list[int]:
    """Return a setting that may be one number for all axes, or one for each."""
    return [value] * axes if isinstance(value, int) else [int(one) for one in value]


def turned(value: Any, axes: int) -> list[int]:
    """Return a setting in the order of Torch7's arguments: time, width, height."""
    listed = numbers(value, axes)
    return [*listed[:-2], listed[-1], listed[-2]]


def plain(name: str, *attributes: str) -> Row:
    """Return the row of a layer whose arguments are attributes of the module."""

    def row(builder: Builder, module: Any, _name: str) -> Any:
        return builder.nn[name](*(getattr(module, attribute) for attribute in attributes))

    return row


def linear(builder: Builder, module: nn.Linear, _name: str) -> Any:
    """Make a matrix, for any number of dimensions in front."""
    return builder.nn.Linear(module.in_features, module.out_features, module.bias is not None)


def convolution(lua_name: str, axes: int, dilated: str | None) -> Row:
    """Return the row of convolutions over so many axes."""

    def row(builder: Builder, module: Any, name: str) -> Any:
        need(module, name, groups=1, padding_mode="zeros")
        if isinstance(module.padding, str):
            raise refused(module, name, f"padding={module.padding!r}: give it as numbers")
        dilation = numbers(module.dilation, axes)
        sizes = [turned(v, axes) for v in (module.kernel_size, module.stride, module.padding)]
        arguments = [module.in_channels, module.out_channels, *(n for size in sizes for n in size)]
        kind = lua_name
        if any(one != 1 for one in dilation):
            if dilated is None:
                raise refused(module, name, f"dilation={module.dilation!r}, where only 1 has a counterpart")
            kind = dilated
            arguments += turned(dilation, axes)
        made = builder.nn[kind](*arguments)
        return made if module.bias is not None else made.noBias()

    return row


def transposed(lua_name: str, axes: int) -> Row:
    """Return the row of transposed convolutions over so many axes."""

    def row(builder: Builder, module: Any, name: str) -> Any:
        need(module, name, groups=1, dilation=(1,) * axes)
        settings = (module.kernel_size, module.stride, module.padding, module.output_padding)
        sizes = [n for value in settings for n in turned(value, axes)]
        made = builder.nn[lua_name](module.in_channels, module.out_channels, *sizes)
        return made if module.bias is not None else made.noBias()

    return row


def frames(builder: Builder, module: nn.Conv1d, name: str) -> Any:
    """Make a convolution over (batch, features, time): an image of one row."""
    need(module, name, groups=1, padding_mode="zeros", dilation=(1,))
    if isinstance(module.padding, str):
        raise refused(module, name, f"padding={module.padding!r}: give it as numbers")
    inner = builder.nn.SpatialConvolution(
        module.in_channels,
        module.out_channels,
        module.kernel_size[0],
        1,
        module.stride[0],
        1,
        module.padding[0],
        0,
    )
    if module.bias is None:
        inner.noBias()
    builder.fill(inner, module, name)
    made = builder.nn.Sequential().add(builder.nn.Unsqueeze(2, 2)).add(inner)
    return made.add(builder.nn.Squeeze(2, 3))


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
        need(module, name, divisor_override=None)
        sizes = [n for v in (module.kernel_size, module.stride, module.padding) for n in turned(v, axes)]
        made = builder.nn[lua_name](*sizes)
        if module.ceil_mode:
            made.ceil()
        return made if module.count_include_pad else made.setCountExcludePad()

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
    """Return the row of functions over the classes, the second dimension (or the last of matrices)."""

    def row(builder: Builder, module: Any, name: str) -> Any:
        if module.dim in (-3,):
            return builder.nn[f"Spatial{lua_name}"]()
        if module.dim not in (1, -1, None):
            raise refused(module, name, f"dim={module.dim}, where only the classes' (1) has a counterpart")
        return builder.nn[lua_name]()

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


def loss(lua_name: str) -> Row:
    """Return the row of a criterion that is a mean or a sum."""

    def row(builder: Builder, module: Any, name: str) -> Any:
        if module.reduction not in ("mean", "sum"):
            raise refused(
                module, name, f"reduction={module.reduction!r}, where 'mean' and 'sum' have counterparts"
            )
        made = builder.nn[lua_name]()
        made.sizeAverage = module.reduction == "mean"
        return made

    return row


def table(name: str) -> Row:
    """Return the row of a container whose modules are added one by one."""

    def row(builder: Builder, module: Any, path: str) -> Any:
        return builder.children(builder.nn[name](), module, path)

    return row


def concat(builder: Builder, module: modules.Concat, name: str) -> Any:
    """Make modules whose outputs are side by side."""
    return builder.children(builder.nn.Concat(module.dim + 1), module, name)


def prelu(builder: Builder, module: nn.PReLU, _name: str) -> Any:
    """Make a learned slope, for all elements or for each plane."""
    return builder.nn.PReLU(*([] if module.num_parameters == 1 else [module.num_parameters]))


def padding(lua_name: str) -> Row:
    """Return the row of borders: left, right, top, bottom on both sides."""

    def row(builder: Builder, module: Any, _name: str) -> Any:
        return builder.nn[lua_name](*numbers(module.padding, 4))

    return row


def softplus(builder: Builder, module: nn.Softplus, name: str) -> Any:
    """Make a smooth ReLU."""
    need(module, name, threshold=20)
    return builder.nn.SoftPlus(module.beta)


def smooth(builder: Builder, module: nn.SmoothL1Loss, name: str) -> Any:
    """Make a loss that is square near zero."""
    need(module, name, beta=1)
    return loss("SmoothL1Criterion")(builder, module, name)


def loss_of_classes(lua_name: str) -> Row:
    """Return the row of a criterion of classes, which count from 1 in Lua."""

    def row(builder: Builder, module: Any, name: str) -> Any:
        need(module, name, ignore_index=-100)
        if module.reduction not in ("mean", "sum") or getattr(module, "label_smoothing", 0.0) != 0:
            raise refused(
                module, name, "only reduction='mean' or 'sum' without label_smoothing has a counterpart"
            )
        made = builder.nn[lua_name](*([] if module.weight is None else [module.weight]))
        (made.nll if isinstance(module, nn.CrossEntropyLoss) else made).sizeAverage = (
            module.reduction == "mean"
        )
        return made

    return row


ROWS: Mapping[type[nn.Module], Row] = {
    modules.Concat: concat,
    modules.ConcatTable: table("ConcatTable"),
    modules.ParallelTable: table("ParallelTable"),
    nn.AdaptiveAvgPool2d: adaptive("SpatialAdaptiveAveragePooling"),
    nn.AdaptiveMaxPool2d: adaptive("SpatialAdaptiveMaxPooling"),
    nn.AvgPool2d: average("SpatialAveragePooling", 2),
    nn.AvgPool3d: average("VolumetricAveragePooling", 3),
    nn.BCELoss: loss("BCECriterion"),
    nn.BatchNorm1d: batch("BatchNormalization"),
    nn.BatchNorm2d: batch("SpatialBatchNormalization"),
    nn.BatchNorm3d: batch("VolumetricBatchNormalization"),
    nn.Conv1d: frames,
    nn.Conv2d: convolution("SpatialConvolution", 2, "SpatialDilatedConvolution"),
    nn.Conv3d: convolution("VolumetricConvolution", 3, "VolumetricDilatedConvolution"),
    nn.ConvTranspose2d: transposed("SpatialFullConvolution", 2),
    nn.ConvTranspose3d: transposed("VolumetricFullConvolution", 3),
    nn.CrossEntropyLoss: loss_of_classes("CrossEntropyCriterion"),
    nn.Dropout: plain("Dropout", "p"),
    nn.ELU: plain("ELU", "alpha"),
    nn.Embedding: embedding,
    nn.Flatten: flatten,
    nn.Hardshrink: plain("HardShrink", "lambd"),
    nn.Hardtanh: plain("HardTanh", "min_val", "max_val"),
    nn.Identity: plain("Identity"),
    nn.L1Loss: loss("AbsCriterion"),
    nn.LayerNorm: layer_norm,
    nn.LeakyReLU: plain("LeakyReLU", "negative_slope"),
    nn.Linear: linear,
    nn.LogSigmoid: plain("LogSigmoid"),
    nn.LogSoftmax: softmax("LogSoftMax"),
    nn.MSELoss: loss("MSECriterion"),
    nn.MaxPool2d: maximum("SpatialMaxPooling", 2, "SpatialDilatedMaxPooling"),
    nn.MaxPool3d: maximum("VolumetricMaxPooling", 3, "VolumetricDilatedMaxPooling"),
    nn.NLLLoss: loss_of_classes("ClassNLLCriterion"),
    nn.PReLU: prelu,
    nn.PixelShuffle: plain("PixelShuffle", "upscale_factor"),
    nn.ReLU: plain("ReLU"),
    nn.ReLU6: plain("ReLU6"),
    nn.ReflectionPad2d: padding("SpatialReflectionPadding"),
    nn.ReplicationPad2d: padding("SpatialReplicationPadding"),
    nn.Sequential: table("Sequential"),
    nn.Sigmoid: plain("Sigmoid"),
    nn.SmoothL1Loss: smooth,
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
