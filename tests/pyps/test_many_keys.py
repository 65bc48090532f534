"""A hundred million keys: their memory, the time that making them takes, and values at both ends."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.python_path import python_path

# A process for each store: what it used of the processor is this store's alone.
PROGRAM = """
import resource, sys
import numpy as np
import pyps

def seconds():
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime

num_keys = int(sys.argv[1])
before = seconds()
with pyps.Server(num_keys, 1) as server, server.worker() as kv:
    print(seconds() - before, server.stats()["committed_bytes"])
    keys = np.array([0, num_keys // 2, num_keys - 1])
    kv.push(keys, np.array([[1], [2], [3]], np.float32))
    kv.push(keys[::-1], np.array([[10], [20], [30]], np.float32))
    print(*kv.pull(keys).ravel(), *kv.pull(keys + [1, 1, -1]).ravel())
"""


def made(num_keys: int) -> tuple[float, int]:
    """Make a store of so many values of one float; return the processor's seconds and the bytes committed."""
    command = [sys.executable, "-c", PROGRAM, str(num_keys)]
    text = subprocess.check_output(command, env={"PYTHONPATH": python_path()}, text=True, timeout=100)
    costs, values = text.splitlines()
    assert values == "31.0 22.0 13.0 0.0 0.0 0.0"
    seconds, committed = costs.split()
    return float(seconds), int(committed)


@pytest.mark.long
def test_making_a_hundred_million_keys_takes_time_and_memory_by_their_number() -> None:
    fewer, more = (
        min(made(count) for _ in range(3)) for count in (10**7, 10**8)
    )  # of which others slow some down
    assert more[0] <= 2 * 10 * fewer[0]
    assert more[1] <= 17 * 10**8  # 8 for the directory's entry, 8 for a value of 4
