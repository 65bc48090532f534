"""The programs on Spark learn, and Spark's answers are those of a model that has learnt."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from examples.spark import characters, digits
from tests.spark import running


@pytest.fixture(scope="module")
def spark() -> Iterator[SparkSession]:
    with running() as session:
        yield session


@pytest.mark.long
def test_digits_in_parquet_are_read(
    spark: SparkSession, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert digits.main(spark, tmp_path) > 0.95
    lines = capsys.readouterr().out.splitlines()
    assert [line[:2] for line in lines] == [*(f"{digit}:" for digit in range(10)), "al"]


@pytest.mark.long
def test_texts_are_told_from_texts_backwards(spark: SparkSession, tmp_path: Path) -> None:
    assert characters.main(spark, tmp_path) > 0.95
