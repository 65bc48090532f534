"""A model on whole DataFrames, by Arrow: by columns' names, without converting types, and without pandas."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray
from pyspark.sql import DataFrame
from pyspark.sql.pandas.types import to_arrow_type
from pyspark.sql.types import DataType, StructField, StructType

from bridge.batch import BatchError, BatchModel
from bridge.spark import results
from bridge.spark.travel import batch_model

File = str | os.PathLike[str]


def map_in_arrow(
    frame: DataFrame,
    model: File,
    *,
    inputs: str | Sequence[str],
    return_type: DataType | str,
    output: str = "prediction",
    batch_size: int = 1024,
    function: str | None = None,
    key: str | None = None,
    input_tensor_shapes: Sequence[Sequence[int] | None] | None = None,
    files: Sequence[File] = (),
) -> DataFrame:
    """Return a DataFrame with one more column: a model's results for some of its columns.

    Parameters
    ----------
    frame : DataFrame
        Data of a table or a stream.
    model, function, key, files, return_type
        As for `predict_batch_udf`.
    inputs : str or sequence of str
        The columns for the model: numbers, texts, or arrays of numbers.
    output : str
        The name of the new column.
    batch_size : int
        Most rows of a call; Spark passes at most `spark.sql.execution.arrow.maxRecordsPerBatch` at a time.
    input_tensor_shapes : sequence, optional
        The shape of one row of each input. Without it a row of an array is a vector, as long as the first one.

    Raises
    ------
    FileNotFoundError, T7Error
        The file is missing or damaged.
    ValueError
        A column does not exist, `output` exists already, or a shape or type is not valid.
    """
    names = [inputs] if isinstance(inputs, str) else list(inputs)
    kind = results.parse(return_type)
    unknown = [name for name in names if name not in frame.columns]
    if unknown or not names:
        raise ValueError(
            f"inputs= names {unknown or 'nothing'}; there are the columns {', '.join(frame.columns)}"
        )
    if any(frame.columns.count(name) > 1 for name in names):
        raise ValueError(f"inputs= names a column that is there twice; there are {', '.join(frame.columns)}")
    if output in frame.columns:
        raise ValueError(f"output={output!r} is a column already")
    if batch_size < 1:
        raise ValueError(f"batch_size= is at least 1, got {batch_size!r}")
    shapes = [None] * len(names) if input_tensor_shapes is None else list(input_tensor_shapes)
    if len(shapes) != len(names):
        raise ValueError(f"input_tensor_shapes= has {len(shapes)} shapes for {len(names)} inputs")
    sent = batch_model(model, function=function, key=key, files=files, session=frame.sparkSession)
    columns = [
        Column(name, None if shape is None else tuple(shape))
        for name, shape in zip(names, shapes, strict=True)
    ]
    schema = StructType([*frame.schema.fields, StructField(output, kind)])
    return frame.mapInArrow(predicting(sent, columns, kind, output, batch_size), schema)


@dataclass(frozen=True)
class Column:
    """An input: the column's name, and the shape of a row if it was given."""

    name: str
    shape: tuple[int, ...] | None


Batches = Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]


def predicting(
    model: BatchModel, columns: Sequence[Column], kind: DataType, output: str, size: int
) -> Batches:
    """Return the function of batches that Spark calls on a worker."""

    def predict(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for whole in batches:
            for begin in range(0, whole.num_rows, size):
                batch = whole.slice(begin, size)
                given = batch.select([column.name for column in columns])
                null = np.any([_null(one) for one in given.columns], axis=0)
                rows = given.filter(pa.array(~null)) if null.any() else given
                found = _results(model, columns, rows, kind)
                if null.any():
                    places = pa.array(np.cumsum(~null) - 1, mask=null)
                    found = found.take(places)
                yield batch.append_column(output, found)

    return predict


def _results(model: BatchModel, columns: Sequence[Column], rows: pa.RecordBatch, kind: DataType) -> pa.Array:
    """Return the model's results for rows without nulls."""
    target = to_arrow_type(kind)
    if not rows.num_rows:
        return pa.nulls(0, target)
    who = str(model)
    inputs = [_input(rows.column(n), column, who) for n, column in enumerate(columns)]
    try:
        output = model(*inputs)
    except BatchError as error:
        raise BatchError(f"{error}\nof the columns {', '.join(column.name for column in columns)}") from error
    found = results.columns(output, kind, rows.num_rows, who)
    if isinstance(kind, StructType):
        parts = [_array(one, target.field(n).type) for n, one in enumerate(found)]
        return pa.StructArray.from_arrays(parts, fields=list(target))
    return _array(found[0], target)


def _null(column: pa.Array) -> NDArray[np.bool_]:
    missing: NDArray[np.bool_] = column.is_null().to_numpy(zero_copy_only=False)
    return missing


def _input(values: pa.Array, column: Column, who: str) -> Any:
    """Return a column without nulls as an input of the model; nulls inside arrays become nan."""
    told = f"{who}: column {column.name!r}"
    kind = values.type
    shape: tuple[int, ...] = ()
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        lengths = pc.list_value_length(values).to_numpy(zero_copy_only=False)
        shape = column.shape or (int(lengths[0]),)
        wrong = np.flatnonzero(lengths != math.prod(shape))
        if len(wrong):
            raise BatchError(
                f"{told} has a row of {lengths[wrong[0]]} values; a row of shape {list(shape)} has {math.prod(shape)}"
            )
        values = values.flatten()
        kind = values.type
    elif pa.types.is_string(kind) or pa.types.is_large_string(kind):
        return values.to_pylist()
    elif column.shape not in (None, ()):
        raise BatchError(
            f"{told} holds one value per row, input_tensor_shapes= says {list(column.shape or ())}"
        )
    if not (pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_boolean(kind)):
        raise BatchError(f"{told} is of type {kind}; models take numbers, texts and flat arrays of numbers")
    return values.to_numpy(zero_copy_only=False).reshape(-1, *shape)


def _array(values: NDArray[Any], kind: pa.DataType) -> pa.Array:
    if not pa.types.is_list(kind):
        return pa.array(values, kind)
    offsets = np.arange(0, values.size + 1, values.shape[1], dtype=np.int32)
    return pa.ListArray.from_arrays(offsets, pa.array(values.reshape(-1), kind.value_type), type=kind)
