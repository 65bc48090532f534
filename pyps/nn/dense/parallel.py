"""One batch for several models of a process, a thread for each: split it, apply them, join what they return."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import torch


def split(batch: Any, parts: int) -> list[Any]:
    """Cut a batch into parts for `parallel_apply`.

    Parameters
    ----------
    batch : torch.Tensor of shape (n, ...), or tuple, list or dict of batches
    parts : int

    Returns
    -------
    list
        Batches of the same kind, of nearly equal sizes in their first dimension; fewer than `parts` if n is less.

    Raises
    ------
    ValueError
        There are no parts, or tensors differ in their first dimension.
    TypeError
        The batch has something else in it.
    """
    if parts < 1:
        raise ValueError(f"parts is {parts}; it must be at least 1")
    if isinstance(batch, torch.Tensor):
        if not batch.dim():
            raise ValueError("a tensor without dimensions cannot be split: give it a first one, of samples")
        return list(batch.tensor_split(min(parts, max(len(batch), 1))))
    if isinstance(batch, Mapping):
        columns = _columns(list(batch.values()), parts)
        return [dict(zip(batch, column, strict=True)) for column in columns]
    if isinstance(batch, tuple | list):
        return [type(batch)(column) for column in _columns(batch, parts)]
    raise TypeError(f"a batch is made of tensors in tuples, lists and dicts, not of {type(batch).__name__}")


def parallel_apply(functions: Sequence[Callable[..., Any]], inputs: Sequence[Any]) -> list[Any]:
    """Call each function with its input, all at the same time, in a thread each.

    Gradients and autocast are on or off as they are for the caller. A `Distributed` is such a function, and so is one
    that calls it and the backward; with ``mode="sync"`` it has to be the latter, as a step ends when all of them do.

    Parameters
    ----------
    functions : sequence of callable
        At least as many as there are inputs; others are not called.
    inputs : sequence
        What `split` returned: a tuple or list becomes arguments, a dict keyword arguments, anything else one argument.

    Returns
    -------
    list
        What they returned, in the order of the inputs.

    Raises
    ------
    ValueError
        There are more inputs than functions.
    Exception
        What the first of the functions raised that failed, when all have ended.
    """
    if len(inputs) > len(functions):
        raise ValueError(
            f"there are {len(inputs)} inputs for {len(functions)} functions: split into fewer parts"
        )
    if not inputs:
        return []
    grad, dtype = torch.is_grad_enabled(), torch.get_autocast_dtype("cpu")
    autocast = torch.is_autocast_enabled("cpu")

    def call(function: Callable[..., Any], given: Any) -> Any:
        with torch.set_grad_enabled(grad), torch.autocast("cpu", dtype, enabled=autocast):
            if isinstance(given, Mapping):
                return function(**given)
            return function(*given) if isinstance(given, tuple | list) else function(given)

    with ThreadPoolExecutor(len(inputs), "parallel_apply") as pool:
        calls = [
            pool.submit(call, function, given) for function, given in zip(functions, inputs, strict=False)
        ]
    return [one.result() for one in calls]


def join(outputs: Sequence[Any]) -> Any:
    """Put outputs together again: the opposite of `split`.

    Parameters
    ----------
    outputs : sequence of torch.Tensor, or of tuples, lists or dicts of them

    Returns
    -------
    torch.Tensor, tuple, list or dict
        Tensors are joined along their first dimension; those without one, such as losses, become one of shape (n,).

    Raises
    ------
    ValueError
        There are no outputs.
    TypeError
        They have something else in them.
    """
    if not outputs:
        raise ValueError("there are no outputs to join")
    first = outputs[0]
    if isinstance(first, torch.Tensor):
        return torch.cat(list(outputs)) if first.dim() else torch.stack(list(outputs))
    if isinstance(first, Mapping):
        return {name: join([output[name] for output in outputs]) for name in first}
    if isinstance(first, tuple | list):
        return type(first)(join(column) for column in zip(*outputs, strict=True))
    raise TypeError(f"outputs are made of tensors in tuples, lists and dicts, not of {type(first).__name__}")


def _columns(batches: Sequence[Any], parts: int) -> list[tuple[Any, ...]]:
    """Split several batches; return the parts of all of them, side by side."""
    cut = [split(batch, parts) for batch in batches]
    if len({len(one) for one in cut}) > 1 or any(
        len({_length(one) for one in row} - {None}) > 1 for row in zip(*cut, strict=False)
    ):
        raise ValueError("the tensors of a batch differ in their first dimension")
    return list(zip(*cut, strict=True))


def _length(batch: Any) -> int | None:
    return len(batch) if isinstance(batch, torch.Tensor) else None
