"""Servers of every dtype and length kind, and other workers as threads or as processes."""

from __future__ import annotations

import itertools
import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import numpy as np
import pytest

import pyps
from tests import soak
from tests.conftest import Processes
from tests.pyps import any_keys
from tests.pyps.cluster import Cluster, WorkerProcesses
from tests.pyps.native import Programs
from tests.pyps.network import may_make_hosts
from tests.python_path import python_path

# A test that is skipped fails the whole check, so where there is no right to make hosts these are not there.
collect_ignore = [] if may_make_hosts() else ["test_network.py"]

TIMEOUT = 50.0
PROLOGUE = "import json, os, sys, time\nimport numpy as np\nimport pyps\n"
ATTACH = "node = pyps.attach(sys.argv[1]); kv = node.worker(); number = int(sys.argv[2])\n"

Program = Callable[..., "subprocess.Popen[str]"]


@pytest.fixture
def program(processes: Processes) -> Program:
    """Start a Python process with numpy and pyps imported; it is ended with the test."""
    return lambda source, *arguments: processes(
        [sys.executable, "-W", "error", "-c", PROLOGUE + source, *arguments],
        env={**os.environ, "PYTHONPATH": python_path()},
        stdin=subprocess.PIPE,
    )


def finish(process: subprocess.Popen[str]) -> str:
    """Wait for a program and return what it printed; fail if it failed."""
    output, _ = process.communicate(timeout=TIMEOUT)
    assert process.returncode == 0
    return output


class Crew:
    """Other workers of a server, all of one kind, which run a piece of source with `kv` and `number`."""

    def __init__(self, kind: str, program: Program) -> None:
        self.kind = kind
        self.program = program

    def run(self, server: pyps.Server, source: str, workers: int = 2) -> list[Any]:
        """Run the source in every worker at once; return the value each left in `result`."""
        if self.kind == "process":
            tail = "\nprint(json.dumps(result)); kv.finalize()"
            everyone = [
                self.program(ATTACH + "result = None\n" + source + tail, server.address, str(number))
                for number in range(workers)
            ]
            return [json.loads(finish(process)) for process in everyone]
        results: list[Any] = [AssertionError("did not end")] * workers
        threads = [
            threading.Thread(target=self._in_thread, args=(server, source, number, results))
            for number in range(workers)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(TIMEOUT)
        for result in results:
            if isinstance(result, Exception):
                raise result
        return results

    @staticmethod
    def _in_thread(server: pyps.Server, source: str, number: int, results: list[Any]) -> None:
        try:
            with server.worker() as kv:
                names: dict[str, Any] = {"kv": kv, "number": number, "result": None}
                exec(PROLOGUE + source, names)
                results[number] = names["result"]
        except Exception as error:  # it is raised in the test's thread
            results[number] = error


@pytest.fixture(params=["thread", "process"])
def crew(request: pytest.FixtureRequest, program: Program) -> Crew:
    return Crew(request.param, program)


MOST_NODES = 4
WORKERS = 2  # of each node

ClusterOf = Callable[..., Cluster]
Start = Callable[..., list[pyps.Server]]


@pytest.fixture(scope="session")
def worker_processes() -> Iterator[WorkerProcesses]:
    processes = WorkerProcesses(MOST_NODES * WORKERS)
    yield processes
    processes.close()


@pytest.fixture(
    params=soak.rows(
        [
            (1, "thread", "direct", "none", 1),
            (1, "process", "direct", "none", 1),
            (2, "thread", "direct", "tcp", 1),
            (2, "process", "slow", "tcp", 1),
            (2, "thread", "slow", "memory", 2),
            (MOST_NODES, "thread", "slow", "tcp", 1),
            (MOST_NODES, "thread", "direct", "memory", 1),
            (MOST_NODES, "process", "direct", "tcp", 3),
        ],
        [
            *itertools.product((2, MOST_NODES), ("thread", "process"), ("direct", "slow"), ("tcp",), (1,)),
            *itertools.product((2, MOST_NODES), ("thread",), ("direct", "slow"), ("memory",), (1,)),
            (2, "thread", "slow", "tcp", 2),
        ],
    ),
    ids=lambda row: "-".join(map(str, row[:4])) + (f"-{row[4]} server threads" if row[4] > 1 else ""),
)
def cluster_of(request: pytest.FixtureRequest, worker_processes: WorkerProcesses) -> Iterator[ClusterOf]:
    """Make a cluster of one, two or four nodes: `Cluster` with their number, workers, network and threads filled in."""
    count, kind, network, transport, server_threads = request.param
    processes = worker_processes if kind == "process" else None
    with ExitStack() as stack:
        yield lambda *arguments, **options: stack.enter_context(
            Cluster(
                count,
                *arguments,
                processes=processes,
                slow=network == "slow",
                transport=transport,
                **{"server_threads": server_threads, **options},
            )
        )


@pytest.fixture
def kv() -> Iterator[pyps.LocalWorker]:
    """Ten keys of three float32."""
    with pyps.local(num_keys=10, value_length=3) as worker:
        yield worker


@pytest.fixture
def server() -> Iterator[pyps.Server]:
    """Ten keys of three float32."""
    with pyps.Server(10, 3) as node:
        yield node


@pytest.fixture(params=["float32", "float64", "float16", "bfloat16", "int32", "int64"])
def dtype(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    return name


@pytest.fixture(params=["uniform", "varying"])
def lengths(request: pytest.FixtureRequest) -> np.ndarray[Any, np.dtype[np.int64]]:
    """One length per key of twenty."""
    return np.full(20, 5) if request.param == "uniform" else np.arange(20) % 7 + 1


def starting(stack: ExitStack, transport: str) -> Start:
    def start(count: int, *arguments: Any, **options: Any) -> list[pyps.Server]:
        return stack.enter_context(Cluster(count, *arguments, transport=transport, **options)).nodes

    return start


@pytest.fixture(params=["tcp", "memory"])
def cluster(request: pytest.FixtureRequest) -> Iterator[Start]:
    """Start so many connected nodes in this process; they end with the test."""
    with ExitStack() as stack:
        yield starting(stack, request.param)


@pytest.fixture(params=any_keys.ALL, ids=any_keys.name)
def any_cluster(request: pytest.FixtureRequest) -> Iterator[any_keys.AnyKeys]:
    """Nodes whose keys are any numbers; none refuses a message of another."""
    with any_keys.AnyKeys(*request.param) as running:
        yield running
        assert sum(node.stats()["refused"] for node in running.nodes) == 0


@pytest.fixture
def open_cluster() -> Iterator[Start]:
    """The same; workers in other processes reach all of these nodes."""
    with ExitStack() as stack:
        yield starting(stack, "tcp")


@pytest.fixture
def programs() -> Programs:
    """Native programs of one thread: ThreadSanitizer would have nothing to watch."""
    return Programs("address")


@pytest.fixture(params=["address", "thread"])
def threaded_programs(request: pytest.FixtureRequest) -> Programs:
    """Native programs of many threads."""
    return Programs(request.param)
