"""Joining the rows of several requests into one array, and splitting the result into the rows of each."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from typing import Any

import numpy as np

from bridge.serve.process.values import Joined


def joined_key(
    function: str | None, arguments: Sequence[Any], dimensions: Sequence[int] | None = None
) -> tuple[Hashable, int]:
    """Return a key, equal for requests that can be joined, and the number of rows; None for a request that cannot.

    Arrays whose first dimension is not the batch are never joined: vectors, and arrays with another number of
    dimensions than the model takes. Joined, they would be a different input, without any error.
    """
    arrays = list(flat(arguments))
    if not arrays or not all(isinstance(one, np.ndarray) and one.ndim > 1 for one in arrays):
        return None, 1
    if dimensions is not None and [one.ndim for one in arrays] != list(dimensions):
        return None, 1
    rows = {len(one) for one in arrays}
    if len(rows) != 1 or 0 in rows:
        return None, 1
    nested = tuple(len(one) if isinstance(one, list) else -1 for one in arguments)
    return (function, nested, *((one.dtype.char, one.shape[1:]) for one in arrays)), rows.pop()


def flat(arguments: Sequence[Any]) -> Iterator[Any]:
    """Yield the arguments, and those inside lists."""
    for one in arguments:
        if isinstance(one, list):
            yield from one
        else:
            yield one


def join(requests: Sequence[Sequence[Any]]) -> list[Any]:
    """Return the arguments of several requests as those of one."""
    if len(requests) == 1:
        return list(requests[0])
    return [
        join_tables(parts) if isinstance(parts[0], list) else Joined(parts)
        for parts in zip(*requests, strict=True)
    ]


def join_tables(tables: Sequence[list[Any]]) -> list[Any]:
    """Return tables of arrays as one table."""
    return [Joined(parts) for parts in zip(*tables, strict=True)]


def split(result: Any, rows: Sequence[int]) -> list[Any] | None:
    """Return each request's rows of a result; None if a part of it has another number of rows than the inputs."""
    if isinstance(result, np.ndarray):
        if result.ndim == 0 or len(result) != sum(rows):
            return None
        return list(np.split(result, np.cumsum(rows[:-1])))
    if isinstance(result, list) and result:
        parts = by_request([split(one, rows) for one in result])
        return None if parts is None else [list(one) for one in parts]
    if isinstance(result, dict) and result:
        parts = by_request([split(one, rows) for one in result.values()])
        return None if parts is None else [dict(zip(result, one, strict=True)) for one in parts]
    return None


def by_request(parts: Sequence[list[Any] | None]) -> list[tuple[Any, ...]] | None:
    """Return for each request its piece of every part; None if a part could not be split."""
    whole = [one for one in parts if one is not None]
    return list(zip(*whole, strict=True)) if len(whole) == len(parts) else None
