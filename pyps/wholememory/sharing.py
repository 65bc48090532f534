"""Models whose parameters several processes share, for Hogwild training, in Python and Lua."""

from __future__ import annotations

import torch

from pyps.wholememory import memory
from pyps.wholememory.layout import Layout, check_layout

ALIGNMENT = 16  # bytes; parameters of the same type lie directly one after another


def share(model: torch.nn.Module, name: str | None = None) -> str:
    """See `pyps.share`."""
    held = [*model.named_parameters(), *((name, value) for name, value in model.named_buffers())]
    if not any(True for _ in model.parameters()):
        raise ValueError(f"{type(model).__name__} has no parameters to share")
    for text, value in held:
        if value.device.type != "cpu":
            raise ValueError(f"{text} is on {value.device}; only models on the CPU can be shared")
    if name is None:
        mapping, layouts = memory.adopt(memory.create(_layouts(held)))
    else:
        mapping, layouts = memory.open_by_name(name)
        _compare(held, layouts, name, sum(1 for _ in model.parameters()))
    for (_, value), layout in zip(held, layouts, strict=False):
        shape = tuple(value.shape)
        place = Layout(layout.dtype, shape, check_layout(shape, [], value.dtype).strides, layout.offset)
        shared = memory.as_tensor(mapping, place)
        if name is None:
            shared.copy_(value.detach())
        value.data = shared
    return mapping.name


def _layouts(held: list[tuple[str, torch.Tensor]]) -> list[Layout]:
    """Return layouts that place the tensors one after another."""
    found, end, former = [], 0, None
    for name, value in held:
        if former not in (None, value.dtype):
            end = -(-end // ALIGNMENT) * ALIGNMENT
        size = value.element_size()
        plain = check_layout(tuple(value.shape), [], value.dtype)
        found.append(Layout(value.dtype, plain.shape, plain.strides, end // size, name))
        end += value.numel() * size
        former = value.dtype
    return found


def _compare(held: list[tuple[str, torch.Tensor]], layouts: list[Layout], name: str, parameters: int) -> None:
    """Raise an error if a model differs from the shared one. A module of Lua shares no buffers."""
    if len(layouts) not in (len(held), parameters):
        raise ValueError(f"{name} holds {len(layouts)} tensors, the model has {len(held)}")
    for (text, value), layout in zip(held, layouts, strict=False):
        elements = layout.elements - layout.offset
        if (elements, layout.dtype) != (value.numel(), value.dtype):
            raise ValueError(
                f"{text} is {value.numel()} of {value.dtype} in the model, and {elements} of {layout.dtype} in {name}"
            )
