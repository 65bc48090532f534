"""Rows per second through a Torch7 network inside Spark, beside the same network as PyTorch, in one session.

Both go through pyspark's `predict_batch_udf` on the same Parquet file, into nothing. They take turns; the best round of
each counts.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.ml import functions
from pyspark.sql import DataFrame
from pyspark.sql.types import ArrayType, FloatType

import bridge
from benchmarks.harness import Row
from bridge.spark import map_in_arrow, predict_batch_udf
from examples.spark.session import session

NAME = "models in Spark"
ROWS, FEW = 1_000_000, 4_000
ROUNDS = 5
BATCH = 4096
NETWORK = """
require 'nn'
torch.manualSeed(1)
local net = nn.Sequential():add(nn.Linear(64, 64)):add(nn.Tanh()):add(nn.Linear(64, 10)):add(nn.LogSoftMax())
torch.save(..., net:float())
"""


def run(quick: bool) -> list[Row]:
    """Send all rows through each form in turn."""
    rows, rounds = (FEW, 1) if quick else (ROWS, ROUNDS)
    with tempfile.TemporaryDirectory() as directory, session() as spark:
        model, data = Path(directory, "model.t7"), Path(directory, "digits.parquet")
        with bridge.Lua() as lua:
            lua.execute(NETWORK, str(model))
        write(data, rows)
        frame = spark.read.parquet(str(data))
        options: dict[str, Any] = {
            "return_type": "array<float>",
            "input_tensor_shapes": [[64]],
            "batch_size": BATCH,
        }
        ours = predict_batch_udf(model, **options)
        theirs = functions.predict_batch_udf(
            torch_network(model),
            return_type=ArrayType(FloatType()),
            input_tensor_shapes=[[64]],
            batch_size=BATCH,
        )
        check(frame.limit(100).select(ours("pixels"), theirs("pixels")))
        seconds = best_of(
            rounds,
            lambda: drain(frame.select(ours("pixels"))),
            lambda: drain(frame.select(theirs("pixels"))),
            lambda: drain(map_in_arrow(frame, model, inputs="pixels", **options).select("prediction")),
        )
    speed = [rows / one for one in seconds]
    table, peer = f"Spark on 2 cores, {rows:,} rows of 64 numbers", "PyTorch in predict_batch_udf"
    return [
        Row(
            table=table,
            what=what,
            ours=own,
            theirs=speed[1],
            unit="rows/s",
            peer=peer,
            target=">= 0.9x",
        )
        for what, own in (("predict_batch_udf", speed[0]), ("map_in_arrow", speed[2]))
    ]


def write(path: Path, rows: int) -> None:
    """Write rows of 64 grey levels, in as many groups as there are tasks to read them."""
    grey = np.random.default_rng(1).integers(0, 17, rows * 64).astype(np.float32) / 16
    pixels = pa.ListArray.from_arrays(np.arange(0, rows * 64 + 1, 64, dtype=np.int32), pa.array(grey))
    pq.write_table(pa.table({"pixels": pixels}), path, row_group_size=-(-rows // 8))


def torch_network(model: Path) -> Callable[[], Callable[[Any], Any]]:
    """Return what makes the network on a worker, as a user of PyTorch writes it."""
    parameters = {name: value.numpy() for name, value in bridge.to_torch(model).state_dict().items()}

    def make() -> Callable[[Any], Any]:
        import torch

        net = torch.nn.Sequential(
            torch.nn.Linear(64, 64), torch.nn.Tanh(), torch.nn.Linear(64, 10), torch.nn.LogSoftmax(1)
        )
        net.load_state_dict({name: torch.tensor(value) for name, value in parameters.items()})
        net.eval()

        def predict(pixels: Any) -> Any:
            with torch.inference_mode():
                return net(torch.tensor(pixels)).numpy()

        return predict

    return make


def check(both: DataFrame) -> None:
    """See that the two compute the same before anything is measured."""
    for own, its in both.collect():
        assert np.allclose(own, its, atol=1e-5), (own, its)


def drain(frame: DataFrame) -> None:
    """Compute every row and keep none."""
    frame.write.format("noop").mode("overwrite").save()


def best_of(rounds: int, *works: Callable[[], None]) -> list[float]:
    """Return the shortest time of each, which take turns."""
    times: list[list[float]] = [[] for _ in works]
    for _ in range(rounds):
        for work, taken in zip(works, times, strict=True):
            begin = time.perf_counter()
            work()
            taken.append(time.perf_counter() - begin)
    return [min(taken) for taken in times]
