"""Texts in Spark through a character model of Torch7, which tells English from English backwards.

    python -m examples.spark.characters

The model is a Lua file (`characters.lua`) whose trained parameters travel beside it. Spark hands it strings; it never
saw a line backwards, it only finds them odd.
"""

from __future__ import annotations

import bz2
import sys
import tempfile
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

import bridge
from bridge.spark import predict_batch_udf
from examples.spark.session import session

HERE = Path(__file__).parent
MODEL = HERE / "characters.lua"
BOOK = HERE.parent / "apps" / "data" / "king-james.txt.bz2"
LETTERS = 400_000  # of the book to train on; the lines that follow are Spark's
LINES = 500


def train(parameters: Path, steps: int = 600) -> float:
    """Teach the network the book's beginning; return its last loss in bits per letter."""
    with bridge.Lua() as lua, bz2.open(BOOK, "rt") as book:
        model = lua.load(MODEL)
        lua.execute("torch.manualSeed(1)")
        loss: float = model.train(book.read(LETTERS), steps, 0.5)
        model.save(str(parameters))
    return loss


def lines(spark: SparkSession) -> DataFrame:
    """Return lines that the model has not seen, each also backwards."""
    with bz2.open(BOOK, "rt") as book:
        book.read(LETTERS)
        book.readline()
        texts = [line.strip() for line, _ in zip(book, range(LINES), strict=False)]
    forwards = spark.createDataFrame([(text,) for text in texts if len(text) > 30], "line string")
    both = F.explode(F.array(F.lit("forwards"), F.lit("backwards")))
    turned = F.when(F.col("way") == "forwards", F.col("line")).otherwise(F.reverse("line"))
    return forwards.withColumn("way", both).withColumn("line", turned)


def main(spark: SparkSession, directory: Path) -> float:
    """Print how surprising the lines are; return how many pairs the model tells apart."""
    parameters = directory / "characters.t7"
    print(f"trained to {train(parameters):.2f} bits per letter")
    surprise = predict_batch_udf(
        MODEL, function="surprise", files=[parameters], return_type="float", batch_size=256
    )
    scored = lines(spark).withColumn("bits", surprise("line")).cache()
    for way, bits in scored.groupBy("way").agg(F.avg("bits")).orderBy("way").collect():
        print(f"{way:10} {bits:.2f} bits per letter")
    odd = scored.where("way = 'forwards'").orderBy(F.desc("bits")).first()
    assert odd
    print(f"oddest     {odd.line!r}")
    middle = scored.agg(F.percentile_approx("bits", 0.5)).first()
    assert middle
    right = (
        scored.where((F.col("bits") > middle[0]) == (F.col("way") == "backwards")).count() / scored.count()
    )
    print(f"told apart {right:.1%}")
    return right


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as place, session() as own:
        sys.exit(main(own, Path(place)) < 0.8)
