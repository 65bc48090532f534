"""Workers of a process that may have no more threads: ZeroMQ would end it."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from tests.python_path import python_path

PROGRAM = """
import os, resource, sys
import numpy as np
from tests.pyps.cluster import Cluster

ONE = np.ones(1, np.int64)
with Cluster(2, 10, dtype="int64") as cluster, cluster.nodes[0].worker() as first:
    first.push([1], ONE)
    threads = len(os.listdir("/proc/self/task"))
    if os.getuid() == 0:
        os.setuid(4_000_000_000 + os.getpid())  # a user without other processes; the limit is not for root
    _, most = resource.getrlimit(resource.RLIMIT_NPROC)
    resource.setrlimit(resource.RLIMIT_NPROC, (threads + int(sys.argv[1]), most))
    for _ in range(3):
        try:
            with cluster.nodes[0].worker() as second:
                second.push([1], ONE)
            print("pushed")
        except OSError as error:
            print(error)
    first.push([1], ONE)
    resource.setrlimit(resource.RLIMIT_NPROC, (most, most))
    with cluster.nodes[0].worker() as third:
        out = np.zeros(1, np.int64)
        third.pull([1], out)
    print(out[0])
"""


@pytest.mark.slow
@pytest.mark.skipif(os.getuid() != 0, reason="the user's other processes count: run it as root")
@pytest.mark.parametrize("left", [0, 1, 2, 3])
def test_a_worker_is_refused_and_its_node_goes_on(left: int) -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(left)],
        env={**os.environ, "PYTHONPATH": python_path()},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    *told, value = done.stdout.splitlines()
    if left < 2:
        assert int(value) == 2
        assert len(told) == 3
        assert all("ZeroMQ needs 2 more threads: Resource temporarily unavailable" in line for line in told)
    else:
        assert (told, int(value)) == (["pushed"] * 3, 5)
