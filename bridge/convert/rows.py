"""The table of `to_torch`: Torch7's class -> its converter, a function that makes a PyTorch module of a layer.

A converter returns None for a layer that PyTorch cannot compute.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from torch import nn

from bridge.convert import (
    activation,
    containers,
    convolution,
    criterions,
    gradients,
    graph,
    linear,
    normalization,
    pooling,
    sequences,
    shape,
    tables,
)
from bridge.convert.layer import Layer

Converter = Callable[[Layer], nn.Module | None]

ROWS: Mapping[str, Converter] = {
    name: converter
    for family in (
        activation,
        containers,
        convolution,
        criterions,
        gradients,
        graph,
        linear,
        normalization,
        pooling,
        sequences,
        shape,
        tables,
    )
    for name, converter in family.ROWS.items()
}


def row(typename: str) -> Converter | None:
    """Return the converter of a class. A class of cudnn without a row uses that of the same name in nn."""
    package, _, name = typename.partition(".")
    if typename in ROWS:
        return ROWS[typename]
    return ROWS.get(f"nn.{name}") if package in ("cudnn", "cunn") else None
