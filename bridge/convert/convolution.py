"""Convolutions of images and volumes, and their transposes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from bridge.convert.layer import Layer
from bridge.convert.torch_modules import Function


def fields(prefix: str, letters: str) -> tuple[str, ...]:
    """Return the names of the fields with a letter for each axis, such as kH and kW."""
    return tuple(prefix + letter for letter in letters)


def paddings(layer: Layer, letters: str) -> tuple[int, ...]:
    """Return padH and padW; files of the first versions have one `padding`."""
    return layer.integers(fields("pad", letters), layer.integer("padding", 0))


def convolution(
    kind: Callable[..., Any], letters: str, *, back: bool = False
) -> Callable[[Layer], nn.Module]:
    """Return the converter of convolutions (`back`: transposed) over these axes; old files have a matrix as weight."""

    def converter(layer: Layer) -> nn.Module:
        inputs, outputs = layer.positive("nInputPlane", "nOutputPlane")
        kernel, groups = layer.positive(*fields("k", letters)), layer.integer("groups", 1)
        last = fields("adj", letters) if back else fields("dilation", letters)
        made = kind(
            inputs,
            outputs,
            kernel,
            layer.integers(fields("d", letters), 1),
            paddings(layer, letters),
            layer.integers(last, 0 if back else 1),
            groups,
            layer.has("bias"),
            device="meta",
        )
        planes = (inputs, outputs // groups) if back else (outputs, inputs // groups)
        made.weight = layer.weight((*planes, *kernel))
        made.bias = layer.parameter("bias")
        return made  # type: ignore[no-any-return]

    return converter


def depthwise(layer: Layer) -> nn.Module:
    """Each plane by itself, into as many as the first dimension of the weight; these are side by side in the output."""
    inputs, many = layer.positive("nInputPlane", "nOutputPlane")
    kernel = layer.positive("kH", "kW")
    made = nn.Conv2d(
        inputs,
        inputs * many,
        kernel,  # type: ignore[arg-type]
        layer.integers(("dH", "dW"), 1),  # type: ignore[arg-type]
        paddings(layer, "HW"),  # type: ignore[arg-type]
        groups=inputs,
        bias=layer.has("bias"),
        device="meta",
    )
    made.weight = _turned(layer, "weight", (many, inputs, *kernel), (inputs * many, 1, *kernel))
    made.register_parameter("bias", _turned(layer, "bias", (many, inputs), (inputs * many,)))
    return made


def _turned(layer: Layer, field: str, shape: tuple[int, ...], wanted: tuple[int, ...]) -> Any:
    """Return a parameter with its first two dimensions exchanged."""
    tensor = layer.tensor(field)
    if tensor is None:
        return None
    return layer.conversion.parameter(tensor.reshape(shape).transpose(0, 1).reshape(wanted))


def connected(
    x: Tensor, weight: Tensor, bias: Tensor, pairs: Tensor, stride: tuple[int, ...], back: bool
) -> Tensor:
    """Convolve (or the transpose of it, `back`) where pairs of an input and an output plane are connected."""
    planes = (x.shape[-3], bias.numel()) if back else (bias.numel(), x.shape[-3])
    places = (pairs[:, 0], pairs[:, 1]) if back else (pairs[:, 1], pairs[:, 0])
    whole = weight.new_zeros(*planes, *weight.shape[1:]).index_put(places, weight, accumulate=True)
    call: Any = functional.conv_transpose2d if back else functional.conv2d
    output: Tensor = call(x, whole, bias, stride)
    return output


def mapped(*, back: bool) -> Callable[[Layer], nn.Module]:
    """Return the converter of convolutions with a table of connections, a row for each: its input and output plane."""

    def converter(layer: Layer) -> nn.Module:
        parameters = {"weight": layer.weight(), "bias": layer.parameter("bias")}
        made = Function(connected, parameters, stride=layer.integers(("dH", "dW"), 1), back=back)
        made.register_buffer("pairs", layer.needed("connTable").long() - 1)
        return made

    return converter


def local(
    x: Tensor,
    weight: Tensor,
    bias: Tensor,
    size: tuple[int, ...],
    stride: tuple[int, ...],
    padding: tuple[int, ...],
) -> Tensor:
    """Convolve images of one size with a kernel of its own for each place."""
    if tuple(x.shape[-2:]) != size:
        raise ValueError(f"images of {size[0]} x {size[1]} were expected, got {x.shape[-2]} x {x.shape[-1]}")
    image = x if x.dim() == 4 else x.unsqueeze(0)
    height, width, planes, inputs, k_h, k_w = weight.shape
    patches = functional.unfold(image, (k_h, k_w), 1, padding, stride)
    patches = patches.view(image.shape[0], inputs, k_h, k_w, height, width)
    output = torch.einsum("bikljm,jmoikl->bojm", patches, weight) + bias.view(planes, height, width)
    return output if x.dim() == 4 else output.squeeze(0)


def locally(layer: Layer) -> nn.Module:
    """Return a kernel for each place."""
    inputs, planes = layer.integer("nInputPlane"), layer.integer("nOutputPlane")
    shape = (*layer.integers(("oH", "oW")), planes, inputs, *layer.integers(("kH", "kW")))
    parameters = {"weight": layer.weight(shape), "bias": layer.parameter("bias")}
    settings = {"stride": layer.integers(("dH", "dW"), 1), "padding": paddings(layer, "HW")}
    return Function(local, parameters, size=layer.integers(("iH", "iW")), **settings)


ROWS = {
    "nn.SpatialConvolution": convolution(nn.Conv2d, "HW"),
    "nn.SpatialConvolutionMap": mapped(back=False),
    "nn.SpatialFullConvolutionMap": mapped(back=True),
    "nn.SpatialConvolutionLocal": locally,
    "nn.SpatialConvolutionMM": convolution(nn.Conv2d, "HW"),
    "nn.SpatialDepthWiseConvolution": depthwise,
    "nn.SpatialDilatedConvolution": convolution(nn.Conv2d, "HW"),
    "nn.SpatialFullConvolution": convolution(nn.ConvTranspose2d, "HW", back=True),
    "nn.VolumetricConvolution": convolution(nn.Conv3d, "THW"),
    "nn.VolumetricDilatedConvolution": convolution(nn.Conv3d, "THW"),
    "nn.VolumetricFullConvolution": convolution(nn.ConvTranspose3d, "THW", back=True),
}
