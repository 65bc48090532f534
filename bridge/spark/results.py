"""Converting a model's results to the columns of the declared return type.

A return type is a scalar, an array of scalars, or a struct of these. An array gets all numbers of a row, flattened in
row-major order like input tensors.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pyspark.sql.types import (
    ArrayType,
    ByteType,
    DataType,
    DoubleType,
    FloatType,
    IntegerType,
    LongType,
    ShortType,
    StringType,
    StructType,
)

from bridge.batch import BatchError

# Spark's scalars, and numpy's types for them.
SCALARS: dict[type[DataType], Any] = {
    ByteType: np.int8,
    ShortType: np.int16,
    IntegerType: np.int32,
    LongType: np.int64,
    FloatType: np.float32,
    DoubleType: np.float64,
    StringType: object,
}


@dataclass(frozen=True)
class Field:
    """A column: its name in a struct, the type of its scalars, and whether a row is an array of them."""

    name: str
    dtype: Any
    is_array: bool


def parse(return_type: DataType | str) -> DataType:
    """Return a type, which may be written as in SQL: "float", "array<float>", "struct<class:int,scores:array<float>>".

    Raises
    ------
    ValueError
        A model's results cannot be of this type.
    """
    kind = DataType.fromDDL(return_type) if isinstance(return_type, str) else return_type
    fields(kind)
    return kind


def fields(kind: DataType) -> list[Field]:
    """Return the columns of a return type."""
    if isinstance(kind, StructType):
        return [_field(field.name, field.dataType) for field in kind.fields]
    return [_field("", kind)]


def _field(name: str, kind: DataType) -> Field:
    scalar = kind.elementType if isinstance(kind, ArrayType) else kind
    dtype = SCALARS.get(type(scalar))
    if dtype is None:
        known = ", ".join(one().simpleString() for one in SCALARS)
        where = f"field {name!r} of return_type" if name else "return_type"
        raise ValueError(
            f"{where} is {kind.simpleString()}; a model gives {known}, arrays or structs of them"
        )
    return Field(name, dtype, isinstance(kind, ArrayType))


def columns(output: Any, kind: DataType, rows: int, who: str) -> list[NDArray[Any]]:
    """Return an array with `rows` rows for each column of the type; a column of arrays gives a matrix.

    Parameters
    ----------
    output : object
        The model's result for the batch. For a struct: a dict with the fields' names, or a list or tuple in their
        order.
    who : str
        The model, for errors.

    Raises
    ------
    BatchError
        The result does not fit the type; the message says what was returned and what was expected.
    """
    expected = fields(kind)
    parts = _parts(output, kind, expected, who)
    return [_column(part, field, rows, who) for part, field in zip(parts, expected, strict=True)]


def _parts(output: Any, kind: DataType, expected: Sequence[Field], who: str) -> Sequence[Any]:
    if not isinstance(kind, StructType):
        return [output]
    names = [field.name for field in expected]
    if isinstance(output, dict):
        if set(output) != set(names):
            raise BatchError(
                f"{who} returned {', '.join(map(repr, output))}; return_type has {', '.join(names)}"
            )
        return [output[name] for name in names]
    if len(names) == 1 and isinstance(output, np.ndarray):
        return [output]
    if not isinstance(output, list | tuple) or len(output) != len(names):
        count = f"{len(output)} results" if isinstance(output, list | tuple) else f"a {type(output).__name__}"
        raise BatchError(f"{who} returned {count}; return_type has the fields {', '.join(names)}")
    return output


def _column(value: Any, field: Field, rows: int, who: str) -> NDArray[Any]:
    what = f"for {field.name!r}" if field.name else "for the result"
    try:
        array = np.asarray(value, object if field.dtype is object else None)
    except ValueError:  # lists of several lengths
        raise BatchError(f"{who} returned rows of several lengths {what}") from None
    if array.dtype.kind not in "biufO" or array.ndim == 0 or len(array) != rows:
        raise BatchError(f"{who} returned {_described(value)} {what}; the batch has {rows} rows")
    if field.is_array:
        array = array.reshape(rows, -1)
    elif array.size != rows:
        raise BatchError(f"{who} returned {_described(value)} {what}, where one value per row is expected")
    else:
        array = array.reshape(rows)
    if field.dtype is object:
        strange = next((one for one in array.flat if not isinstance(one, str)), "")
        if strange != "":
            raise BatchError(f"{who} returned {strange!r} {what}, where a text in UTF-8 is expected")
        return array
    return _numbers(array, field.dtype, f"{who} returned {{}} {what}, which is no {np.dtype(field.dtype)}")


def _numbers(array: NDArray[Any], dtype: Any, complaint: str) -> NDArray[Any]:
    """Convert numbers to a type. Raises BatchError for an integer that would change."""
    if array.dtype == dtype:
        return array
    if array.dtype.kind == "O":
        raise BatchError(complaint.format(repr(array.flat[0])))
    with np.errstate(invalid="ignore", over="ignore"):
        converted = array.astype(dtype)
        wrong = converted != array if np.dtype(dtype).kind == "i" else np.zeros(0, bool)
    if wrong.any():
        raise BatchError(complaint.format(array[wrong][0]))
    return converted


def _described(value: Any) -> str:
    if isinstance(value, np.ndarray):
        return f"an array of shape {list(value.shape)}"
    return f"a {type(value).__name__}" + (
        f" of {len(value)}" if isinstance(value, list | tuple | dict | str) else ""
    )
