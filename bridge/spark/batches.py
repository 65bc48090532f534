"""Additions to pyspark's function of batches: rows with a null are left out, and errors name the wrong column."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Union

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pyspark.sql.types import DataType, StructType

from bridge.batch import BatchError

Shapes = Sequence[Sequence[int] | None] | Mapping[int, Sequence[int]]
Inner = Callable[[Iterator[Any]], Iterator[Any]]


@dataclass(frozen=True)
class Inputs:
    """The number of inputs (None: the model determines it), and the shape of a row of each that has arrays."""

    number: int | None
    shapes: dict[int, list[int]]

    def for_pyspark(self) -> Any:
        """Return the shapes in pyspark's form."""
        if self.number is None:
            return self.shapes or None
        return [self.shapes.get(place) for place in range(self.number)]


def told(given: Shapes | None) -> Inputs:
    """Return the inputs that `input_tensor_shapes=` describes.

    Raises
    ------
    ValueError
        A size is below 1.
    """
    by_place = given if isinstance(given, Mapping) else dict(enumerate(given or ()))
    shapes = {place: [int(size) for size in one] for place, one in by_place.items() if one is not None}
    for shape in shapes.values():
        if min(shape, default=1) < 1:
            raise ValueError(f"input_tensor_shapes= has {shape}: sizes are at least 1")
    return Inputs(None if not given or isinstance(given, Mapping) else len(given), shapes)


def around(inner: Inner, kind: DataType, inputs: Inputs, who: str) -> Any:
    """Return pyspark's function of batches as a function that also takes nulls, and whose errors name the column."""

    # pyspark reads the type hints to find the kind of function: these are the hints of its own function
    def predict(data: Iterator[Union[pd.Series, pd.DataFrame]]) -> Iterator[pd.DataFrame]:  # noqa: UP007
        for batch in data:
            null = _null_rows(batch)
            if not null.any() and len(null):
                yield from _said(inner, batch, inputs, who)
                continue
            found: list[Any] = []
            if not null.all():
                kept = tuple(one[~null] for one in batch) if isinstance(batch, tuple) else batch[~null]
                found = list(_said(inner, kept, inputs, who))
            if isinstance(kind, StructType):
                yield pd.DataFrame({n: _with_nulls([one[n] for one in found], null) for n in kind.names})
            else:
                yield _with_nulls(found, null)

    return predict


def _null_rows(batch: Any) -> NDArray[np.bool_]:
    """Return which rows have a null in any column. In pandas, a nan in a column of numbers is a null."""
    missing = [one.isna() for one in (batch if isinstance(batch, tuple) else (batch,))]
    each = [one.any(axis=1) if isinstance(one, pd.DataFrame) else one for one in missing]
    null: NDArray[np.bool_] = np.any([one.to_numpy() for one in each], axis=0)
    return null


def _with_nulls(found: list[Any], null: NDArray[np.bool_]) -> Any:
    """Return results for all rows, with None for rows with a null; as objects, so that integers stay integers."""
    column = np.full(len(null), None, object)
    if found:
        column[~null] = pd.concat(found).astype(object).to_numpy()
    return pd.Series(column)


def _said(inner: Inner, batch: Any, inputs: Inputs, who: str) -> Iterator[Any]:
    """Call pyspark's function. If it cannot convert a column to an array, raise an error that names the column."""
    if isinstance(
        batch, tuple
    ):  # pyspark finds columns by name, so a column that is given twice needs two names
        batch = tuple(one.rename(str(n)) for n, one in enumerate(batch))
    try:
        yield from inner(iter((batch,)))
    except BatchError:
        raise
    except Exception as error:
        raise BatchError(f"{who}: {_misfit(batch, inputs) or error}") from error


def _misfit(batch: Any, inputs: Inputs) -> str | None:
    """Return the error for the first column that does not have its shape."""
    if isinstance(batch, pd.DataFrame):
        columns = [(f"field {name!r}", batch[name]) for name in batch]
    else:
        given = batch if isinstance(batch, tuple) else (batch,)
        columns = [(f"column {n} of {len(given)}", one) for n, one in enumerate(given, 1)]
    for place, (name, column) in enumerate(columns):
        if not isinstance(column.iloc[0], np.ndarray | list):
            continue
        shape = inputs.shapes.get(place)
        if shape is None:
            return f"{name} holds arrays: input_tensor_shapes= says no shape for it"
        lengths = column.map(len).to_numpy()
        wrong = np.flatnonzero(lengths != math.prod(shape))
        if len(wrong):
            return f"{name} has a row of {lengths[wrong[0]]} values; a row of shape {shape} has {math.prod(shape)}"
    return None
