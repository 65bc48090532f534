"""Copying values out of a Lua state's memory, before another caller gets the state."""

from __future__ import annotations

import copy
import dataclasses
import inspect
import sys
from typing import Any

import numpy


def own(value: Any, made: dict[int, Any] | None = None) -> Any:
    """Return a value whose arrays share no memory with Lua.

    Lists, tuples, dicts and dataclasses are searched for arrays; an object of any other class is returned unchanged.

    Parameters
    ----------
    value : object
        A numpy array with memory of numpy's own is returned itself; other arrays, and torch tensors, are copied.
    made : dict, optional
        The results for values met so far, by `id`, so that an object that occurs twice is copied once.

    Raises
    ------
    TypeError
        The value is or contains a generator or coroutine, whose code has not run yet.
    """
    if made is None:
        made = {}
    if id(value) in made:
        return made[id(value)]
    torch = sys.modules.get("torch")
    if isinstance(value, numpy.ndarray):
        made[id(value)] = value if _is_numpys(value) else value.copy()
    elif torch is not None and isinstance(value, torch.Tensor):
        made[id(value)] = value.clone()
    elif inspect.isgenerator(value) or inspect.iscoroutine(value):
        value.close()
        raise TypeError(
            f"the function returned a {type(value).__name__}, which would use the Lua state after it was given back; "
            "return the values themselves"
        )
    elif isinstance(value, tuple):
        return _own_tuple(value, made)
    elif isinstance(value, dict | list) or _is_record(value):
        return _own_contents(value, made)
    else:
        return value
    return made[id(value)]


def _is_numpys(array: Any) -> bool:
    """Tell whether an array, or the one that it is a view of, has memory that numpy allocated."""
    while isinstance(array.base, numpy.ndarray):
        array = array.base
    return bool(array.flags.owndata)


def _is_record(value: Any) -> bool:
    return dataclasses.is_dataclass(value) and not isinstance(value, type)


def _own_tuple(value: tuple[Any, ...], made: dict[int, Any]) -> Any:
    items = [own(item, made) for item in value]
    if all(mine is its for mine, its in zip(items, value, strict=True)):
        return value
    return type(value)._make(items) if hasattr(value, "_make") else type(value)(items)


def _own_contents(value: Any, made: dict[int, Any]) -> Any:
    """Copy a list, dict or dataclass, also of a subclass, and replace the values in it by their copies."""
    result = made[id(value)] = copy.copy(value)
    if isinstance(value, dict):
        for key, item in value.items():
            result[key] = own(item, made)
    elif isinstance(value, list):
        result[:] = [own(item, made) for item in value]
    else:
        for field in dataclasses.fields(value):
            object.__setattr__(result, field.name, own(getattr(value, field.name), made))
    return result
