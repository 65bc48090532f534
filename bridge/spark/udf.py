"""A model as a function of columns: for DataFrames, for SQL, for streams. It is pyspark's own `predict_batch_udf`.

What pyspark leaves out is done around it, in `batches`.
"""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pyspark.ml import functions
from pyspark.sql import SparkSession
from pyspark.sql.pandas.functions import pandas_udf
from pyspark.sql.types import DataType, StructType

from bridge.batch import BatchError, BatchModel
from bridge.spark import results
from bridge.spark.batches import Inputs, Shapes, around, told
from bridge.spark.travel import batch_model, context

File = str | os.PathLike[str]


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
    inputs = told(input_tensor_shapes)
    sent = batch_model(model, function=function, key=key, files=files, session=session)
    inner = functions.predict_batch_udf(
        Predicting(sent, kind, inputs),
        return_type=kind,
        batch_size=batch_size,
        input_tensor_shapes=inputs.for_pyspark(),
    )
    predict = around(inner.func, kind, inputs, str(sent))
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


@dataclass(frozen=True)
class Predicting:
    """What pyspark calls on a worker to get the function of a batch: its signature says how many columns it takes."""

    model: BatchModel
    kind: DataType
    inputs: Inputs

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
        least, number = max(self.inputs.shapes, default=0) + 1, self.inputs.number
        if "..." in names:
            return number or least
        wanted = number or max(own, least)
        if loaded.platform == "lua" and own != wanted:
            raise BatchError(
                f"{self.model} takes {own} ({', '.join(names)}), input_tensor_shapes= has {wanted}"
            )
        return wanted
