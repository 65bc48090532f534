"""One session for all tests here."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession

from tests.spark import running


@pytest.fixture(scope="package")
def spark() -> Iterator[SparkSession]:
    with running() as session:
        yield session
