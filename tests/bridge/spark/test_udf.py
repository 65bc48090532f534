"""Models as functions of columns: what goes in, what comes out, nulls, and what errors say."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from pyspark.errors import PythonException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import FloatType, StringType, StructField, StructType

import bridge
from bridge.batch import BatchError
from bridge.spark import predict_batch_udf, register

pytestmark = pytest.mark.slow

Save = Callable[..., Path]
NET = "nn.Sequential():add(nn.Linear(4, 3)):add(nn.Tanh())"
ROWS = np.arange(40.0).reshape(10, 4) / 40


@pytest.fixture(scope="module")
def frame(spark: SparkSession) -> DataFrame:
    """Ten rows in two partitions: a number, its row of four as doubles, a text."""
    rows = [(n, row.tolist(), "x" * n) for n, row in enumerate(ROWS)]
    return spark.createDataFrame(rows, "n long, x array<double>, s string")


def values(column: Any, frame: DataFrame) -> list[Any]:
    """Return a column's values, in the rows' order."""
    return [row[0] for row in frame.select(column).collect()]


def failure(udf: Any, *columns: pd.Series) -> str:
    """Give the function a batch as a worker does, without Spark."""
    with pytest.raises(BatchError) as caught:
        list(udf.func(iter([columns if len(columns) > 1 else columns[0]])))
    return str(caught.value)


# ---- inputs


@pytest.mark.parametrize("kind", ["float", "double"])
def test_a_network_takes_arrays_of_any_floating_type(
    frame: DataFrame, stored: Save, kind: str, lua: bridge.Lua
) -> None:
    file = stored(f"{NET}:{kind}()")
    net = predict_batch_udf(file, return_type="array<double>", input_tensor_shapes=[[4]], batch_size=3)
    lua.require("nn")
    expected = lua.execute("return torch.load(...)", str(file))
    wanted = expected.forward(ROWS.astype("float32" if kind == "float" else "float64"))
    assert np.allclose(values(net("x"), frame), wanted, atol=1e-6)


def test_a_shape_is_that_of_one_row(frame: DataFrame, written: Save) -> None:
    file = written(
        "require 'torch' function columns(x) return x:size(3) + x:narrow(2, 1, 1):sum(3):view(-1) end"
    )
    found = predict_batch_udf(file, return_type="double", input_tensor_shapes=[[2, 2]], batch_size=4)
    assert np.allclose(values(found("x"), frame), 2 + ROWS[:, :2].sum(1))


def test_columns_of_numbers_are_a_function_s_parameters(frame: DataFrame, written: Save) -> None:
    file = written("function weighted(a, b) return a:double() * 10 + b end")
    found = predict_batch_udf(file, return_type="double", batch_size=4)
    assert values(found("n", F.col("n") * 0.5), frame) == [10.5 * n for n in range(10)]


def test_a_network_takes_several_columns_as_a_table(frame: DataFrame, stored: Save) -> None:
    file = stored(
        "nn.Sequential():add(nn.ParallelTable():add(nn.Identity()):add(nn.MulConstant(2))):add(nn.CAddTable())"
    )
    found = predict_batch_udf(file, return_type="array<double>", input_tensor_shapes=[[4], [4]], batch_size=4)
    assert np.allclose(values(found("x", "x"), frame), 3 * ROWS)


def test_the_fields_of_a_struct_are_columns_too(frame: DataFrame, written: Save) -> None:
    file = written("function weighted(a, b) return a:double() * 10 + b end")
    found = predict_batch_udf(file, return_type="double", batch_size=4)
    assert values(found(F.struct("n", F.col("n") * 0.5)), frame) == [10.5 * n for n in range(10)]


def test_shapes_may_be_told_by_the_column_s_place(frame: DataFrame, written: Save) -> None:
    file = written("function scaled(n, x) return x:sum(2):view(-1):cmul(n:double()) end")
    found = predict_batch_udf(file, return_type="double", input_tensor_shapes={1: [4]}, batch_size=4)
    assert np.allclose(values(found("n", "x"), frame), ROWS.sum(1) * np.arange(10))
    file = written("function scaled(x, n) return x:sum(2):view(-1):cmul(n:double()) end", "swapped.lua")
    found = predict_batch_udf(file, return_type="double", input_tensor_shapes={0: [4]}, batch_size=4)
    assert np.allclose(values(found("x", "n"), frame), ROWS.sum(1) * np.arange(10))


def test_texts_are_a_table_of_strings(frame: DataFrame, written: Save) -> None:
    file = written(
        "function shout(t) local u = {} for i, s in ipairs(t) do u[i] = s:upper() .. #s end return u end"
    )
    found = predict_batch_udf(file, return_type="string", batch_size=4)
    assert values(found("s"), frame) == [f"{'X' * n}{n}" for n in range(10)]


# ---- results


def test_a_struct_takes_several_results_in_order_or_by_name(frame: DataFrame, written: Save) -> None:
    code = """
    require 'torch'
    function several(x) local top, place = x:max(2) return place, x end
    function named(x) local top, place = x:max(2) return {scores = x, best = place} end
    """
    file = written(code)
    kind = "struct<best:int,scores:array<float>>"
    for name in ("several", "named"):
        found = predict_batch_udf(
            file, function=name, return_type=kind, input_tensor_shapes=[[4]], batch_size=4
        )
        rows = values(found("x"), frame)
        assert [row.best for row in rows] == [4] * 10
        assert np.allclose([row.scores for row in rows], ROWS)


def test_types_may_be_spark_s_own(frame: DataFrame, written: Save) -> None:
    kind = StructType([StructField("half", FloatType()), StructField("text", StringType())])
    file = written(
        "function f(n) local t = {} for i = 1, n:size(1) do t[i] = 'n' .. n[i] end return n:double() / 2, t end"
    )
    found = predict_batch_udf(file, return_type=kind, batch_size=4)
    assert [tuple(row) for row in values(found("n"), frame)] == [(n / 2, f"n{n}") for n in range(10)]


def test_an_output_of_more_dimensions_is_flattened(frame: DataFrame, stored: Save) -> None:
    found = predict_batch_udf(
        stored("nn.View(2, 2):setNumInputDims(1)"),
        return_type="array<double>",
        input_tensor_shapes=[[4]],
        batch_size=4,
    )
    assert np.allclose(values(found("x"), frame), ROWS)


def test_results_are_owned_though_the_model_fills_one_buffer(frame: DataFrame, written: Save) -> None:
    """Each batch has one row, and all results of a partition wait in one Arrow batch."""
    file = written(
        "require 'torch' local y = torch.DoubleTensor() function f(x) y:resizeAs(x):copy(x) return y end"
    )
    found = predict_batch_udf(file, return_type="array<double>", input_tensor_shapes=[[4]], batch_size=1)
    assert np.allclose(values(found("x"), frame), ROWS)


def test_a_model_that_works_in_place_does_not_change_the_column(frame: DataFrame, written: Save) -> None:
    file = written("function twice(x) return x:mul(2) end")
    found = predict_batch_udf(file, return_type="array<double>", input_tensor_shapes=[[4]], batch_size=4)
    rows = frame.select("x", found("x"), found("x")).collect()
    assert all(np.allclose(row[1], 2 * np.array(row[0])) and row[1] == row[2] for row in rows)


# ---- nulls


def test_a_row_with_a_null_gives_null_and_the_model_does_not_see_it(
    spark: SparkSession, written: Save
) -> None:
    rows = [
        (0, [1.0, 2.0], 1 << 60),
        (1, None, 1),
        (2, [3.0, 4.0], None),
        (3, [5.0, 6.0], 3),
        (4, None, None),
    ]
    frame = spark.createDataFrame(rows, "n long, x array<double>, k long").coalesce(1)
    file = written("function seen(x, k) return x:sum(2):view(-1) * 0 + x:size(1), k end")
    kind = "struct<rows:int,k:double>"
    found = predict_batch_udf(file, return_type=kind, input_tensor_shapes=[[2], None], batch_size=10)
    assert [tuple(row) for row in values(found("x", "k"), frame)] == [
        (2, float(1 << 60)),
        (None, None),
        (None, None),
        (2, 3.0),
        (None, None),
    ]


def test_nan_in_a_column_of_numbers_is_null_too(spark: SparkSession, written: Save) -> None:
    """By pandas, which does not tell them apart."""
    found = predict_batch_udf(written("function f(x) return x * 2 end"), return_type="double", batch_size=10)
    (column,) = found.func(iter([pd.Series([1.0, float("nan"), 3.0])]))
    assert column.tolist() == [2.0, None, 6.0]


def test_integers_beside_nulls_stay_exact(spark: SparkSession, written: Save) -> None:
    frame = spark.createDataFrame([(0, "a"), (1, None), (2, "b")], "n long, s string").coalesce(1)
    file = written("function big(t) local y = torch.LongTensor(#t) return y:fill(2^53):add(1) end")
    found = predict_batch_udf(file, return_type="long", batch_size=10)
    assert values(found("s"), frame) == [2**53 + 1, None, 2**53 + 1]


def test_partitions_without_rows_and_columns_without_values(spark: SparkSession, written: Save) -> None:
    file = written("function f() error('called') end")
    found = predict_batch_udf(file, return_type="array<float>", input_tensor_shapes=[[2]], batch_size=10)
    none = spark.createDataFrame([], "n long, x array<double>")
    nulls = spark.createDataFrame([(n, None) for n in range(3)], "n long, x array<double>")
    assert values(found("x"), none.repartition(3)) == []
    assert values(found("x"), nulls) == [None] * 3


# ---- errors on a worker


def test_a_model_that_fails_in_the_middle_names_its_file_and_function(
    frame: DataFrame, written: Save
) -> None:
    file = written("function picky(n) assert(n:max() < 8, 'eight is too much') return n:double() end")
    found = predict_batch_udf(file, function="picky", return_type="double", batch_size=2)
    with pytest.raises(PythonException) as caught:
        frame.select(found("n")).collect()
    assert f"BatchError: picky of {file} failed on a batch of int64[" in str(caught.value)
    assert "eight is too much" in str(caught.value)
    assert values(found("n"), frame.where("n < 8")) == list(range(8))  # the session goes on


def test_another_number_of_columns_is_told(spark: SparkSession, written: Save) -> None:
    file = written("function f(a, b) return a end")
    found = predict_batch_udf(file, return_type="long", batch_size=10)
    text = failure(found, pd.Series([1]))
    assert f"the model of {file}: Model expected 2 inputs, but received 1 columns" in text


def test_arrays_without_a_shape_are_told(spark: SparkSession, written: Save) -> None:
    file = written("function f(a, x) return a end")
    found = predict_batch_udf(file, return_type="long", batch_size=10)
    text = failure(found, pd.Series([1]), pd.Series([np.ones(2)]))
    assert "column 2 of 2 holds arrays: input_tensor_shapes= says no shape for it" in text


def test_a_row_of_another_length_names_its_column(spark: SparkSession, written: Save) -> None:
    file = written("function f(n, x) return n end")
    found = predict_batch_udf(file, return_type="long", input_tensor_shapes=[None, [2]], batch_size=10)
    text = failure(found, pd.Series([0, 1]), pd.Series([np.ones(2), np.ones(1)]))
    assert f"the model of {file}: column 2 of 2 has a row of 1 values; a row of shape [2] has 2" in text


@pytest.mark.parametrize(
    ("code", "kind", "said"),
    [
        (
            "return x:narrow(1, 1, 1)",
            "array<float>",
            "returned an array of shape [1, 4] for the result; the batch has",
        ),
        ("return x", "float", "where one value per row is expected"),
        ("return x:select(2, 1) + 0.5", "int", "which is no int32"),
        ("return 'text'", "string", "returned a str of 4"),
        ("return x", "struct<a:float,b:float>", "returned a ndarray; return_type has the fields a, b"),
        ("return {a = x}", "struct<a:array<float>,b:float>", "returned 'a'; return_type has a, b"),
    ],
    ids=["rows", "shape", "fraction", "no table", "one of two", "names"],
)
def test_a_result_that_does_not_fit_is_told(
    spark: SparkSession, written: Save, code: str, kind: str, said: str
) -> None:
    file = written(f"require 'torch' function f(x) {code} end")
    found = predict_batch_udf(file, function="f", return_type=kind, input_tensor_shapes=[[4]], batch_size=4)
    text = failure(found, pd.Series(list(ROWS)))
    assert f"f of {file} " in text
    assert said in text


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("function f(a, b) return a end", "takes 2 (a, b), input_tensor_shapes= has 1"),
        ("function g(x) return x end", "defines no function 'f'; it has g"),
        ("function f(x", "cannot be loaded"),
        ("error('no weights')", "no weights"),
    ],
    ids=["parameters", "function", "syntax", "error"],
)
def test_a_file_that_does_not_load_is_named(spark: SparkSession, written: Save, code: str, said: str) -> None:
    file = written(code)
    found = predict_batch_udf(
        file, function="f", return_type="array<float>", input_tensor_shapes=[[4]], batch_size=4
    )
    text = failure(found, pd.Series(list(ROWS)))
    assert f"f of {file} " in text
    assert said in text


# ---- errors on the driver


def test_what_cannot_work_is_refused_before_any_task(
    spark: SparkSession, tmp_path: Path, stored: Save
) -> None:
    file = stored(NET)
    with pytest.raises(FileNotFoundError, match=r"none\.t7"):
        predict_batch_udf(tmp_path / "none.t7", return_type="float", batch_size=1)
    with pytest.raises(ValueError, match="return_type is map<string,float>"):
        predict_batch_udf(file, return_type="map<string,float>", batch_size=1)
    with pytest.raises(ValueError, match="field 'a' of return_type is array<array<float>>"):
        predict_batch_udf(file, return_type="struct<a:array<array<float>>>", batch_size=1)
    with pytest.raises(ValueError, match="batch_size= is at least 1, got 0"):
        predict_batch_udf(file, return_type="float", batch_size=0)
    with pytest.raises(ValueError, match=r"\[0\]: sizes are at least 1"):
        predict_batch_udf(file, return_type="float", batch_size=1, input_tensor_shapes=[[0]])
    damaged = tmp_path / "damaged.t7"
    damaged.write_bytes(file.read_bytes()[:100])
    with pytest.raises(bridge.t7.T7Error):
        predict_batch_udf(damaged, return_type="float", batch_size=1)


def run(code: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", code], check=False, capture_output=True, text=True, timeout=60
    )
    return done.stderr.splitlines()[-1]


def test_without_a_session_or_without_pyspark_it_says_what_to_do() -> None:
    code = "import bridge.spark as s; s.predict_batch_udf('x.t7', return_type='int', batch_size=1)"
    assert "No active or default Spark session found" in run(code)
    lines = f"import sys; sys.modules['pyspark'] = None; {code}"
    assert run(lines) == "ImportError: bridge.spark needs pyspark: pip install 'moontide[spark]'"


# ---- SQL


@pytest.mark.long
def test_a_registered_model_is_a_function_of_sql(
    spark: SparkSession, frame: DataFrame, written: Save
) -> None:
    register("twice", written("function f(n) return n * 2 end"), return_type="long", batch_size=4)
    frame.createOrReplaceTempView("numbers")
    found = spark.sql("SELECT n, twice(n) AS m FROM numbers WHERE twice(n) > 10 ORDER BY n").collect()
    assert [tuple(row) for row in found] == [(n, 2 * n) for n in range(6, 10)]
