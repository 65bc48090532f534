"""Making an example input for a model, of given shapes or of those that its first layer takes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor, nn

from bridge.convert import torch_modules
from bridge.convert.shape import one_hot

BATCH = 2  # not 1, because tracers treat a size of 1 specially
IMAGES, VOLUMES, FRAMES = (32, 224, 28, 64, 96, 128, 227, 256, 299, 16, 8), (16, 8, 32), (16, 32, 64, 128)


# The types of inputs by numpy's names and by Torch7's.
DTYPES = {
    **{str(d).removeprefix("torch."): d for d in (torch.float16, torch.float32, torch.float64)},
    **{
        str(d).removeprefix("torch."): d
        for d in (torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64)
    },
    "half": torch.float16,
    "float": torch.float32,
    "double": torch.float64,
    "byte": torch.uint8,
    "char": torch.int8,
    "short": torch.int16,
    "int": torch.int32,
    "long": torch.int64,
}
LENGTH = 8  # size of a dimension that may vary, except the first


@dataclass(frozen=True)
class Asked:
    """An input tensor that the user described: its sizes (None: may vary), and its type (default: the model's)."""

    sizes: tuple[int | None, ...]
    dtype: torch.dtype | None = None

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the example, with numbers for sizes that may vary."""
        return tuple(
            size if size is not None else LENGTH if place else BATCH for place, size in enumerate(self.sizes)
        )

    @property
    def opened(self) -> frozenset[int]:
        """The dimensions whose sizes may vary in the written model: those with None, and the first."""
        return frozenset({0, *(place for place, size in enumerate(self.sizes) if size is None)})


class UnknownInput(ValueError):
    """The shape of a model's input cannot be found from its first layer."""


def example(
    model: nn.Module,
    asked: Sequence[Asked | Sequence[int]] = (),
    *,
    dtype: torch.dtype = torch.float32,
    seed: int = 0,
    base: int = 0,
) -> Any:
    """Return an input that the model can compute.

    Parameters
    ----------
    model : Module
        A model in evaluation mode.
    asked : sequence of Asked, or of sequences of int
        The description of each input tensor; if it is empty, shapes are guessed.
    dtype : torch.dtype
        The type that the model computes in.
    seed : int
        The seed of the random numbers.
    base : {0, 1}
        The first index.

    Returns
    -------
    Tensor or list of Tensor
        Normally distributed numbers of the model's type, or indices if the first layer is an Embedding.

    Raises
    ------
    UnknownInput
        No shape was found that the model takes.
    """
    generator = torch.Generator().manual_seed(seed)
    layer = first(model)
    if asked:
        wanted = [one if isinstance(one, Asked) else Asked(tuple(one)) for one in asked]
        if any(
            one.dtype is not None for one in wanted
        ):  # if the user marked some inputs as indices, the others are not
            wanted = [replace(one, dtype=one.dtype or dtype) for one in wanted]
        made = [
            drawn(layer, one.shape, dtype, generator, base)
            if one.dtype is None
            else typed(model, one.shape, one.dtype, generator, base)
            for one in wanted
        ]
        return made[0] if len(made) == 1 else made
    taken = None
    for size in guesses(layer):
        x = drawn(layer, size, dtype, generator, base)
        rows = computed(model, x)
        if rows == size[0]:  # a wrong size is possible: with too large images, a view may produce more rows
            return x
        taken = x if taken is None and rows is not None else taken
    if taken is not None:
        return taken
    described = "nothing" if layer is None else f"{type(layer).__name__}({layer.extra_repr()})"
    raise UnknownInput(
        f"the model's first layer, {described}, does not tell the size of its input: give it, as --input 1x3x224x224, "
        "once for each tensor of a table"
    )


def drawn(
    layer: nn.Module | None, size: tuple[int, ...], dtype: torch.dtype, generator: torch.Generator, base: int
) -> Tensor:
    """Return random numbers, or indices for an Embedding."""
    if isinstance(layer, nn.Embedding):
        return torch.randint(base, layer.num_embeddings + base, size, generator=generator)
    return torch.randn(size, dtype=dtype, generator=generator)


def typed(
    model: nn.Module, size: tuple[int, ...], dtype: torch.dtype, generator: torch.Generator, base: int
) -> Tensor:
    """Return random numbers of a type; for an integer type, indices that the model takes."""
    if dtype.is_floating_point:
        return torch.randn(size, dtype=torch.float64, generator=generator).to(dtype)
    rows = [layer.num_embeddings for layer in model.modules() if isinstance(layer, nn.Embedding)]
    rows += [
        layer.settings["size"]
        for layer in model.modules()
        if isinstance(layer, torch_modules.Function) and layer.function is one_hot
    ]
    return torch.randint(base, min(rows, default=2) + base, size, generator=generator).to(dtype)


def opened(model: nn.Module, asked: Sequence[Asked], x: Any) -> Any:
    """Return, for each tensor of an input, the dimensions whose sizes may vary in the written model.

    Without descriptions by the user, these are the first, and the second if it is the length of a sequence.
    """
    if asked:
        found = [one.opened for one in asked]
        return found[0] if len(found) == 1 else found
    layer = first(model)
    sequence = isinstance(layer, nn.Embedding | torch_modules.FeaturesLast) and x.dim() > 1
    return frozenset({0, 1} if sequence else {0})


def computed(model: nn.Module, x: Tensor) -> int | None:
    """Return the number of rows of the model's output (-1 for a list); None if it does not take the input."""
    try:
        with torch.no_grad():
            output = model(x)
    except (RuntimeError, ValueError, IndexError, TypeError):  # the errors of layers for wrong sizes
        return None
    return output.shape[0] if isinstance(output, Tensor) and output.dim() else -1


def first(model: nn.Module) -> nn.Module | None:
    """Return the first layer that determines the input, inside containers and after layers that take any input."""
    if isinstance(model, torch_modules.Function) and not model._parameters:
        return None
    children = list(model.children())
    if not children or type(model) in KNOWN:
        return model if type(model) in KNOWN or isinstance(model, nn.Embedding) else None
    for child in children:
        found = first(child)
        if found is not None:
            return found
    return None


def guesses(layer: Any) -> Iterator[tuple[int, ...]]:
    """Yield shapes of inputs that a layer takes, the usual ones first."""
    if isinstance(layer, nn.Linear):
        yield (BATCH, layer.in_features)
        yield (layer.in_features,)
    elif isinstance(layer, nn.Embedding):
        yield (BATCH, 8)
        yield (8,)
    elif isinstance(layer, nn.Conv2d | nn.ConvTranspose2d | nn.BatchNorm2d):
        planes = layer.num_features if isinstance(layer, nn.BatchNorm2d) else layer.in_channels
        yield from ((BATCH, planes, size, size) for size in (*IMAGES, 1))
    elif isinstance(layer, nn.Conv3d | nn.ConvTranspose3d):
        yield from ((BATCH, layer.in_channels, size, size, size) for size in VOLUMES)
    elif isinstance(layer, torch_modules.FeaturesLast) and isinstance(layer.module, nn.Conv1d):
        yield from ((BATCH, size, layer.module.in_channels) for size in FRAMES)
    elif isinstance(layer, nn.BatchNorm1d):
        yield (BATCH, layer.num_features)


KNOWN = (
    nn.BatchNorm1d,
    nn.BatchNorm2d,
    nn.Conv2d,
    nn.Conv3d,
    nn.ConvTranspose2d,
    nn.ConvTranspose3d,
    nn.Embedding,
    torch_modules.Embedding,
    torch_modules.FeaturesLast,
    nn.Linear,
)
