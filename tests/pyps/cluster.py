"""Clusters for tests: nodes in this process, workers as threads or as processes, a direct or a slow network."""

from __future__ import annotations

import importlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import numpy as np

import pyps
from tests.python_path import python_path

TIMEOUT = 50.0
CLUSTER = 11
DELAY = 1.5  # most milliseconds of a slow network, most of the time
SLOWLY = "?delay=0.0001&jitter=0.0014"  # the same of memory, in seconds

Work = Callable[..., Any]


def started(*arguments: object) -> subprocess.Popen[str]:
    """A Python process that is spoken to by its standard input and output."""
    return subprocess.Popen(
        [sys.executable, "-W", "error", *map(str, arguments)],
        env={**os.environ, "PYTHONPATH": python_path()},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def ended(process: subprocess.Popen[str]) -> None:
    """End a process that ends with its standard input."""
    try:
        process.communicate(timeout=TIMEOUT)
    finally:
        process.kill()
        process.communicate()


class WorkerProcesses:
    """Processes that are workers of one cluster after the other: starting Python takes longer than most tests."""

    def __init__(self, count: int) -> None:
        self._processes = [started("-m", "tests.pyps.cluster") for _ in range(count)]
        for process in self._processes:
            assert self._line(process) == "ready"

    def run(
        self, nodes: Sequence[pyps.Server], work: Work, workers: int, arguments: dict[str, Any]
    ) -> list[Any]:
        """Run the work in all processes at once; return their results, those of the first node first."""
        count = len(nodes) * workers
        assert count <= len(self._processes)
        for number, process in enumerate(self._processes[:count]):
            order = [work.__module__, work.__name__, nodes[number // workers].address, number, arguments]
            assert process.stdin is not None
            process.stdin.write(json.dumps(order) + "\n")
            process.stdin.flush()
        results = [json.loads(self._line(process)) for process in self._processes[:count]]
        failures = [result["failed"] for result in results if "failed" in result]
        assert not failures, failures
        return [result["result"] for result in results]

    @staticmethod
    def _line(process: subprocess.Popen[str]) -> str:
        assert process.stdout is not None
        line = process.stdout.readline()
        assert line, "a worker's process has ended"
        return line.strip()

    def close(self) -> None:
        for process in self._processes:
            ended(process)


def serve_as_worker() -> None:
    """What such a process does, line by line."""
    print("ready", flush=True)
    for line in sys.stdin:
        module, name, address, number, arguments = json.loads(line)
        try:
            with pyps.attach(address) as node, node.worker() as kv:
                answer = {"result": getattr(importlib.import_module(module), name)(kv, number, **arguments)}
        except Exception as error:  # it is raised in the test's process
            answer = {"failed": f"worker {number}: {type(error).__name__}: {error}"}
        print(json.dumps(answer), flush=True)


class Cluster:
    """Nodes and the workers of a test.

    Parameters
    ----------
    count : int
        Nodes.
    *arguments, **options
        Of `pyps.Server`.
    processes : WorkerProcesses, optional
        Who works; otherwise threads.
    slow : bool
        Whether messages take their time, so that those of different pairs overtake each other.
    transport : str
        "tcp", or "memory", which workers in processes do not reach.
    """

    def __init__(
        self,
        count: int,
        *arguments: Any,
        processes: WorkerProcesses | None = None,
        slow: bool = False,
        transport: str = "tcp",
        **options: Any,
    ) -> None:
        self.processes = processes
        self.slow = slow
        self.transport = transport
        self.endpoints: list[str] = []
        self._proxy: subprocess.Popen[str] | None = None
        with ExitStack() as stack:
            stack.callback(self._end_proxy)  # after the nodes, which take leave of each other
            self.nodes = [
                stack.enter_context(
                    pyps.Server(*arguments, num_nodes=count, rank=rank, cluster=CLUSTER, **options)
                )
                for rank in range(count)
            ]
            if count > 1:
                self._connect()
            self._stack = stack.pop_all()

    def _connect(self) -> None:
        wanted = (
            "tcp://127.0.0.1:*" if self.transport == "tcp" else f"memory://*{SLOWLY if self.slow else ''}"
        )
        endpoints = self.endpoints = [node.bind(wanted) for node in self.nodes]
        lists = [endpoints] * len(self.nodes)
        if self.slow and self.transport == "tcp":
            addresses = [endpoint.removeprefix("tcp://") for endpoint in endpoints]
            self._proxy = proxy = started(
                Path(__file__).with_name("proxy.py"), 1, DELAY, *addresses * len(self.nodes)
            )
            assert proxy.stdout is not None
            ports = iter(json.loads(proxy.stdout.readline()))
            lists = [[f"tcp://127.0.0.1:{next(ports)}" for _ in self.nodes] for _ in self.nodes]
        for node, known in zip(self.nodes, lists, strict=True):
            node.connect(known)

    def _end_proxy(self) -> None:
        if self._proxy is not None:
            ended(self._proxy)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.shutdown(timeout=0 if kind else TIMEOUT)
        self._stack.close()

    @contextmanager
    def silent(self) -> Iterator[None]:
        """No message arrives meanwhile, on a slow network."""
        assert self._proxy is not None
        self._proxy.send_signal(signal.SIGSTOP)
        try:
            yield
        finally:
            self._proxy.send_signal(signal.SIGCONT)

    def shutdown(self, timeout: float = TIMEOUT) -> None:
        """End all nodes at once: behind a slow network each waits for the others."""
        with ThreadPoolExecutor(len(self)) as pool:
            for one in [pool.submit(node.shutdown, timeout) for node in self.nodes]:
                one.result()

    def __len__(self) -> int:
        return len(self.nodes)

    def run(self, work: Work, *, workers: int = 2, **arguments: Any) -> list[Any]:
        """Run ``work(kv, number, **arguments)`` in so many workers of each node at once; return their results."""
        if self.processes is not None:
            return self.processes.run(self.nodes, work, workers, arguments)

        def one(number: int) -> Any:
            with self.nodes[number // workers].worker() as kv:
                return work(kv, number, **arguments)

        with ThreadPoolExecutor(len(self) * workers) as pool:
            futures = [pool.submit(one, number) for number in range(len(self) * workers)]
            return [future.result(TIMEOUT) for future in futures]

    def settles_at(self, expected: Any) -> bool:
        """Whether all values become the expected array or tensor on every node and stay so.

        What was added to replicas is on its way for a while.
        """
        end = time.monotonic() + TIMEOUT / 2
        while time.monotonic() < end:
            if self._all_are(expected):
                time.sleep(0.03)  # what is on its way may only look as if it had come: +1 and -1
                if self._all_are(expected):
                    return True
            time.sleep(0.005)
        return False

    def _all_are(self, expected: Any) -> bool:
        keys = np.arange(self.nodes[0].num_keys)
        for node in self.nodes:
            out = expected * 0
            with node.worker() as kv:
                kv.pull(keys, out)
            if (out != expected).any():
                return False
        return True


if __name__ == "__main__":
    serve_as_worker()
