"""Criterions as losses of PyTorch, called as `loss(input, target)`; classes count from the conversion's base."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from torch import Tensor, nn

from bridge.convert import torch_modules
from bridge.convert.layer import Layer


def loss(kind: Callable[..., nn.Module], **fields: tuple[str, Any]) -> Callable[[Layer], nn.Module]:
    """Return the converter of a loss that is a mean, or a sum where sizeAverage is false."""

    def converter(layer: Layer) -> nn.Module:
        reduction = "mean" if layer.get("sizeAverage", True) else "sum"
        settings = {name: layer.get(*field) for name, field in fields.items()}
        return kind(reduction=reduction, **settings)

    return converter


class OneBased(nn.Module):
    """A loss whose targets are classes counted from 1."""

    def __init__(self, criterion: nn.Module) -> None:
        super().__init__()
        self.criterion = criterion

    def forward(self, x: Tensor, target: Tensor) -> Any:
        """Return the loss."""
        return self.criterion(x, target.long() - 1)


def of_classes(kind: Callable[..., nn.Module]) -> Callable[[Layer], nn.Module]:
    """Return the converter of a loss of classes, with weights where it has them."""

    def converter(layer: Layer) -> nn.Module:
        reduction = "mean" if layer.get("sizeAverage", True) else "sum"
        ignored = layer.integer("ignoreIndex", -100)
        made = kind(weight=layer.buffer("weights"), reduction=reduction, ignore_index=ignored - 1)
        return OneBased(made) if layer.conversion.base == 1 else made

    return converter


def cross_entropy(layer: Layer) -> nn.Module:
    """LogSoftMax and ClassNLLCriterion in one."""
    inner = Layer(layer.get("nll"), layer.conversion)
    return of_classes(nn.CrossEntropyLoss)(inner)


def multi_margin(layer: Layer) -> nn.Module:
    """Return a margin between the target's class and the others."""
    made = nn.MultiMarginLoss(
        layer.integer("p", 1),
        layer.get("margin", 1.0),
        layer.buffer("weights"),
        reduction="mean" if layer.get("sizeAverage", True) else "sum",
    )
    return OneBased(made) if layer.conversion.base == 1 else made


def binary(layer: Layer) -> nn.Module:
    """Cross entropy of probabilities."""
    reduction = "mean" if layer.get("sizeAverage", True) else "sum"
    return nn.BCELoss(weight=layer.buffer("weights"), reduction=reduction)


ROWS = {
    "nn.AbsCriterion": loss(nn.L1Loss),
    "nn.BCECriterion": binary,
    "nn.ClassNLLCriterion": of_classes(nn.NLLLoss),
    "nn.CrossEntropyCriterion": cross_entropy,
    "nn.MSECriterion": loss(nn.MSELoss),
    "nn.MultiMarginCriterion": multi_margin,
    "nn.SmoothL1Criterion": loss(nn.SmoothL1Loss),
    "nn.SoftMarginCriterion": loss(nn.SoftMarginLoss),
    "nn.SpatialClassNLLCriterion": of_classes(torch_modules.SpatialNLLLoss),
}
