"""Models on whole DataFrames by Arrow, on streams, in functions of a program's own; how files travel."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from pyspark import SparkFiles
from pyspark.sql import SparkSession
from pyspark.sql.types import FloatType, LongType

from bridge.batch import BatchError, BatchModel
from bridge.spark import batch_model, map_in_arrow, predict_batch_udf
from bridge.spark.arrow import Column, predicting

pytestmark = pytest.mark.slow

Save = Callable[..., Path]
SUMS = "function sums(x, k) return x:sum(2):view(-1) + (k and k:double() or 0) end"


def on_worker(model: BatchModel, batch: pa.RecordBatch, kind: Any = None, **shapes: Any) -> list[Any]:
    """Return the new column for a batch, made as a worker does, without Spark."""
    columns = [Column(name, shape) for name, shape in shapes.items()]
    made = list(predicting(model, columns, kind or FloatType(), "y", 4)([batch]))
    assert all(one.schema.names == [*batch.schema.names, "y"] for one in made)
    return [value for one in made for value in one.column("y").to_pylist()]


def batch(**columns: Any) -> pa.RecordBatch:
    return pa.RecordBatch.from_pydict(columns)


# ---- map_in_arrow


@pytest.mark.long
def test_a_frame_gets_one_more_column(spark: SparkSession, written: Save) -> None:
    rows = [([1.0, 2.0], 1, "a"), (None, 2, "b"), ([5.0, 6.0], None, "c"), ([7.0, 8.0], 4, None)]
    frame = spark.createDataFrame(rows, "x array<double>, k long, s string")
    found = map_in_arrow(frame, written(SUMS), inputs=["x", "k"], output="sum", return_type="float")
    assert found.columns == ["x", "k", "s", "sum"]
    assert [tuple(row) for row in found.collect()] == [
        (*row, total) for row, total in zip(rows, (4.0, None, None, 19.0), strict=True)
    ]


@pytest.mark.long
def test_columns_of_any_type_pass_beside_the_inputs(spark: SparkSession, written: Save) -> None:
    frame = spark.sql("""
        SELECT id, timestamp'2016-02-29 12:00:00' AS t, timestamp_ntz'2016-02-29 12:00:00' AS u, date'2016-02-29' AS d,
            1.25 AS c, map('a', array(1, NULL)) AS m, named_struct('x', binary('y'), 'z', true) AS s,
            interval '1' day AS i, CAST(NULL AS string) AS n
        FROM range(3)
    """)
    found = map_in_arrow(
        frame, written("function f(x) return x end"), inputs="id", output="o", return_type="long"
    )
    assert found.drop("o").collect() == frame.collect()
    assert [row.o for row in found.collect()] == [0, 1, 2]


def test_structs_arrays_and_empty_partitions(spark: SparkSession, stored: Save) -> None:
    file = stored("nn.ConcatTable():add(nn.Select(2, 1)):add(nn.Identity())")
    frame = spark.createDataFrame([([1.0, 2.0],), (None,), ([3.0, 4.0],)], "x array<double>")
    kind = "struct<first:float,all:array<double>>"
    found = map_in_arrow(frame.repartition(4), file, inputs="x", return_type=kind).collect()
    assert sorted((row.prediction is not None and row.prediction.first, row.x) for row in found if row.x) == [
        (1.0, [1.0, 2.0]),
        (3.0, [3.0, 4.0]),
    ]
    assert [row.prediction for row in found if row.x is None] == [None]
    assert [row.prediction.all for row in found if row.x] == [row.x for row in found if row.x]


def test_types_stay_what_they_are_beside_nulls(written: Save) -> None:
    model = BatchModel(str(written("function kind(k) return torch.LongTensor(k:size(1)):copy(k) end")))
    numbers = [2**53 + 1, None, 5]
    assert on_worker(model, batch(k=pa.array(numbers, pa.int64())), LongType(), k=None) == numbers


def test_batches_are_cut_to_size_and_owned(written: Save) -> None:
    filled = "y:resize(x:size(1)):fill(x:size(1))"
    code = f"require 'torch' local y = torch.DoubleTensor() function f(x) return {filled} end"
    model = BatchModel(str(written(code)))
    assert on_worker(model, batch(x=[[1.0]] * 10), x=None) == [4.0] * 8 + [2.0] * 2


def test_a_null_inside_an_array_is_nan(written: Save) -> None:
    model = BatchModel(str(written("function f(x) return x:ne(x):double():sum(2):view(-1) end")))
    assert on_worker(model, batch(x=[[1.0, None], [1.0, 2.0]]), x=None) == [1.0, 0.0]


@pytest.mark.parametrize(
    ("given", "shape", "said"),
    [
        (pa.array([[1.0, 2.0], [1.0]]), (2,), "has a row of 1 values; a row of shape [2] has 2"),
        (pa.array([1.0]), (2,), "holds one value per row, input_tensor_shapes= says [2]"),
        (pa.array([[[1.0]]]), None, "is of type list<item: double>"),
        (pa.array([b"x"]), None, "is of type binary"),
    ],
    ids=["length", "scalar", "nested", "bytes"],
)
def test_a_column_that_does_not_fit_is_named(
    written: Save, given: pa.Array, shape: tuple[int, ...] | None, said: str
) -> None:
    model = BatchModel(str(written("function f(x) return x end")), "f")
    with pytest.raises(BatchError) as caught:
        on_worker(model, batch(pixels=given), pixels=shape)
    assert f"f of {model.file}: column 'pixels' " in str(caught.value)
    assert said in str(caught.value)


def test_an_error_of_the_model_names_the_columns(written: Save) -> None:
    model = BatchModel(str(written("function f(x) error('no') end")), "f")
    with pytest.raises(
        BatchError, match=r"(?s)f of .*model\.lua failed on a batch of .*no.*of the columns pixels"
    ):
        on_worker(model, batch(pixels=[1.0]), pixels=None)


def test_what_cannot_work_is_refused_before_any_task(spark: SparkSession, written: Save) -> None:
    frame, file = spark.range(3), written(SUMS)
    with pytest.raises(ValueError, match=r"inputs= names \['x'\]; there are the columns id"):
        map_in_arrow(frame, file, inputs="x", return_type="float")
    with pytest.raises(ValueError, match="output='id' is a column already"):
        map_in_arrow(frame, file, inputs="id", output="id", return_type="float")
    with pytest.raises(ValueError, match="has 2 shapes for 1 inputs"):
        map_in_arrow(frame, file, inputs="id", return_type="float", input_tensor_shapes=[[1], [2]])
    with pytest.raises(ValueError, match="batch_size= is at least 1"):
        map_in_arrow(frame, file, inputs="id", return_type="float", batch_size=0)
    with pytest.raises(ValueError, match="a column that is there twice; there are id, id"):
        map_in_arrow(frame.select("id", "id"), file, inputs="id", return_type="float")


# ---- streams


@pytest.mark.long
def test_a_directory_is_a_stream(spark: SparkSession, written: Save, tmp_path: Path) -> None:
    """Files that come later are done later, each once; the model is the same for both."""
    source, target = tmp_path / "in", tmp_path / "out"
    source.mkdir()
    double = predict_batch_udf(written("function f(n) return n * 2 end"), return_type="long", batch_size=4)
    stream = spark.readStream.schema("id long").parquet(str(source))
    scored = map_in_arrow(
        stream.withColumn("twice", double("id")),
        written("function f(n) return n * 3 end", "three.lua"),
        inputs="id",
        output="thrice",
        return_type="long",
    )
    seen = []
    for first in (0, 5):
        spark.range(first, first + 5).coalesce(1).write.mode("append").parquet(str(source))
        query = (
            scored.writeStream.format("parquet")
            .option("checkpointLocation", str(tmp_path / "checkpoint"))
            .trigger(availableNow=True)
            .start(str(target))
        )
        assert query.awaitTermination(60)
        seen.append(sorted(tuple(row) for row in spark.read.parquet(str(target)).collect()))
    assert seen == [[(n, 2 * n, 3 * n) for n in range(count)] for count in (5, 10)]


# ---- functions of a program's own


def test_map_in_pandas(spark: SparkSession, written: Save) -> None:
    model = batch_model(written(SUMS))

    def scored(frames: Any) -> Any:
        for frame in frames:
            yield pd.DataFrame({"sum": model(np.stack(list(frame["x"])))})

    frame = spark.createDataFrame([([1.0, 2.0],), ([3.0, 4.0],)], "x array<double>")
    assert [row.sum for row in frame.mapInPandas(scored, "sum double").collect()] == [3.0, 7.0]


# ---- how files travel


def test_a_changed_file_is_a_new_one(spark: SparkSession, written: Save) -> None:
    """Though Spark keeps the first file of a name for as long as the session lives."""
    frame = spark.range(1, 3)
    results = []
    for factor in (2, 3):
        file = written(f"function f(n) return n * {factor} end")
        found = predict_batch_udf(file, return_type="long", batch_size=4)
        results.append([row[0] for row in frame.select(found("id")).collect()])
    assert results == [[2, 4], [3, 6]]


def test_the_same_content_is_sent_once(spark: SparkSession, written: Save) -> None:
    sent = []
    for _ in range(2):
        batch_model(written("function f() return 'the same content' end"))
        sent.append(len(spark.sparkContext.listFiles))
    assert sent[0] == sent[1]


def test_files_lie_beside_the_model_under_their_names(
    spark: SparkSession, written: Save, stored: Save
) -> None:
    stored("torch.DoubleTensor{10, 20}", "weights of 2016.t7")
    written("return {bias = 1}", "settings.lua")
    code = """
    require 'torch'
    local here = debug.getinfo(1, 'S').source:match('^@(.*)/')
    local weights = torch.load(here .. '/weights of 2016.t7')
    local settings = require 'settings'
    function f(x) return x * weights + settings.bias end
    """
    model = written(code)
    files = [model.with_name("weights of 2016.t7"), model.with_name("settings.lua")]
    found = predict_batch_udf(
        model, files=files, return_type="double", input_tensor_shapes=[[2]], batch_size=4
    )
    frame = spark.createDataFrame([([1.0, 2.0],), ([3.0, 4.0],)], "x array<double>")
    assert [row[0] for row in frame.select(found("x")).collect()] == [51.0, 111.0]


def test_a_function_of_another_session_says_so(
    spark: SparkSession, written: Save, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = batch_model(written("function f(x) return x end"))
    (tmp_path / "other").mkdir()
    monkeypatch.setattr(SparkFiles, "getRootDirectory", lambda: str(tmp_path / "other"))
    with pytest.raises(BatchError, match=r"model\.lua was sent by another session: make the function anew"):
        model(1.0)


def test_two_files_of_one_name_are_refused(spark: SparkSession, written: Save, tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    with pytest.raises(ValueError, match=r"need different names, got model\.lua, model\.lua"):
        batch_model(written("x = 1"), files=[written("x = 2", "other/model.lua")])
