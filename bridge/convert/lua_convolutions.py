"""Convolutions, also in groups and along sequences, and their transposes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from torch import nn

from bridge.convert import torch_modules
from bridge.convert.lua_builder import Builder, Row, need, refused, turned

# From the numbers of input and output planes to the layer.
Single = Callable[[int, int], Any]


def checked(module: Any, name: str) -> None:
    """Refuse what no convolution of Torch7 does."""
    need(module, name, padding_mode="zeros")
    if isinstance(module.padding, str):
        raise refused(module, name, f"padding={module.padding!r}: give it as numbers")


def in_groups(builder: Builder, module: Any, name: str, single: Single, dims: int) -> Any:
    """Make a convolution, or one for each group of planes side by side: nn's know no groups."""
    groups, weight = module.groups, module._parameters.get("weight")
    if weight is None and groups > 1:
        raise refused(module, name, "a convolution in groups whose weight is computed has no counterpart")
    inputs, outputs = module.in_channels // groups, module.out_channels // groups
    made = []
    for group in range(groups):
        one = single(inputs, outputs)
        tensors = {} if weight is None else {"weight": weight.chunk(groups)[group].reshape(one.weight.shape)}
        if module.bias is None:
            one.noBias()
        else:
            tensors["bias"] = module.bias.narrow(0, group * outputs, outputs)
        builder.put(one, module, name, tensors)
        part = builder.nn.Narrow(-dims, group * inputs + 1, inputs)
        made.append(one if groups == 1 else builder.nn.Sequential().add(part).add(one))
    if groups == 1:
        return made[0]
    side_by_side = builder.nn.ConcatTable()
    for one in made:
        side_by_side.add(one)
    return builder.nn.Sequential().add(side_by_side).add(builder.nn.JoinTable(1, dims))


def convolution(lua_name: str, axes: int, dilated: str) -> Row:
    """Return the row of convolutions over so many axes."""

    def row(builder: Builder, module: Any, name: str) -> Any:
        checked(module, name)
        if axes == 2 and module.groups == module.in_channels > 1 and module.dilation == (1, 1):
            return depthwise(builder, module, name)
        sizes = [n for v in (module.kernel_size, module.stride, module.padding) for n in turned(v, axes)]
        plain = all(one == 1 for one in module.dilation)
        kind, more = (lua_name, []) if plain else (dilated, turned(module.dilation, axes))
        single = builder.nn[kind]
        return in_groups(builder, module, name, lambda i, o: single(i, o, *sizes, *more), axes + 1)

    return row


def depthwise(builder: Builder, module: nn.Conv2d, name: str) -> Any:
    """Make a convolution of each plane by itself."""
    inputs, many = module.in_channels, module.out_channels // module.in_channels
    sizes = [n for v in (module.kernel_size, module.stride, module.padding) for n in turned(v, 2)]
    made = builder.nn.SpatialDepthWiseConvolution(inputs, many, *sizes)
    tensors = {"weight": module.weight.view(inputs, many, *module.kernel_size).transpose(0, 1)}
    if module.bias is None:
        made.noBias()
    else:
        tensors["bias"] = module.bias.view(inputs, many).t()
    builder.put(made, module, name, tensors)
    return made


def transposed(lua_name: str, axes: int) -> Row:
    """Return the row of transposed convolutions over so many axes."""

    def row(builder: Builder, module: Any, name: str) -> Any:
        need(module, name, dilation=(1,) * axes)
        settings = (module.kernel_size, module.stride, module.padding, module.output_padding)
        sizes = [n for value in settings for n in turned(value, axes)]
        single = builder.nn[lua_name]
        return in_groups(builder, module, name, lambda i, o: single(i, o, *sizes), axes + 1)

    return row


def of_features(builder: Builder, module: nn.Conv1d, name: str) -> Any:
    """Make a convolution over (batch, features, time): an image of one row."""
    checked(module, name)
    (size,), (step,), (dilation,) = module.kernel_size, module.stride, module.dilation
    if _row_by_row(module):
        return row_by_row(builder, module, name, True)
    places = [size, 1, step, 1, module.padding[0], 0]
    kind = "SpatialConvolution" if dilation == 1 else "SpatialDilatedConvolution"
    more = [] if dilation == 1 else [dilation, 1]
    single = builder.nn[kind]
    inner = in_groups(builder, module, name, lambda i, o: single(i, o, *places, *more), 3)
    made = builder.nn.Sequential().add(builder.nn.Unsqueeze(2, 2)).add(inner)
    return made.add(builder.nn.Squeeze(2, 3))


def of_frames(builder: Builder, module: torch_modules.FeaturesLast, name: str) -> Any:
    """Make a layer over (batch, time, features) of one over (batch, features, time)."""
    inner, inside = module.module, f"{name}.module" if name else "module"
    if isinstance(inner, nn.MaxPool1d) and _plain_window(inner):
        return builder.nn.TemporalMaxPooling(_number(inner.kernel_size), _number(inner.stride))
    if isinstance(inner, nn.Conv1d):
        checked(inner, inside)
        if _row_by_row(inner):
            return row_by_row(builder, inner, inside, False)
        if inner.groups == 1 and inner.dilation == (1,) and inner.bias is not None:
            return temporal(builder, inner, inside)
    around = builder.nn.Sequential().add(exchanged(builder)).add(builder.made(inner, inside))
    return around.add(exchanged(builder))


def row_by_row(builder: Builder, module: nn.Conv1d, name: str, features_first: bool) -> Any:
    """Make a convolution over time of each feature by itself."""
    sizes = (module.in_channels, module.kernel_size[0], module.stride[0])
    made = builder.nn.TemporalRowConvolution(*sizes, features_first)
    if module.bias is None:
        made.noBias()
    builder.fill(made, module, name)
    return made


def _row_by_row(module: nn.Conv1d) -> bool:
    alone = module.groups == module.in_channels == module.out_channels > 1
    return alone and module.padding == (0,) and module.dilation == (1,)


def temporal(builder: Builder, module: nn.Conv1d, name: str) -> Any:
    """Make a convolution over frames, with frames of zeros on both sides where asked."""
    (size,), (step,), padding = module.kernel_size, module.stride, int(module.padding[0])
    made = builder.nn.TemporalConvolution(module.in_channels, module.out_channels, size, step)
    weight = module.weight.transpose(1, 2)
    builder.put(made, module, name, {"weight": weight, "bias": module.bias})  # type: ignore[dict-item]
    if padding == 0:
        return made
    padded = builder.nn.Sequential().add(builder.nn.Padding(1, -padding, 2))
    return padded.add(builder.nn.Padding(1, padding, 2)).add(made)


def exchanged(builder: Builder) -> Any:
    """Make time and features exchanged, of a batch or of one sequence."""
    return builder.nn.Transpose([1, 2]).setNumInputDims(2)


def _number(value: Any) -> int:
    return int(value[0] if isinstance(value, tuple) else value)


def _plain_window(module: nn.MaxPool1d) -> bool:
    settled = (_number(module.padding), _number(module.dilation)) == (0, 1)
    return settled and not module.ceil_mode and not module.return_indices


ROWS: Mapping[type[nn.Module], Row] = {
    torch_modules.FeaturesLast: of_frames,
    nn.Conv1d: of_features,
    nn.Conv2d: convolution("SpatialConvolution", 2, "SpatialDilatedConvolution"),
    nn.Conv3d: convolution("VolumetricConvolution", 3, "VolumetricDilatedConvolution"),
    nn.ConvTranspose2d: transposed("SpatialFullConvolution", 2),
    nn.ConvTranspose3d: transposed("VolumetricFullConvolution", 3),
}
