"""Digits in Parquet, read by Spark, recognised by a Torch7 network, counted in SQL.

    python -m examples.spark.digits

The network is the model file of `examples/digits`, as people wrote it in 2016. It is trained for a moment,
saved, and from then on Spark has a function `scores(pixels)`.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import numpy as np
from pyspark.sql import SparkSession
from sklearn import datasets

import bridge
from bridge.spark import register
from examples.spark.session import session

MODEL = Path(__file__).parents[1] / "digits" / "model.lua"
TRAINED, EPOCHS, BATCH, RATE = 1347, 20, 32, 0.2
QUERY = """
    WITH read AS (SELECT digit, scores(pixels) AS s FROM digits)
    SELECT digit, count(*) AS seen, avg(int(array_position(s, array_max(s)) - 1 = digit)) AS right
    FROM read GROUP BY digit ORDER BY digit
"""


def train(file: Path, pixels: np.ndarray, digits: np.ndarray) -> None:
    """Run the model file's own training function, then save its network."""
    with bridge.Lua() as lua:
        model = lua.load(MODEL)
        lua.execute("torch.manualSeed(1) model:reset()")
        step = lua.eval("function(rate) parameters:add(-rate, gradParameters) end")
        for _ in range(EPOCHS):
            for begin in range(0, len(pixels), BATCH):
                part = slice(begin, begin + BATCH)
                model.train({"inputs": pixels[part], "targets": digits[part] + 1.0})
                step(RATE)
        lua.execute("torch.save(..., model:clearState())", str(file))


def main(spark: SparkSession, directory: Path) -> float:
    """Print how many of each digit are read right; return the share of all."""
    pixels, digits = datasets.load_digits(return_X_y=True)
    order = np.random.default_rng(0).permutation(len(digits))
    pixels, digits = (pixels[order] / 16).astype(np.float32), digits[order]
    train(directory / "digits.t7", pixels[:TRAINED], digits[:TRAINED])

    rows = list(zip(digits[TRAINED:].tolist(), pixels[TRAINED:].tolist(), strict=True))
    table = str(directory / "digits.parquet")
    spark.createDataFrame(rows, "digit int, pixels array<float>").write.parquet(table)

    spark.read.parquet(table).createOrReplaceTempView("digits")
    register(
        "scores",
        directory / "digits.t7",
        return_type="array<float>",
        input_tensor_shapes=[[64]],
        batch_size=512,
    )
    found = spark.sql(QUERY).collect()
    for digit, seen, right in found:
        print(f"{digit}: {seen} seen, {right:.1%} right")
    share: float = sum(row.seen * row.right for row in found) / sum(row.seen for row in found)
    print(f"all: {share:.1%} right")
    return share


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as place, session() as own:
        sys.exit(main(own, Path(place)) < 0.9)
