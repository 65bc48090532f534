"""Workers of a process that may have no more threads, or no more memory: ZeroMQ would end it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.python_path import python_path

pytestmark = pytest.mark.slow

GROUPS = Path("/sys/fs/cgroup/pids")  # control groups of version 1 that limit threads

# Leaves the process, its user, or its control group so many threads, or KB of address space, more than are used.
PROGRAM = """
import os, pathlib, resource, sys
import numpy as np
from tests.pyps.cluster import Cluster

def pages():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[0])

ONE = np.ones(1, np.int64)
with Cluster(2, 10, dtype="int64") as cluster, cluster.nodes[0].worker() as first:
    first.push([1], ONE)
    group = pathlib.Path(sys.argv[3])
    limit = None
    if sys.argv[1] == "threads of the group":
        (group / "cgroup.procs").write_text(str(os.getpid()))
        (group / "pids.max").write_text(str(int((group / "pids.current").read_text()) + int(sys.argv[2])))
    elif sys.argv[1] == "threads":
        limit, used, unit = resource.RLIMIT_NPROC, len(os.listdir("/proc/self/task")), 1
        if os.getuid() == 0:
            os.setuid(4_000_000_000 + os.getpid())  # a user without other processes; the limit is not for root
    else:
        limit, used, unit = resource.RLIMIT_AS, pages() * resource.getpagesize(), 1024
    if limit is not None:
        _, most = resource.getrlimit(limit)
        resource.setrlimit(limit, (used + int(sys.argv[2]) * unit, most))
    for _ in range(3):
        try:
            with cluster.nodes[0].worker() as second:
                second.push([1], ONE)
            print("pushed")
        except OSError as error:
            print(error)
    first.push([1], ONE)
    if limit is None:
        (group / "pids.max").write_text("max")
    else:
        resource.setrlimit(limit, (most, most))
    with cluster.nodes[0].worker() as third:
        out = np.zeros(1, np.int64)
        third.pull([1], out)
    print(out[0])
"""


def told_with(what: str, left: int, group: Path = Path()) -> list[str]:
    """Return what three workers were told, and check that every push was done whose worker was not refused."""
    with_usual_stacks = ["bash", "-c", 'ulimit -S -s 8192; exec "$@"', "bash"]
    done = subprocess.run(
        [*with_usual_stacks, sys.executable, "-c", PROGRAM, what, str(left), group],
        env={**os.environ, "PYTHONPATH": python_path()},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    *told, value = done.stdout.splitlines()
    assert len(told) == 3
    assert int(value) == 2 + told.count("pushed")
    return told


def require_refused_below_two(told: list[str], left: int) -> None:
    if left < 2:
        assert all("ZeroMQ needs 2 more threads: Resource temporarily unavailable" in line for line in told)
    else:
        assert told == ["pushed"] * 3


@pytest.mark.skipif(os.getuid() != 0, reason="the user's other processes count: run it as root")
@pytest.mark.parametrize("left", [0, 1, 2, 3])
def test_a_worker_is_refused_and_its_node_goes_on(left: int) -> None:
    require_refused_below_two(told_with("threads", left), left)


if os.access(GROUPS, os.W_OK):  # elsewhere there are no such groups, or this user may make none

    @pytest.mark.parametrize("left", [0, 1, 2, 3])
    def test_a_worker_in_a_full_control_group_is_refused_and_its_node_goes_on(left: int) -> None:
        group = GROUPS / f"moontide-{os.getpid()}"
        group.mkdir()
        try:
            require_refused_below_two(told_with("threads of the group", left, group), left)
        finally:
            group.rmdir()


# The stacks of two threads take 16,392 KB.
@pytest.mark.parametrize(
    "left", [0, 8_300, 16_300, *range(16_380, 16_700, 40), 18_000, *range(20_300, 20_800, 100), 24_000]
)
def test_a_worker_without_address_space_is_refused_and_its_node_goes_on(left: int) -> None:
    told = told_with("address space", left)
    refused = [line for line in told if line != "pushed"]
    assert all("ZeroMQ needs 2 more threads" in line or "beside their stacks" in line for line in refused)
    if left < 20_300:
        assert len(refused) == 3
    if left == 24_000:
        assert told[0] == "pushed"
