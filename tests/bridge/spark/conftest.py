"""A session for all tests here, models in files, and a standalone cluster of real processes."""

from __future__ import annotations

import os
import re
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pyspark
import pytest
from pyspark.sql import SparkSession

import bridge
from tests.spark import PATIENCE, QUICK, environment, need_java, running


@pytest.fixture(scope="package")
def spark() -> Iterator[SparkSession]:
    with running() as session:
        yield session


Save = Callable[..., Path]


@pytest.fixture
def stored(tmp_path: Path) -> Save:
    """What saves a value of Lua to a .t7 file."""

    def save(code: str, name: str = "model.t7") -> Path:
        with bridge.Lua() as lua:
            lua.execute(f"require 'nn' torch.manualSeed(1) torch.save(..., {code})", str(tmp_path / name))
        return tmp_path / name

    return save


@pytest.fixture
def written(tmp_path: Path) -> Save:
    """What writes a Lua file."""

    def write(code: str, name: str = "model.lua") -> Path:
        (tmp_path / name).write_text(code)
        return tmp_path / name

    return write


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Start a master and two workers, each a process; give the master's address."""
    need_java()
    place = tmp_path_factory.mktemp("cluster")
    running: list[subprocess.Popen[bytes]] = []
    ip, free = ("--host", "127.0.0.1"), ("--port", "0", "--webui-port", "0")

    def start(name: str, kind: str, *arguments: str) -> Path:
        home = Path(pyspark.__file__).parent
        log = place / f"{name}.log"
        command = [home / "bin" / "spark-class", f"org.apache.spark.deploy.{kind}", *ip, *free, *arguments]
        with log.open("wb") as out:
            running.append(subprocess.Popen(command, stdout=out, stderr=out, cwd=place, env=started))
        return log

    with environment():
        started = {
            **os.environ,
            "SPARK_HOME": str(Path(pyspark.__file__).parent),
            "SPARK_DAEMON_MEMORY": "256m",
        }
    started["SPARK_DAEMON_JAVA_OPTS"] = QUICK
    try:
        master = said(start("master", "master.Master"), r"Starting Spark master at (spark://\S+)")
        size = ("--cores", "1", "--memory", "1g")
        logs = [
            start(name, "worker.Worker", *size, "--work-dir", str(place / name), master)
            for name in ("one", "two")
        ]
        for log in logs:
            said(log, r"(Successfully registered with master)")
        yield master
    finally:
        for process in reversed(running):
            process.terminate()
        for process in running:
            process.wait(PATIENCE)


def said(log: Path, pattern: str) -> str:
    """Wait until a process has said this in its log."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        found = re.search(pattern, log.read_text())
        if found:
            return found[1]
        time.sleep(0.05)
    raise TimeoutError(f"{pattern!r} was not said within {PATIENCE:g} s:\n{log.read_text()}")
