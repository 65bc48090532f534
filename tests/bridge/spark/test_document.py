"""The programs of docs/spark.md run as they stand.

Those of Spark run one after the other in one session, Ray's by itself; that of Dask is run by `tests/test_readme.py`.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from tests.pages import blocks

pytestmark = pytest.mark.slow

BLOCKS = blocks("docs/spark.md", "py")
PLACES = re.compile(r'"(incoming|checkpoint|scored)"')  # Java's directory is that of the run
OF_RAY = [block for block in BLOCKS if "import ray\n" in block]
SAVED = """
import bridge
with bridge.Lua() as lua:
    lua.execute("require 'nn' torch.save('net.t7', nn.Sequential():add(nn.Linear(4, 3)):add(nn.LogSoftMax()))")
"""


@pytest.mark.long
def test_what_is_written_of_spark_runs(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {"__name__": "__main__"}
    for block in BLOCKS:
        if block not in OF_RAY:
            exec(PLACES.sub(rf'"{tmp_path}/\1"', block), names)
    assert capsys.readouterr().out.count("+---") >= 8  # frames that were shown


@pytest.mark.long
def test_what_is_written_of_ray_runs(tmp_path: Path) -> None:
    """On the loopback, in a directory of its own: the names of its sockets have to be short."""
    (block,) = OF_RAY
    local = block.replace("ray.init(", 'ray.init(_node_ip_address="127.0.0.1", ')
    with tempfile.TemporaryDirectory(prefix="r") as place:
        done = subprocess.run(
            [sys.executable, "-c", SAVED + local],
            check=False,
            capture_output=True,
            text=True,
            cwd=tmp_path,
            timeout=100,
            env={**os.environ, "HOME": place, "RAY_TMPDIR": place, "RAY_USAGE_STATS_ENABLED": "0"},
        )
    assert done.returncode == 0, done.stderr
