"""Legacy models inside Spark's tasks: on columns of DataFrames, in SQL, on streams.

`udf` is the form for expressions and SQL (`batches`: what it does beside pyspark), `arrow` that for whole DataFrames.
`travel` brings a model's file to the workers, `results` makes what a model returns what Spark declared, `bridge.batch`
keeps the model in each worker.
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
