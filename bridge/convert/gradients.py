"""Layers that change only the gradient."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn

from bridge.convert.layer import Layer
from bridge.convert.torch_modules import Function


class Changed(torch.autograd.Function):
    """The input as it is; its gradient is `change(gradient, input)`."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, change: Callable[[Tensor, Tensor], Tensor]) -> Tensor:
        """Return the input."""
        ctx.save_for_backward(x)
        ctx.change = change
        return x.view_as(x)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, None]:
        """Return the changed gradient."""
        (x,) = ctx.saved_tensors
        return ctx.change(gradients[0], x), None


def changed(x: Any, change: Callable[[Tensor, Tensor], Tensor]) -> Any:
    """Return a tensor, or the tensors of a list, whose gradients are changed."""
    if not isinstance(x, Tensor):
        return [changed(inner, change) for inner in x]
    return Changed.apply(x, change) if x.requires_grad else x  # type: ignore[no-untyped-call]


def reverse(x: Any, factor: float) -> Any:
    """Return the input; its gradient is turned round."""
    return changed(x, lambda gradient, _x: gradient * -factor)


def stop(x: Any) -> Any:
    """Return the input; its gradient is zero."""
    return changed(x, lambda gradient, _x: torch.zeros_like(gradient))


def penalize(x: Any, weight: float, mean: bool, through: bool) -> Any:
    """Return the input; a penalty on absolute values goes into its gradient, which `through` lets pass."""

    def change(gradient: Tensor, value: Tensor) -> Tensor:
        penalty = value.sign() * (weight / value.numel() if mean else weight)
        return gradient + penalty if through else penalty

    return changed(x, change)


def penalty(layer: Layer) -> nn.Module:
    """Return a penalty on absolute values."""
    return Function(
        penalize,
        weight=layer.get("l1weight", 0),
        mean=layer.get("sizeAverage", False),
        through=layer.get("provideOutput", True),
    )


ROWS = {
    "nn.GradientReversal": lambda layer: Function(reverse, factor=layer.get("lambda", 1)),
    "nn.L1Penalty": penalty,
    "nn.ZeroGrad": lambda _layer: Function(stop),
}
