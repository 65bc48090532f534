"""What tests of Spark share: a session that starts soon and leaves nothing open that a test would be blamed for."""

from __future__ import annotations

import shutil
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from pyspark.sql import SparkSession

from examples.spark.session import session
from tests.python_path import python_path

PATIENCE = 60.0  # seconds that a process of Spark gets to be there, or to end
QUICK = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"  # Java that starts soon rather than runs fast


def need_java() -> None:
    """Skip a test where there is no Java."""
    if shutil.which("java") is None:
        pytest.skip("java is missing (Debian: openjdk-17-jre-headless)")


@contextmanager
def environment() -> Iterator[None]:
    """Set what processes of Spark begin with."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", python_path())
        patch.setenv("PYSPARK_PYTHON", sys.executable)
        patch.setenv("SPARK_LOCAL_IP", "127.0.0.1")
        yield


@contextmanager
def running() -> Iterator[SparkSession]:
    """Give a session with two workers of its own; it ends before other tests, since a fork breaks its connections."""
    need_java()
    assert SparkSession.getActiveSession() is None, "a session of other tests has not ended"
    with environment(), session(spark_driver_extraJavaOptions=QUICK) as one:
        warm(one)
        yield one


def warm(one: SparkSession) -> None:
    """Have what stays open with a session opened before any test begins.

    That is py4j's second connection, over which it gives Java's objects back, and that of the workers' accumulators.
    """
    one.sparkContext.parallelize([0], 1).count()
    client = one.sparkContext._gateway._gateway_client
    end = time.monotonic() + PATIENCE
    while len(client.deque) < 2 and time.monotonic() < end:
        one.range(1)
        time.sleep(0.01)
