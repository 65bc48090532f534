"""A program for a cluster: where its tasks ran, how often the model was loaded there, and what came out, as JSON.

    python driver.py MASTER MODEL LOADED

MODEL is a .lua file that writes a line to LOADED whenever it is loaded.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
from pyspark.sql import functions as F

from bridge.spark import batch_model, map_in_arrow, register
from examples.spark.session import session
from tests.spark import QUICK

ROWS = 4000


def main(master: str, model: Path, loaded: Path) -> None:
    """Run three jobs of eight tasks on two executors."""
    settings = {
        "spark_executor_memory": "512m",
        "spark_driver_extraJavaOptions": QUICK,
        "spark_executor_extraJavaOptions": QUICK,
        # tasks wait until both executors are there
        "spark_cores_max": "2",
        "spark_scheduler_minRegisteredResourcesRatio": "1.0",
        "spark_scheduler_maxRegisteredResourcesWaitingTime": "60s",
    }
    with session(master, **settings) as spark:
        frame = spark.range(0, ROWS, numPartitions=8).select("id", F.array(F.col("id") * 1.0).alias("x"))
        frame.createOrReplaceTempView("numbers")
        register("twice", model, return_type="double", input_tensor_shapes=[[1]], batch_size=100)
        of_sql = spark.sql("SELECT sum(twice(x)) FROM numbers").first()
        again = spark.sql("SELECT sum(twice(x)) FROM numbers WHERE id < 100").first()
        of_arrow = (
            map_in_arrow(frame, model, inputs="x", return_type="double").agg(F.sum("prediction")).first()
        )
        assert None not in (of_sql, again, of_arrow)
        calls = batch_model(model)

        def where(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            for batch in batches:
                calls(batch.column(1).flatten().to_numpy().reshape(-1, 1))
                yield pa.RecordBatch.from_pydict({"directory": [str(Path.cwd())], "pid": [os.getpid()]})

        places = frame.mapInArrow(where, "directory string, pid long").collect()
    lines = loaded.read_text().split()
    print(
        json.dumps(
            {
                "sums": [of_sql[0], again[0], of_arrow[0]],
                "executors": sorted({row.directory for row in places}),
                "workers": len({row.pid for row in places}),
                "loads": len(lines),
                "most loads of one process": max(map(lines.count, lines)),
            }
        )
    )


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3]))
