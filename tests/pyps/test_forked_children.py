"""Forked children that end as programs do: by their last line, sys.exit, or letting go of what they inherited."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.python_path import python_path

ROOT = Path(__file__).parents[2]
PROGRAM = """
import os, sys, threading
import numpy as np
from tests.pyps.cluster import Cluster

ONE = np.ones(1, np.int64)

def wait_for(pid):
    done, status = os.waitpid(pid, 0)
    if status != 0:
        raise SystemExit(f"the child ended with {status}")

with Cluster(2, 10, dtype="int64") as cluster:
    node = cluster.nodes[0]
    kv = node.worker()
    kv.push([1], ONE)  # on the other node
    BODY
    kv.push([1], ONE)
    kv.finalize()
print("the parent ended")
"""
BODIES = {
    "let go": """
    pid = os.fork()
    if pid == 0:
        del kv
        sys.exit(0)
    wait_for(pid)""",
    "exit": """
    pid = os.fork()
    if pid == 0:
        sys.exit(0)
    wait_for(pid)""",
    "inside with": """
    with node.worker() as other:
        other.push([1], ONE)
        pid = os.fork()
        if pid == 0:
            sys.exit(0)
        wait_for(pid)""",
    "own work": """
    pid = os.fork()
    if pid == 0:
        kv.push([1, 0], np.ones(2, np.int64))  # a worker of the child's own from here on
        kv.finalize()
        sys.exit(0)
    wait_for(pid)""",
    "beside a thread": """
    at_work = threading.Event()
    ended = threading.Event()
    def work():
        with node.worker() as other:
            while not ended.is_set():
                other.push([1, 3], np.ones(2, np.int64))
                at_work.set()
    thread = threading.Thread(target=work)
    thread.start()
    at_work.wait(20)
    for _ in range(10):
        pid = os.fork()
        if pid == 0:
            sys.exit(0)
        wait_for(pid)
    ended.set()
    thread.join(20)""",
    "multiprocessing": """
    import multiprocessing
    child = multiprocessing.get_context("fork").Process(target=kv.push, args=([1], ONE))
    child.start()
    child.join(20)
    if child.exitcode != 0:
        raise SystemExit(f"the child ended with {child.exitcode}")""",
}


def ran(*command: str) -> str:
    """Return what a program says that has to end by itself, with all of its children."""
    program = subprocess.Popen(
        command,
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": python_path(), "PYTHONWARNINGS": "ignore"},
        start_new_session=True,
    )
    try:
        said, errors = program.communicate(timeout=40)
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(program.pid, signal.SIGKILL)
        program.communicate()
    assert (program.returncode, errors) == (0, "")
    return said


@pytest.mark.slow
@pytest.mark.threads_after_fork
@pytest.mark.parametrize("body", BODIES)
def test_a_child_ends_that_inherited_a_worker(body: str) -> None:
    program = PROGRAM.replace("    BODY\n", BODIES[body].lstrip("\n") + "\n")
    # A child comes by the last line only if it was told nothing else.
    assert ran(sys.executable, "-c", program) == "the parent ended\n"
