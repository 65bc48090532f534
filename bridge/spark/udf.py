"""A model as a function of columns, for DataFrames, SQL and streams, by pyspark's own `predict_batch_udf`.

`batches` adds what pyspark's function lacks.
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
    """Return a file's model as a function of columns, like `pyspark.ml.functions.predict_batch_udf` for Python models.

    Parameters
    ----------
    model : path
        A .t7, .lua, .pt2 or .onnx file on the driver. It is sent to the workers; each loads it once.
    return_type : DataType or str
        A scalar, an array of scalars, or a struct of these, also in SQL's form. For a struct, the model returns a table
        with the fields' names, or several results in their order.
    batch_size : int
        Most rows of a call.
    function, key : str, optional
        The function or method, and the network's place in the file's tables; see `bridge.models.load`.
    input_tensor_shapes : sequence or mapping, optional
        The shape of a row of each input; None for a column of numbers or texts. A column of arrays needs a shape.
        Without this parameter, the number of inputs is that of the function's parameters or of the network's inputs.
    files : sequence of path
        Files that the model opens or requires; on the workers they are in its directory.
    session : SparkSession, optional
        By default the active one.

    Returns
    -------
    callable
        Takes as many columns, or their names, as the model has inputs. The result of a row with a null is null (or a
        struct of nulls), and the model does not get that row.

    Raises
    ------
    FileNotFoundError, T7Error
        The file is missing or damaged.
    ValueError
        The return type, the batch size or a shape is not valid.
    RuntimeError
        There is no session, or it is one of Spark Connect, which has no `addFile`.
    """
    context(session)  # parsing types needs it too
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
    predict.__name__ = function or Path(model).stem  # Spark's name of the column
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
    """Make such a function and register it for SQL: `SELECT name(column) FROM ...`. Returns it too."""
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
    """pyspark calls this on a worker to get the function of a batch, whose signature has the number of columns."""

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
        """Return the number of inputs, from the shapes or else from the model's own parameters.

        Raises
        ------
        BatchError
            The function takes another number of inputs.
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
