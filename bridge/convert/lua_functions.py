"""Functions without a layer of PyTorch's, which `to_torch` made of Torch7's layers: back to those layers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import nn

from bridge.convert import (
    activation,
    convolution,
    gradients,
    linear,
    normalization,
    pooling,
    sequences,
    shape,
    tables,
    torch_modules,
)
from bridge.convert.lua_builder import TYPENAMES, Builder, Row, refused
from bridge.convert.torch_modules import Function

Maker = Callable[[Builder, Function], Any]


def layer(name: str, *settings: str) -> Maker:
    """Return the maker of a layer whose arguments are settings of the function."""

    def maker(builder: Builder, module: Function) -> Any:
        return builder.nn[name](*(module.settings[setting] for setting in settings))

    return maker


def sized(name: str, dims: str = "dims") -> Maker:
    """Return the maker of a layer with a size, and with the dimensions of an input without a batch."""

    def maker(builder: Builder, module: Function) -> Any:
        made = builder.nn[name](*module.settings["size"])
        return made if module.settings[dims] is None else made.setNumInputDims(module.settings[dims])

    return maker


def reshaped(builder: Builder, module: Function) -> Any:
    """Make another shape."""
    batch = module.settings["batch"]
    return builder.nn.Reshape(*module.settings["size"], *([] if batch is None else [batch]))


def transposed(builder: Builder, module: Function) -> Any:
    """Make exchanges of dimensions."""
    made = builder.nn.Transpose(*(list(pair) for pair in module.settings["pairs"]))
    dims = module.settings["dims"]
    return made if dims is None else made.setNumInputDims(dims)


def reduced(builder: Builder, module: Function) -> Any:
    """Make a sum or a mean along a dimension."""
    given = module.settings
    if given["mean"] and given["squeeze"] is not False:
        return builder.nn.Mean(given["dim"], given["dims"])
    return builder.nn.Sum(given["dim"], given["dims"], bool(given["mean"]), given["squeeze"])


def copied(builder: Builder, module: Function) -> Any:
    """Make a copy in another type, which it keeps."""
    dtype = module.settings["dtype"]
    return builder.nn.Copy(builder.typename, TYPENAMES.get(dtype, builder.typename), True, True)


def alone(builder: Builder, module: Function) -> Any:
    """Make a table of one."""
    del module
    return builder.nn.ConcatTable().add(builder.nn.Identity())


def numbers(name: str, field: str, single: Callable[[Builder], Any]) -> Maker:
    """Return the maker of a layer with a number of its own for each element, or with one for all."""

    def maker(builder: Builder, module: Function) -> Any:
        sizes = module.get_parameter(field).shape
        return single(builder) if sizes == (1,) else builder.nn[name](*sizes)

    return maker


def matrix(name: str, *, turned: bool = False) -> Maker:
    """Return the maker of a layer whose arguments are the sizes of its weight, inputs before outputs."""

    def maker(builder: Builder, module: Function) -> Any:
        sizes = list(module.get_parameter("weight").shape)
        return builder.nn[name](*(reversed(sizes) if turned else sizes))

    return maker


def of_planes(builder: Builder, module: Function) -> Any:
    """Make a learned slope for each plane."""
    return builder.nn.PReLU(module.get_parameter("weight").numel())


def mapped(builder: Builder, module: Function) -> Any:
    """Make a convolution where planes are connected."""
    name = "SpatialFullConvolutionMap" if module.settings["back"] else "SpatialConvolutionMap"
    height, width = module.get_parameter("weight").shape[-2:]
    rows, columns = module.settings["stride"]
    table = builder.number_tensor(module.get_buffer("pairs") + 1)
    return builder.nn[name](table, width, height, columns, rows)


def local(builder: Builder, module: Function) -> Any:
    """Make a convolution with a kernel of its own for each place."""
    _, _, outputs, inputs, k_h, k_w = module.get_parameter("weight").shape
    (height, width), stride, padding = (module.settings[key] for key in ("size", "stride", "padding"))
    return builder.nn.SpatialConvolutionLocal(
        inputs, outputs, width, height, k_w, k_h, stride[1], stride[0], padding[1], padding[0]
    )


def subsampled(builder: Builder, module: Function) -> Any:
    """Make sums of windows of images."""
    (k_h, k_w), (d_h, d_w) = module.settings["kernel"], module.settings["stride"]
    return builder.nn.SpatialSubSampling(module.get_parameter("weight").numel(), k_w, k_h, d_w, d_h)


def subsampled_frames(builder: Builder, module: Function) -> Any:
    """Make sums of windows of frames."""
    features = module.get_parameter("weight").numel()
    return builder.nn.TemporalSubSampling(features, module.settings["window"], module.settings["step"])


def enlarged(builder: Builder, module: Function) -> Any:
    """Make images or volumes some times as large."""
    return builder.nn.UpSampling(
        module.settings["factor"], "linear" if module.settings["linear"] else "nearest"
    )


def feature_norms(builder: Builder, module: Function) -> Any:
    """Make norms of neighbouring features."""
    given = module.settings
    return builder.nn.FeatureLPPooling(given["width"], given["stride"], given["power"], given["dim"] == 1)


def padded(builder: Builder, module: Function) -> Any:
    """Make numbers before or behind."""
    given = module.settings
    return builder.nn.Padding(given["dim"] + 1, given["count"], given["dims"], given["value"], given["index"])


# What `Function` calls -> the layer.
FUNCTIONS: Mapping[Callable[..., Any], Maker] = {
    activation.crelu: layer("CReLU", "dims"),
    activation.plus: layer("AddConstant", "constant"),
    activation.power: layer("Power", "exponent"),
    activation.times: layer("MulConstant", "constant"),
    convolution.connected: mapped,
    convolution.local: local,
    gradients.penalize: layer("L1Penalty", "weight", "mean", "through"),
    gradients.reverse: layer("GradientReversal", "factor"),
    gradients.stop: layer("ZeroGrad"),
    linear.cosine: matrix("Cosine", turned=True),
    linear.euclidean: matrix("Euclidean"),
    linear.prelu_of_planes: of_planes,
    linear.scale: numbers("CMul", "weight", lambda builder: builder.nn.Mul()),
    linear.shift: numbers("CAdd", "bias", lambda builder: builder.nn.Add(1, True)),
    linear.weighted_euclidean: matrix("WeightedEuclidean"),
    torch_modules.cast: copied,
    normalization.normalize: layer("Normalize", "p", "eps"),
    pooling.enlarge: enlarged,
    pooling.feature_norm: feature_norms,
    pooling.pad: padded,
    pooling.subsample: subsampled,
    sequences.largest_in_order: layer("TemporalDynamicKMaxPooling", "least", "factor"),
    sequences.subsample: subsampled_frames,
    shape.collapse: layer("Collapse", "dims"),
    shape.largest: layer("Max", "dim", "dims"),
    shape.narrow: layer("Narrow", "dim", "index", "length"),
    shape.one_hot: layer("OneHot", "size"),
    shape.replicate: layer("Replicate", "count", "dim", "dims"),
    shape.reshape: reshaped,
    shape.select: layer("Select", "dim", "index"),
    shape.smallest: layer("Min", "dim", "dims"),
    shape.split: layer("SplitTable", "dim", "dims"),
    shape.squeeze: layer("Squeeze", "dim", "dims"),
    shape.total: reduced,
    shape.transpose: transposed,
    shape.unsqueeze: layer("Unsqueeze", "dim", "dims"),
    shape.view: sized("View"),
    tables.add: layer("CAddTable"),
    tables.alone: alone,
    tables.cosine: layer("CosineDistance"),
    tables.distance: layer("PairwiseDistance", "norm"),
    tables.divide: layer("CDivTable"),
    tables.dot: layer("DotProduct"),
    tables.entries: layer("NarrowTable", "offset", "length"),
    tables.entry: layer("SelectTable", "index"),
    tables.flatten: layer("FlattenTable"),
    tables.highest: layer("CMaxTable"),
    tables.index: layer("Index", "dim"),
    tables.join: layer("JoinTable", "dim", "dims"),
    tables.lowest: layer("CMinTable"),
    tables.masked: layer("MaskedSelect"),
    tables.matrices: layer("MM", "left", "right"),
    tables.matrix_vector: layer("MV", "turned"),
    tables.mixture: layer("MixtureTable", "dim"),
    tables.multiply: layer("CMulTable"),
    tables.one_to_many: layer("ZipTableOneToMany"),
    tables.spread_add: layer("CAddTensorTable"),
    tables.subtract: layer("CSubTable"),
    tables.zip_tables: layer("ZipTable"),
    torch.abs: layer("Abs"),
    torch.exp: layer("Exp"),
    torch.log: layer("Log"),
    torch.sqrt: layer("Sqrt"),
    torch.square: layer("Square"),
}


def function(builder: Builder, module: Function, name: str) -> Any:
    """Make the layer of a function, with the parameters that it has."""
    maker = FUNCTIONS.get(module.function)
    if maker is None:
        raise refused(module, name, "Torch7 has no layer for this function")
    made = maker(builder, module)
    builder.fill(made, module, name, tuple(module._parameters))
    return made


ROWS: Mapping[type[nn.Module], Row] = {Function: function}
