"""Sequences: frames of features, with time before features as Torch7 has them."""

from __future__ import annotations

from collections.abc import Callable

from torch import Tensor, nn
from torch.nn import functional

from bridge.convert.layer import Layer
from bridge.convert.torch_modules import FeaturesLast, Function


def convolved(window: str, step: str, padding: str) -> Callable[[Layer], nn.Module]:
    """Return the converter of frames from windows of frames: a Conv1d, whose weight has features before time.

    Parameters
    ----------
    window, step, padding : str
        The fields. For cudnn a sequence is an image of one plane, as wide as a frame.
    """

    def converter(layer: Layer) -> nn.Module:
        inputs, outputs, size = layer.positive("inputFrameSize", "outputFrameSize", window)
        settings = (size, layer.integer(step, 1), layer.integer(padding, 0))
        made = nn.Conv1d(inputs, outputs, *settings, bias=layer.has("bias"), device="meta")
        weight = layer.needed("weight").reshape(outputs, size, inputs).transpose(1, 2)
        made.weight = layer.conversion.parameter(weight)
        made.register_parameter("bias", layer.parameter("bias"))
        return FeaturesLast(made)

    return converter


def rows(layer: Layer) -> nn.Module:
    """Return a convolution over time of each feature by itself."""
    features, window = layer.positive("inputFrameSize", "kW")
    made = nn.Conv1d(
        features,
        features,
        window,
        layer.integer("dW", 1),
        layer.integer("padW", 0),
        groups=features,
        bias=layer.has("bias"),
        device="meta",
    )
    made.weight = layer.weight((features, 1, window))
    made.register_parameter("bias", layer.parameter("bias"))
    return made if layer.get("featFirst", False) else FeaturesLast(made)


def maxima(layer: Layer) -> nn.Module:
    """Return the maximum of each feature in a window."""
    return FeaturesLast(nn.MaxPool1d(layer.integer("kW"), layer.integer("dW", 1)))


def largest_in_order(x: Tensor, least: int, factor: float) -> Tensor:
    """Return each feature's largest values over time, in the order in which they stand."""
    count = max(least, -int(-(factor * x.shape[-2]) // 1))
    places = x.topk(count, -2).indices.sort(-2).values
    return x.gather(-2, places)


def dynamic(layer: Layer) -> nn.Module:
    """As many maxima as a part of the sequence's length."""
    return Function(largest_in_order, least=layer.integer("minK"), factor=layer.get("factor", 0))


def subsample(x: Tensor, weight: Tensor, bias: Tensor, window: int, step: int) -> Tensor:
    """Return sums of windows, times a weight and plus a bias for each feature."""
    sums = functional.avg_pool1d(x.transpose(-1, -2), window, step).transpose(-1, -2) * window
    return sums * weight + bias


def subsampled(layer: Layer) -> nn.Module:
    """Return sums of windows."""
    parameters = {"weight": layer.weight(), "bias": layer.parameter("bias")}
    return Function(subsample, parameters, window=layer.integer("kW"), step=layer.integer("dW", 1))


ROWS = {
    "cudnn.TemporalConvolution": convolved("kH", "dH", "padH"),
    "nn.TemporalConvolution": convolved("kW", "dW", "padW"),
    "nn.TemporalDynamicKMaxPooling": dynamic,
    "nn.TemporalMaxPooling": maxima,
    "nn.TemporalRowConvolution": rows,
    "nn.TemporalSubSampling": subsampled,
}
