"""Lua/Torch7 models inside Spark's tasks: on columns of DataFrames, in SQL, on streams.

`udf` makes functions for expressions and SQL (`batches` has what pyspark's own function lacks), `arrow` works on whole
DataFrames. `travel` sends a model's file to the workers, `results` converts results to the declared type, and
`bridge.batch` keeps the model in each worker.
"""

from __future__ import annotations

from importlib.util import find_spec

missing = [name for name in ("pyspark", "pandas", "pyarrow") if find_spec(name) is None]
if missing:
    raise ImportError(f"bridge.spark needs {', '.join(missing)}: pip install 'moontide[spark]'")

from bridge.spark.arrow import map_in_arrow  # noqa: E402
from bridge.spark.travel import batch_model  # noqa: E402
from bridge.spark.udf import predict_batch_udf, register  # noqa: E402

__all__ = ["batch_model", "map_in_arrow", "predict_batch_udf", "register"]
