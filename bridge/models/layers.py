"""Finding the inputs of a Torch7 network from its first layers.

Shapes are those of a batch, with None for the number of rows. If the first layers do not determine the input, it is
unknown.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Taken:
    """An input: its shape (None for a size that may vary; None as a whole: unknown), and whether it has indices."""

    shape: tuple[int | None, ...] | None = None
    indices: bool = False


Rule = Callable[[Any], Taken]


def _rows(layer: Any) -> Taken:
    return Taken((None, layer.weight.shape[1]))


def _planes(dimensions: int) -> Rule:
    return lambda layer: Taken((None, layer.nInputPlane, *[None] * dimensions))


# Layer's class -> the function that gets its input from its fields.
RULES: dict[str, Rule] = {
    "Linear": _rows,
    "LinearNoBias": _rows,
    "SparseLinear": lambda _: Taken(),
    "LookupTable": lambda _: Taken((None, None), indices=True),
    "TemporalConvolution": lambda layer: Taken((None, None, layer.inputFrameSize)),
    **{
        name: _planes(2)
        for name in (
            "SpatialConvolution",
            "SpatialConvolutionMM",
            "SpatialDilatedConvolution",
            "SpatialFullConvolution",
        )
    },
    "VolumetricConvolution": _planes(3),
    "VolumetricFullConvolution": _planes(3),
}
# Layers whose output has the input's shape: the next layer determines the input.
TRANSPARENT = {
    *("Identity", "Dropout", "SpatialDropout", "MulConstant", "AddConstant", "Contiguous", "Copy", "Tanh", "ReLU"),
    *("Sigmoid", "SpatialBatchNormalization", "BatchNormalization", "GradientReversal", "Normalize"),
}  # fmt: skip
SEQUENCES = {"Sequential", "NaN", "Profile"}
RECURRENT = ("LSTM", "GRU", "RNN", "Recur", "Sequen")  # parts of class names
BRANCHES = {"Concat", "ConcatTable", "DepthConcat"}


def taken(net: Any) -> list[Taken]:
    """Return the inputs of a network: one, or one for each branch of its table."""
    found = _taken(net)
    return found if isinstance(found, list) else [found or Taken()]


def by_row(net: Any) -> bool:
    """Whether rows are independent: not in recurrent layers, whose rows may be time steps and which keep a state."""
    names = [one.typename for one in net.listModules() if one.typename != "nn.Sequential"]
    return not any(mark in name for name in names for mark in RECURRENT)


def _taken(layer: Any) -> Taken | list[Taken] | None:
    """Return the input of a layer; None if it takes any input and its output has the same shape."""
    name = layer.typename.rpartition(".")[2]
    inside = list(getattr(layer, "modules", None) or [])
    if name in SEQUENCES:
        for one in inside:
            found = _taken(one)
            if found is not None:
                return found
        return None
    if name == "ParallelTable":
        each = [_taken(one) for one in inside]
        return [one if isinstance(one, Taken) else Taken() for one in each]
    if name in BRANCHES and inside:
        return _taken(inside[0])
    if name in TRANSPARENT:
        return None
    rule = RULES.get(name)
    return Taken() if rule is None else rule(layer)
