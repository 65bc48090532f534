"""Checking that a converted model computes what the Torch7 model computes, as a whole and layer by layer."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from bridge.convert.context import Conversion, ConvertedLayer

TOLERANCES = {torch.float64: 1e-9, torch.float32: 1e-4, torch.float16: 1e-2}


@dataclass(frozen=True)
class LayerReport:
    """A converted layer, and the difference of its output from Torch7's.

    Attributes
    ----------
    name : str
        Its name in the converted module; "" is the model.
    typename : str
        The Torch7 class.
    layer : str
        The PyTorch class.
    settings : str
        The settings of the PyTorch layer, as `repr` shows them.
    parameters : int
        Number of parameters in it and in the layers inside it.
    wrapped : bool
        Whether it is still computed by Lua.
    difference : float or None
        The largest difference of the outputs for the same input, relative to the output's largest number; None for a
        layer that did not run.
    """

    name: str
    typename: str
    layer: str
    settings: str
    parameters: int
    wrapped: bool
    difference: float | None


def check(
    conversion: Conversion, x: Any, *, told: Callable[[int, int], None] | None = None
) -> list[LayerReport]:
    """Run both models in evaluation mode on the same input, and compare the outputs of each layer.

    Every Torch7 layer gets the input of the converted layer, so that differences do not add up and layers that work in
    place do no harm. The model itself is compared as a whole.

    Parameters
    ----------
    conversion : Conversion
        The conversion of a model in a Lua state (`bridge.Lua(tensors="torch")`).
    x : Tensor or list
        An input for the converted module.
    told : callable, optional
        Called before each layer, with the number of layers compared so far and of all layers.

    Returns
    -------
    list of LayerReport
        The model first, then its layers.

    Raises
    ------
    ValueError
        The model did not come from a Lua state.
    """
    root = conversion.layers[0].lua
    if root is None:
        raise ValueError("only a model of a Lua state can be compared: load it with lua.torch.load")
    root.evaluate()
    conversion.module.eval()
    seen: dict[int, tuple[Any, Any]] = {}

    def keep(module: nn.Module, inputs: tuple[Any, ...], output: Any) -> None:
        seen.setdefault(id(module), (copied(inputs[0]), copied(output)))

    handles = [layer.module.register_forward_hook(keep) for layer in conversion.layers]
    try:
        with torch.no_grad():
            conversion.module(x)
    finally:
        for handle in handles:
            handle.remove()
    reports = []
    for number, layer in enumerate(conversion.layers):
        if told is not None:
            told(number, len(conversion.layers))
        reports.append(_report(layer, seen, conversion.base))
    return reports


def _report(layer: ConvertedLayer, seen: dict[int, tuple[Any, Any]], base: int) -> LayerReport:
    found = None
    if id(layer.module) in seen and layer.lua is not None:
        given, output = seen[id(layer.module)]
        theirs = layer.lua.forward(translated(given, base))
        # the output may be indices (of nn.Identity, for example), which the two sides count differently
        found = difference(translated(output, base) if holds_indices(given) else output, theirs)
    settings = "" if list(layer.module.children()) else layer.module.extra_repr()
    return LayerReport(
        layer.name,
        layer.typename,
        type(layer.module).__name__,
        settings,
        sum(parameter.numel() for parameter in layer.module.parameters()),
        layer.wrapped,
        found,
    )


def copied(value: Any) -> Any:
    """Return a copy of a tensor, or of the tensors of a list."""
    if isinstance(value, Tensor):
        return value.detach().clone()
    return [copied(inner) for inner in value] if isinstance(value, list | tuple) else copy.copy(value)


def holds_indices(value: Any) -> bool:
    """Return whether a value is a tensor of indices, or a list with one."""
    if isinstance(value, Tensor):
        return value.dtype in (torch.int64, torch.int32)
    return isinstance(value, list | tuple) and any(map(holds_indices, value))


def translated(value: Any, base: int) -> Any:
    """Return an input for Torch7. Integers are indices and are shifted to count from 1."""
    if isinstance(value, Tensor):
        index = value.dtype in (torch.int64, torch.int32) and base == 0
        return value + 1 if index else value.clone()
    return [translated(inner, base) for inner in value]


def difference(ours: Any, theirs: Any) -> float:
    """Return the largest difference, relative to the largest number (or to 1); infinity for other shapes or numbers.

    Parameters
    ----------
    ours, theirs : Tensor, or list of them
        Two outputs.
    """
    if isinstance(ours, Tensor) and isinstance(theirs, Tensor):
        if ours.shape != theirs.shape or not torch.equal(ours.isnan(), theirs.isnan()):
            return float("inf")
        if not ours.numel():
            return 0.0
        one, other = ours.double().nan_to_num(), theirs.double().nan_to_num()
        return float((one - other).abs().max()) / max(1.0, float(other.abs().max()))
    if isinstance(ours, Tensor) or isinstance(theirs, Tensor) or len(ours) != len(theirs):
        return float("inf")
    return max((difference(one, other) for one, other in zip(ours, theirs, strict=True)), default=0.0)
