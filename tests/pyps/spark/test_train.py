"""Training inside a barrier stage of a real Spark."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from pyspark.sql import DataFrame, SparkSession

import pyps
import pyps.spark
from tests.spark import running

pytestmark = pytest.mark.long

ITEMS = 10


@pytest.fixture(scope="module")
def spark() -> Iterator[SparkSession]:
    with running() as session:
        yield session


def clicks(spark: SparkSession, count: int = 1000) -> DataFrame:
    return spark.range(count).selectExpr(f"id % {ITEMS} as item", "cast(id as float) as weight")


def count_clicks(node: pyps.Server, batches: Any) -> int:
    seen = 0
    with node.worker() as kv:
        for batch in batches:
            kv.push(batch["item"], batch["weight"].reshape(-1, 1))
            seen += len(batch["item"])
    return seen


def sums(count: int = 1000) -> list[float]:
    return [sum(range(item, count, ITEMS)) for item in range(ITEMS)]


@pytest.mark.parametrize("nodes", [1, 2])
def test_all_rows_train_one_server(spark: SparkSession, nodes: int) -> None:
    trained = pyps.spark.train(clicks(spark), count_clicks, nodes=nodes, num_keys=ITEMS)
    assert trained.own.keys.tolist() == list(range(ITEMS))
    assert trained.own.values[:, 0].tolist() == sums()
    assert len(trained.results) == nodes
    assert sum(trained.results) == 1000
    assert all(trained.results)


def test_the_nodes_are_those_of_the_stage(spark: SparkSession) -> None:
    def look(node: pyps.Server, batches: Any) -> tuple[int, int, bool]:
        time.sleep(0.5 * node.rank)  # the barrier waits for its worker
        with node.worker() as kv:
            kv.set([node.rank], np.full((1, 1), node.rank + 1, np.float32))
            kv.barrier()
            return node.rank, node.num_nodes, kv.pull([0, 1])[:, 0].tolist() == [1, 2]

    trained = pyps.spark.train(clicks(spark), look, num_keys=2)  # as many as the session has slots
    assert trained.results == [(0, 2, True), (1, 2, True)]


def test_tables_any_keys_and_types_come_back(spark: SparkSession) -> None:
    def fill(node: pyps.Server, batches: Any) -> None:
        node.table("users", dim=2, dtype="bfloat16", optimizer="sgd:lr=0.5")
        node.table("lengths", dim=[1, 3], dtype="float64")
        with node.worker() as kv:
            kv.set([2**40 + node.rank], np.full((1, 4), node.rank, np.int64))
            kv.table("users").push([7], torch.ones(1, 2, dtype=torch.bfloat16))
            if node.rank == 0:
                keys = [pyps.classed_keys(1, 5), pyps.classed_keys(0, 5)]
                kv.table("lengths").set(np.array(keys), np.array([1.0, 2.0, 3.0, 4.0]))

    trained = pyps.spark.train(clicks(spark), fill, nodes=2, capacity=1000, value_length=4, dtype="int64")
    assert sorted(trained.tables) == ["", "lengths", "users"]
    assert trained.own.keys.tolist() == [2**40, 2**40 + 1]
    assert trained.own.values.dtype == np.int64
    assert trained.own.values.tolist() == [[0] * 4, [1] * 4]
    assert trained.tables["users"].values.tolist() == [[-1, -1]]  # two pushes of 1, with half of it each
    assert trained.tables["lengths"].lengths.tolist() == [1, 3]
    assert trained.tables["lengths"].values.tolist() == [4, 1, 2, 3]
    with pyps.Server(value_length=4, capacity=10, dtype="int64") as server, server.worker() as kv:
        trained.own.fill(server)
        assert (kv.pull(trained.own.keys) == trained.own.values).all()


def test_columns_are_arrays_of_numpy(spark: SparkSession) -> None:
    def look(node: pyps.Server, batches: Any) -> list[tuple[str, str, tuple[int, ...]]]:
        (batch,) = batches
        return [(name, str(column.dtype), column.shape) for name, column in batch.items()]

    columns = "id", "cast(id as double) as d", "array(id, id) as pair", "cast(id as string) as text"
    rows = spark.range(5).selectExpr(*columns, "sequence(0, id) as some")
    (found,) = pyps.spark.train(rows, look, nodes=1, num_keys=1).results
    assert found[:4] == [
        ("id", "int64", (5,)),
        ("d", "float64", (5,)),
        ("pair", "int64", (5, 2)),
        ("text", "object", (5,)),
    ]
    assert found[4] == ("some", "object", (5,))


def test_a_large_model_goes_into_a_checkpoint(spark: SparkSession, tmp_path: Path) -> None:
    optimizer = pyps.optim.Adagrad(lr=0.1)
    options: dict[str, Any] = {"num_keys": ITEMS, "optimizer": optimizer}
    trained = pyps.spark.train(
        clicks(spark), count_clicks, nodes=2, checkpoint=str(tmp_path / "saved"), **options
    )
    assert trained.tables == {}
    assert sum(trained.results) == 1000
    with pyps.Server(ITEMS, 1, optimizer="adagrad:lr=0.1") as server, server.worker() as kv:
        pyps.checkpoint.load(tmp_path / "saved", server)
        assert (kv.pull(np.arange(ITEMS)) < 0).all()


def test_a_function_that_fails_ends_all_tasks_and_is_told(spark: SparkSession) -> None:
    def fail(node: pyps.Server, batches: Any) -> None:
        with node.worker() as kv:
            if node.rank == 1:
                raise LookupError("the second one has failed")
            kv.barrier()  # for the other, which does not come

    with pytest.raises(RuntimeError, match="LookupError: the second one has failed") as told:
        pyps.spark.train(clicks(spark), fail, nodes=2, num_keys=ITEMS)
    assert "org.apache" not in str(told.value)
    assert count(spark) == 1000  # the session goes on


def count(spark: SparkSession) -> int:
    trained = pyps.spark.train(clicks(spark), count_clicks, nodes=2, num_keys=ITEMS)
    return int(sum(trained.results))


def test_what_the_stage_decides_is_refused(spark: SparkSession) -> None:
    with pytest.raises(TypeError, match="rank: the stage decides that"):
        pyps.spark.train(clicks(spark), count_clicks, num_keys=1, rank=0)
    for nodes in (0, 3):
        with pytest.raises(ValueError, match=rf"nodes is {nodes}; it must be in \[1, 2\]"):
            pyps.spark.train(clicks(spark), count_clicks, nodes=nodes)
    with pytest.raises(TypeError, match="fn is int"):
        pyps.spark.train(clicks(spark), 3, nodes=1)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="adagrid"):
        pyps.spark.train(clicks(spark), count_clicks, nodes=1, optimizer="adagrid")
