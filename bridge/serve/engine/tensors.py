"""Converting a request's tensors to a function's arguments, and a function's result to tensors by name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bridge.models import TensorSpec
from bridge.serve.engine.refused import Reason, Refused
from bridge.serve.process import Description

Tensor = NDArray[Any] | list[Any]  # an array of numbers; or texts in nested lists


def arguments(model: str, description: Description, inputs: Mapping[str, Tensor]) -> list[Any]:
    """Return the inputs as arguments, in order.

    Raises
    ------
    Refused
        An input is missing or unknown, or has a type or size that the function does not take.
    """
    specs = description.inputs
    ordered: list[Any]
    if specs is None:
        ordered = list(inputs.values())
    else:
        unknown = [name for name in inputs if name not in {spec.name for spec in specs}]
        missing = [spec.name for spec in specs if spec.name not in inputs]
        if unknown or (
            missing and description.platform != "lua"
        ):  # Lua functions get nil for missing arguments
            what = f"has input {unknown[0]!r}" if unknown else f"lacks input {missing[0]!r}"
            names = ", ".join(spec.name for spec in specs) or "no inputs"
            raise Refused(Reason.INVALID, f"the request {what}, but {model} takes {names}")
        given = [spec for spec in specs if spec.name in inputs]
        last = specs.index(given[-1]) + 1 if given else 0
        ordered = [checked(spec, inputs[spec.name]) if spec in given else None for spec in specs[:last]]
    return [ordered] if description.table else ordered


def checked(spec: TensorSpec, value: Tensor) -> Tensor:
    """Check an input and return it; numbers of another type are converted if that loses nothing.

    Raises
    ------
    Refused
        The model does not take it; the message says what it takes.
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
    """Return a tensor's shape. For texts without numpy, which would need as much memory for each as for the longest."""
    if isinstance(value, np.ndarray):
        return value.shape
    found: list[int] = []
    inner: Any = value
    while isinstance(inner, list):
        found.append(len(inner))
        inner = inner[0] if inner else None
    return tuple(found)


def sizes(spec: TensorSpec) -> list[int]:
    """Return the shape of an input or output, with -1 for a size that may vary."""
    return [-1] if spec.shape is None else [-1 if size is None else size for size in spec.shape]


def outputs(result: Any, specs: Sequence[TensorSpec] | None) -> dict[str, Tensor]:
    """Return a function's result as tensors by name: a dict's keys, "output", or "output_0", "output_1" ...

    Raises
    ------
    Refused
        A value in it is not a tensor.
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
    """Return a value as a tensor: a number or text as a tensor with one element, a list of them as rows."""
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
