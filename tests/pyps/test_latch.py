"""A key that another worker holds: killed ones are noticed, stopped ones end in a timeout."""

from __future__ import annotations

import os
import random
import signal
import time
from typing import Any

import numpy as np
import pytest

import pyps

pytestmark = pytest.mark.slow

# Nearly all of a push's time its worker holds the latch.
LENGTH = 1_000_000
PUSH_FOREVER = """
kv = pyps.attach(sys.argv[1]).worker()
keys, ones = [0], np.ones(1_000_000, np.float32)
kv.push(keys, ones)
print("pushing", flush=True)
while True:
    kv.push(keys, ones)
"""


def test_a_stopped_worker_is_an_error_that_names_it(program: Any) -> None:
    with pyps.Server(2, LENGTH, latch_timeout=1) as server, server.worker() as kv:
        process = program(PUSH_FOREVER, server.address)
        assert process.stdout.readline() == "pushing\n"
        out = np.zeros(LENGTH, np.float32)

        def pull_beside_a_stopped_worker() -> None:
            for _ in range(100):
                os.kill(process.pid, signal.SIGSTOP)
                kv.pull([0], out)
                os.kill(process.pid, signal.SIGCONT)
                time.sleep(random.random() / 100)

        with pytest.raises(
            pyps.WaitTimeoutError, match=f"of process {process.pid}, which lives but does not move"
        ):
            pull_beside_a_stopped_worker()
        kv.push([1], np.ones(LENGTH, np.float32))  # the others go on
        os.kill(process.pid, signal.SIGCONT)
        time.sleep(0.05)
        kv.pull([0], out)
        assert (out == out[0]).all()
        assert kv.stats()["longest_wait_ns"] > 200_000_000


def test_killed_workers_leave_whole_values_and_nobody_waits(program: Any) -> None:
    with pyps.Server(1, LENGTH) as server, server.worker() as kv:
        out = np.zeros(LENGTH, np.float32)
        deadline = time.monotonic() + 60
        # A kill may also fall between two pushes, or before a push has begun to write.
        while min(server.stats()[name] for name in ("latches_recovered", "values_restored")) == 0:
            assert time.monotonic() < deadline, server.stats()
            process = program(PUSH_FOREVER, server.address)
            assert process.stdout.readline() == "pushing\n"
            time.sleep(random.random() / 100)
            process.kill()
            kv.pull([0], out)
            assert (out == out[0]).all()
