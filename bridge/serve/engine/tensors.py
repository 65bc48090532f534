"""A request's tensors as a function's arguments, and what it returns as tensors by name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bridge.models import TensorSpec
from bridge.serve.engine.refused import Reason, Refused
from bridge.serve.process import Description

Tensor = NDArray[Any] | list[Any]  # numbers; texts, in nested lists


def arguments(model: str, description: Description, inputs: Mapping[str, Tensor]) -> list[Any]:
    """Return the arguments that the inputs are, in order.

    Raises
    ------
    Refused
        An input is missing, is not the function's, or has another type or size than it takes.
    """
    specs = description.inputs
    ordered: list[Any]
    if specs is None:
        ordered = list(inputs.values())
    else:
        unknown = [name for name in inputs if name not in {spec.name for spec in specs}]
        missing = [spec.name for spec in specs if spec.name not in inputs]
        if unknown or (missing and description.platform != "lua"):  # Lua takes nil for what is left out
            what = f"has input {unknown[0]!r}" if unknown else f"lacks input {missing[0]!r}"
            names = ", ".join(spec.name for spec in specs) or "no inputs"
            raise Refused(Reason.INVALID, f"the request {what}, but {model} takes {names}")
        given = [spec for spec in specs if spec.name in inputs]
        last = specs.index(given[-1]) + 1 if given else 0
        ordered = [checked(spec, inputs[spec.name]) if spec in given else None for spec in specs[:last]]
    return [ordered] if description.table else ordered


def checked(spec: TensorSpec, value: Tensor) -> Tensor:
    """Return an input, if the model takes it; numbers of another type become the model's where nothing is lost.

    Raises
    ------
    Refused
        The model does not take it; with what it takes.
    """
    if spec.shape is not None:
        shape = shape_of(value)
        fits = len(shape) == len(spec.shape) and all(
            wanted in (None, size) for wanted, size in zip(spec.shape, shape, strict=True)
        )
        if not fits:
            raise Refused(
                Reason.INVALID,
                f"input {spec.name!r} has the shape {list(shape)}, {sizes(spec)} was expected",
            )
    if spec.dtype is not None:
        wanted = np.dtype(spec.dtype)
        if isinstance(value, list) or not np.can_cast(value.dtype, wanted, "same_kind"):
            given = "texts" if isinstance(value, list) else value.dtype
            raise Refused(Reason.INVALID, f"input {spec.name!r} has {given}, {wanted} was expected")
        return value.astype(wanted, copy=False)
    return value


def shape_of(value: Tensor) -> tuple[int, ...]:
    """Return a tensor's sizes; numpy would need an array for that in which each text takes what the longest does."""
    if isinstance(value, np.ndarray):
        return value.shape
    found: list[int] = []
    inner: Any = value
    while isinstance(inner, list):
        found.append(len(inner))
        inner = inner[0] if inner else None
    return tuple(found)


def sizes(spec: TensorSpec) -> list[int]:
    """Return the sizes of an input or output, -1 where any is taken."""
    return [-1] if spec.shape is None else [-1 if size is None else size for size in spec.shape]


def outputs(result: Any, specs: Sequence[TensorSpec] | None) -> dict[str, Tensor]:
    """Return what a function returned as tensors by name: a dict's keys, "output", or "output_0" and so on.

    Raises
    ------
    Refused
        There is something in it that is no tensor.
    """
    if isinstance(result, dict):
        return {str(name): tensor(str(name), value) for name, value in result.items()}
    if isinstance(result, list | tuple) and not all(isinstance(one, str | bytes) for one in result):
        names = [spec.name for spec in specs or ()]
        if len(names) != len(result):
            names = [f"output_{place}" for place in range(len(result))]
        return {name: tensor(name, value) for name, value in zip(names, result, strict=True)}
    name = specs[0].name if specs else "output"
    return {name: tensor(name, result)}


def tensor(name: str, value: Any) -> Tensor:
    """Return a value as a tensor: numbers and texts as one of a single element, lists of either as rows."""
    if isinstance(value, np.ndarray):
        return value if value.ndim else value.reshape(1)
    if isinstance(value, bool | int | float):
        return np.array([value])
    if isinstance(value, str | bytes):
        return [value]
    if isinstance(value, list) and value and all(isinstance(one, str | bytes) for one in value):
        return value
    if isinstance(value, list) and value and all(isinstance(one, bool | int | float) for one in value):
        return np.array(value)
    kind = getattr(value, "typename", type(value).__name__)
    raise Refused(
        Reason.FAILED,
        f"the model returned a {kind} as {name!r}, which is no tensor: POST /call takes any value",
    )
