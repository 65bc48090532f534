"""Starting nodes: every worker runs the program, and a program that fails ends all of them and says why."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from examples.apps.cluster import Failure, Place, run
from tests.system import is_running

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
TIMEOUT = 50.0


def count(place: Place, start: int) -> tuple[int, int, int]:
    """Let every worker add to one key of each node."""
    place.kv.push(np.arange(place.nodes), np.ones((place.nodes, 2), np.float32))
    place.barrier()
    out = np.zeros((place.nodes, 2), np.float32)
    place.kv.pull(np.arange(place.nodes), out)
    assert (out == place.workers).all()
    return start + place.number, place.node, int(out.sum())


def fail(place: Place, how: str) -> None:
    if place.number == 1:
        if how == "killed":
            os.kill(os.getpid(), signal.SIGKILL)
        raise KeyError("the reason")
    place.barrier()


def rest(place: Place, directory: str) -> None:
    Path(directory, str(os.getpid())).touch()
    time.sleep(100)


@pytest.mark.parametrize(("nodes", "workers"), [(1, 1), (1, 3), (2, 2)])
def test_the_workers_results_come_in_their_order(nodes: int, workers: int) -> None:
    results: list[Any] = run(count, 10, value_lengths=np.full(nodes, 2), nodes=nodes, workers=workers)
    number = nodes * workers
    assert results == [(10 + i, i // workers, 2 * nodes * number) for i in range(number)]


def name_thread(number: int) -> None:
    threading.current_thread().name = f"worker of {number}"


def name_of(place: Place) -> tuple[str, str]:
    return threading.current_thread().name, str(place.server.initializer_text())


def test_threads_and_nodes_begin_as_told() -> None:
    options = {"capacity": 10, "initializer": "constant:value=2"}
    results = run(name_of, value_lengths=[3], nodes=2, workers=2, options=options, begin_worker=name_thread)
    assert results == [(f"worker of {node}", "constant:value=2") for node in (0, 0, 1, 1)]


@pytest.mark.parametrize(("how", "said"), [("raises", "the reason"), ("killed", "node 1 died")])
def test_a_failed_worker_ends_all_and_is_named(how: str, said: str) -> None:
    start = time.monotonic()
    with pytest.raises(Failure, match=said):
        run(fail, how, value_lengths=np.full(4, 2), nodes=2)
    assert time.monotonic() - start < 30


def wait_until(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + TIMEOUT
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.02)


@pytest.mark.long
def test_nodes_end_when_who_started_them_is_killed(tmp_path: Path) -> None:
    source = (
        "from examples.apps.cluster import run; from tests.examples.test_cluster import rest; import sys\n"
        "run(rest, sys.argv[1], value_lengths=[1, 1], nodes=2)"
    )
    parent = subprocess.Popen([sys.executable, "-c", source, str(tmp_path)], cwd=ROOT)
    try:
        wait_until(lambda: len(list(tmp_path.iterdir())) == 2)
    finally:
        parent.kill()
        parent.wait(TIMEOUT)
    nodes = [int(file.name) for file in tmp_path.iterdir()]
    wait_until(lambda: not any(map(is_running, nodes)))
