"""A Spark session for programs of one machine: reached from nowhere else, without pages, and gone when they are."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from pyspark import SparkContext
from pyspark.sql import SparkSession

LOOPBACK = "127.0.0.1"
PATIENCE = 30  # seconds that Java gets to end


@contextmanager
def session(master: str = "local[2]", **settings: str) -> Iterator[SparkSession]:
    """Give a session, whose workers use this Python; then stop it and end its Java process.

    Where a session is active already it is that one, and stays.

    Parameters
    ----------
    master : str
        "local[2]" for two workers on this machine, or the address of a cluster's master on it.
    **settings
        More of Spark's settings, with _ for the points: `spark_sql_shuffle_partitions="2"`.
    """
    active = SparkSession.getActiveSession()
    if active is not None:
        yield active
        return
    os.environ.setdefault("SPARK_LOCAL_IP", LOOPBACK)
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder = SparkSession.builder.master(master)
    own = {
        "spark.driver.host": LOOPBACK,
        "spark.driver.bindAddress": LOOPBACK,
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.log.level": "OFF",
        "spark.sql.shuffle.partitions": "2",
    }
    for name, value in (own | {name.replace("_", "."): value for name, value in settings.items()}).items():
        builder = builder.config(name, value)
    spark = builder.getOrCreate()
    try:
        yield spark
    finally:
        spark.stop()
        end_java()


def end_java() -> None:
    """End the Java process that pyspark would keep until the program's end."""
    gateway = SparkContext._gateway
    if gateway is None:
        return
    SparkContext._gateway = SparkContext._jvm = None
    gateway.shutdown()
    process = gateway.proc  # Java leaves when its input ends
    process.stdin.close()
    process.wait(PATIENCE)
