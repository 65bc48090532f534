"""An input for a model: of given sizes, or of those that its first layer tells."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import torch
from torch import Tensor, nn

from bridge.convert import modules

BATCH = 2  # not 1: sizes of 1 mean too much to those who trace a model
IMAGES, VOLUMES, FRAMES = (32, 224, 28, 64, 96, 128, 227, 256, 299, 16, 8), (16, 8, 32), (16, 32, 64, 128)


class UnknownInput(ValueError):
    """A model whose first layer does not tell the sizes of its input."""


def example(
    model: nn.Module,
    sizes: Sequence[Sequence[int]] = (),
    *,
    dtype: torch.dtype = torch.float32,
    seed: int = 0,
    base: int = 0,
) -> Any:
    """Return an input that the model can compute.

    Parameters
    ----------
    model : Module
        In evaluation mode.
    sizes : sequence of sequences of int
        The size of each input tensor; none: they are guessed.
    dtype : torch.dtype
        What the model computes in.
    seed : int
        Of the random numbers.
    base : {0, 1}
        What indices count from.

    Returns
    -------
    Tensor or list of Tensor
        Normal numbers of the model's type; indices, where the first layer is an Embedding.

    Raises
    ------
    UnknownInput
        When no size is known that the model takes.
    """
    generator = torch.Generator().manual_seed(seed)
    layer = first(model)
    if sizes:
        made = [drawn(layer, tuple(size), dtype, generator, base) for size in sizes]
        return made[0] if len(made) == 1 else made
    taken = None
    for size in guesses(layer):
        x = drawn(layer, size, dtype, generator, base)
        rows = computed(model, x)
        if rows == size[0]:  # a view may make more rows of images that are too large
            return x
        taken = x if taken is None and rows is not None else taken
    if taken is not None:
        return taken
    described = "nothing" if layer is None else f"{type(layer).__name__}({layer.extra_repr()})"
    raise UnknownInput(
        f"the model's first layer, {described}, does not tell the size of its input: give it, as --input 1x3x224x224"
    )


def drawn(
    layer: nn.Module | None, size: tuple[int, ...], dtype: torch.dtype, generator: torch.Generator, base: int
) -> Tensor:
    """Return random numbers, or indices for an Embedding."""
    if isinstance(layer, nn.Embedding):
        return torch.randint(base, layer.num_embeddings + base, size, generator=generator)
    return torch.randn(size, dtype=dtype, generator=generator)


def computed(model: nn.Module, x: Tensor) -> int | None:
    """Return how many rows the model makes of an input (-1 for a list); None where it does not take it."""
    try:
        with torch.no_grad():
            output = model(x)
    except (RuntimeError, ValueError, IndexError, TypeError):  # what layers raise about sizes
        return None
    return output.shape[0] if isinstance(output, Tensor) and output.dim() else -1


def first(model: nn.Module) -> nn.Module | None:
    """Return the first layer that tells something of its input, through containers and layers that take anything."""
    if isinstance(model, modules.Function) and not model._parameters:
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
    """Return sizes of inputs that a layer takes, usual ones first."""
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
    elif isinstance(layer, modules.FeaturesLast) and isinstance(layer.module, nn.Conv1d):
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
    modules.Embedding,
    modules.FeaturesLast,
    nn.Linear,
)
