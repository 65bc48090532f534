"""A model as a function of columns: for DataFrames, for SQL, for streams. It is pyspark's own `predict_batch_udf`.

What pyspark leaves out is done around it: rows with a null are set aside, and what does not fit is told by its column.
"""

from __future__ import annotations

import inspect
import math
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Union

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pyspark.ml import functions
from pyspark.sql import SparkSession
from pyspark.sql.pandas.functions import pandas_udf
from pyspark.sql.types import DataType, StructType

from bridge.batch import BatchError, BatchModel
from bridge.spark import results
from bridge.spark.travel import batch_model, context

File = str | os.PathLike[str]
Shapes = Sequence[Sequence[int] | None] | Mapping[int, Sequence[int]]


def predict_batch_udf(
    model: File,
    *,
    return_type: DataType | str,
    batch_size: int,
    function: str | None = None,
    key: str | None = None,
    input_tensor_shapes: Shapes | None = None,
    files: Sequence[File] = (),
    session: SparkSession | None = None,
) -> Any:
    """Make a function of columns out of a file's model, as `pyspark.ml.functions.predict_batch_udf` does of Python's.

    Parameters
    ----------
    model : path
        A .t7, .lua, .pt2 or .onnx file on the driver. It is sent to the workers; each loads it once.
    return_type : DataType or str
        A scalar, an array of scalars, or a struct of those, also as SQL writes it. A struct takes a table with names,
        or several results in its fields' order.
    batch_size : int
        Most rows of one call.
    function, key : str, optional
        Which function or method, and where in the file's tables; see `bridge.models.load`.
    input_tensor_shapes : sequence or mapping, optional
        The shape of one row of each input; None for a column of numbers or texts. A column of arrays needs one.
        Without it the inputs are a function's parameters, or a network's.
    files : sequence of path
        What the model opens or requires; they lie beside it on the workers.
    session : SparkSession, optional
        By default the active one.

    Returns
    -------
    callable
        Takes as many columns, or their names, as the model has inputs. Where a row has a null in one of them its
        result is null (a struct's fields are), and the model does not see it.

    Raises
    ------
    FileNotFoundError, T7Error
        The file is missing or damaged.
    ValueError
        The return type, the batch size or a shape is none that there can be.
    RuntimeError
        There is no session, or it is one of Spark Connect, which has no `addFile`.
    """
    context(session)  # types are parsed by it, too
    kind = results.parse(return_type)
    if batch_size < 1:
        raise ValueError(f"batch_size= is at least 1, got {batch_size!r}")
    shapes = _shapes(input_tensor_shapes)
    sent = batch_model(model, function=function, key=key, files=files, session=session)
    inner = functions.predict_batch_udf(
        Predicting(sent, kind, shapes), return_type=kind, batch_size=batch_size, input_tensor_shapes=shapes
    )
    predict = around(inner.func, kind, shapes, str(sent))
    predict.__name__ = function or Path(model).stem  # what Spark calls the column
    udf: Any = pandas_udf(predict, kind)  # type: ignore[call-overload]
    udf.__doc__ = f"{sent}, in batches of {batch_size} rows."
    return udf


def register(
    name: str,
    model: File,
    *,
    return_type: DataType | str,
    batch_size: int,
    function: str | None = None,
    key: str | None = None,
    input_tensor_shapes: Shapes | None = None,
    files: Sequence[File] = (),
    session: SparkSession | None = None,
) -> Any:
    """Make such a function and give it a name in SQL: `SELECT name(column) FROM ...`; it is returned too."""
    session = session or SparkSession.active()
    udf = predict_batch_udf(
        model,
        return_type=return_type,
        batch_size=batch_size,
        function=function,
        key=key,
        input_tensor_shapes=input_tensor_shapes,
        files=files,
        session=session,
    )
    return session.udf.register(name, udf)


def _shapes(given: Shapes | None) -> list[list[int] | None] | None:
    """Return a shape, or None, for each input."""
    if given is None:
        return None
    if isinstance(given, Mapping):
        given = [given.get(place) for place in range(max(given, default=-1) + 1)]
    shapes = [None if one is None else [int(size) for size in one] for one in given]
    for shape in shapes:
        if shape is not None and min(shape, default=1) < 1:
            raise ValueError(f"input_tensor_shapes= has {shape}: sizes are at least 1")
    return shapes or None


@dataclass(frozen=True)
class Predicting:
    """What pyspark calls on a worker to get the function of a batch: its signature says how many columns it takes."""

    model: BatchModel
    kind: DataType
    shapes: list[list[int] | None] | None

    def __call__(self) -> Callable[..., Any]:
        """Load the model."""

        def predict(*inputs: Any) -> Any:
            found = results.columns(self.model(*inputs), self.kind, len(inputs[0]), str(self.model))
            names = self.kind.names if isinstance(self.kind, StructType) else None
            return found[0] if names is None else dict(zip(names, found, strict=True))

        named = [inspect.Parameter(f"x{n}", inspect.Parameter.POSITIONAL_ONLY) for n in range(self.count())]
        predict.__signature__ = inspect.Signature(named)  # type: ignore[attr-defined]
        return predict

    def count(self) -> int:
        """Return how many inputs the model gets, as the shapes or else its own parameters say.

        Raises
        ------
        BatchError
            The function takes another number.
        """
        loaded = self.model.load()
        names = loaded.parameters[loaded.default or ""]
        own = len(loaded.inputs) if loaded.table and loaded.inputs else len(names)
        if self.shapes is None:
            return 1 if "..." in names else own
        if loaded.platform == "lua" and "..." not in names and own != len(self.shapes):
            raise BatchError(
                f"{self.model} takes {own} ({', '.join(names)}), input_tensor_shapes= has {len(self.shapes)}"
            )
        return len(self.shapes)


Inner = Callable[[Iterator[Any]], Iterator[Any]]


def around(inner: Inner, kind: DataType, shapes: list[list[int] | None] | None, who: str) -> Any:
    """Return pyspark's function of batches as one that takes nulls and whose errors name the column."""

    # pyspark reads the hints to see what kind of function this is; those are its own function's
    def predict(data: Iterator[Union[pd.Series, pd.DataFrame]]) -> Iterator[pd.DataFrame]:  # noqa: UP007
        for batch in data:
            null = _null_rows(batch)
            if not null.any() and len(null):
                yield from _told(inner, batch, shapes, who)
                continue
            found: list[Any] = []
            if not null.all():
                kept = tuple(one[~null] for one in batch) if isinstance(batch, tuple) else batch[~null]
                found = list(_told(inner, kept, shapes, who))
            if isinstance(kind, StructType):
                yield pd.DataFrame({n: _with_nulls([one[n] for one in found], null) for n in kind.names})
            else:
                yield _with_nulls(found, null)

    return predict


def _null_rows(batch: Any) -> NDArray[np.bool_]:
    """Return which rows have a null in any column; to pandas a nan in a column of numbers is one."""
    missing = [one.isna() for one in (batch if isinstance(batch, tuple) else (batch,))]
    each = [one.any(axis=1) if isinstance(one, pd.DataFrame) else one for one in missing]
    null: NDArray[np.bool_] = np.any([one.to_numpy() for one in each], axis=0)
    return null


def _with_nulls(found: list[Any], null: NDArray[np.bool_]) -> Any:
    """Return the results of the other rows in their places; as objects, so that integers stay integers."""
    column = np.full(len(null), None, object)
    if found:
        column[~null] = pd.concat(found).astype(object).to_numpy()
    return pd.Series(column)


def _told(inner: Inner, batch: Any, shapes: list[list[int] | None] | None, who: str) -> Iterator[Any]:
    """Call pyspark's function; where it cannot make arrays of the columns, say which one is at fault."""
    if isinstance(batch, tuple):  # pyspark finds them by name, and a column that is given twice has one name
        batch = tuple(one.rename(str(n)) for n, one in enumerate(batch))
    try:
        yield from inner(iter((batch,)))
    except BatchError:
        raise
    except Exception as error:
        raise BatchError(f"{who}: {_misfit(batch, shapes) or error}") from error


def _misfit(batch: Any, shapes: list[list[int] | None] | None) -> str | None:
    """Return what is wrong with the first column that does not have its shape."""
    if isinstance(batch, pd.DataFrame):
        columns = [(f"field {name!r}", batch[name]) for name in batch]
    else:
        given = batch if isinstance(batch, tuple) else (batch,)
        columns = [(f"column {n} of {len(given)}", one) for n, one in enumerate(given, 1)]
    for place, (name, column) in enumerate(columns):
        if not isinstance(column.iloc[0], np.ndarray | list):
            continue
        shape = shapes[place] if shapes is not None and place < len(shapes) else None
        if shape is None:
            return f"{name} holds arrays: input_tensor_shapes= says no shape for it"
        lengths = column.map(len).to_numpy()
        wrong = np.flatnonzero(lengths != math.prod(shape))
        if len(wrong):
            return f"{name} has a row of {lengths[wrong[0]]} values; a row of shape {shape} has {math.prod(shape)}"
    return None
