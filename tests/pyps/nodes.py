"""Nodes and attached workers as processes of their own, which do what a test tells them and say what came of it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from typing import Any, Protocol, Self

from tests.python_path import python_path
from tests.system import state

TIMEOUT = 50.0

# Reads one line of Python after another; prints its value, or the error, and how long it took.
SCRIPT = """
import json, sys, threading, time
import numpy as np
import pyps

CALLS = ("pull", "push", "set", "localize", "wait", "waitall", "barrier")

def values(keys, number=1):
    return np.full((len(keys), WIDTH), number, np.int64)

def pull(keys, **options):
    out = values(keys, 0)
    kv.pull(keys, out, **options)
    return out[:, 0].tolist()

def call(kv, name, keys):
    if name in ("wait", "waitall"):
        timestamp = kv.pull(keys, values(keys), asynchronous=True)
        return kv.wait(timestamp) if name == "wait" else kv.waitall()
    if name == "barrier":
        return kv.barrier()
    return kv.localize(keys) if name == "localize" else getattr(kv, name)(keys, values(keys))

def outcome(work):
    start = time.monotonic()
    try:
        report = {"value": work()}
    except Exception as error:
        report = {"error": type(error).__name__, "node": getattr(error, "node", None), "text": str(error)}
    return report | {"seconds": time.monotonic() - start}

def repeat(work, seconds):
    # Work again and again, each time with the next number.
    reports, end = [], time.monotonic() + seconds
    while time.monotonic() < end:
        reports.append(outcome(lambda: work(len(reports))))
    errors = [report["text"] for report in reports if "error" in report]
    return {"calls": len(reports), "errors": errors, "longest": max(report["seconds"] for report in reports)}

def everything(keys, calls=CALLS):
    # Each kind of call that waits, in a thread and with a worker of its own.
    reports = {}
    workers = {name: node.worker() for name in calls}  # before the other node is lost
    def run(name):
        with workers[name] as kv:
            reports[name] = outcome(lambda: call(kv, name, keys))
    threads = [threading.Thread(target=run, args=(name,)) for name in calls]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return reports

def say(what):
    print(json.dumps(what, default=np.ndarray.tolist), flush=True)

options = json.loads(sys.argv[1])
WIDTH = options.pop("value_length", 3)
endpoint = options.pop("endpoint", "tcp://127.0.0.1:*")
if "address" in options:
    node = pyps.attach(options["address"])
else:
    lengths = options.pop("lengths", WIDTH)  # of classes of keys; WIDTH is that of class 0
    node = pyps.Server(value_length=lengths, dtype="int64", cluster=5, **options)
    say(node.bind(endpoint))
    enter = node.join if node.rank >= node.num_nodes else node.connect
    enter(json.loads(sys.stdin.readline()))
kv = node.worker()
say("ready")
for line in sys.stdin:
    say(outcome(lambda: eval(line)))
outcome(kv.finalize)  # raises for what was still on its way to a lost node
node.shutdown()
say("ended")
"""


class Actor:
    """A process that runs SCRIPT, by itself or by a command that `host` begins with."""

    def __init__(self, host: Sequence[str] = (), **options: Any) -> None:
        self.options = options
        self.process = subprocess.Popen(
            [*host, sys.executable, "-W", "error", "-c", SCRIPT, json.dumps(options)],
            env={**os.environ, "PYTHONPATH": python_path()},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def write(self, line: str) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()

    def read(self) -> Any:
        """Return the next thing that it says."""
        assert self.process.stdout is not None
        return json.loads(self.process.stdout.readline())

    def do(self, source: str) -> Any:
        """Have it evaluate an expression; return its report."""
        self.write(source)
        return self.read()

    def value(self, source: str) -> Any:
        """Have it evaluate an expression; return the value."""
        report = self.do(source)
        assert "value" in report, report
        return report["value"]

    def until(self, source: str, error: str | None, limit: float = 5.0) -> dict[str, Any]:
        """Have it try until an expression fails with this error, or with None works; return the report."""
        end = time.monotonic() + limit
        while time.monotonic() < end:
            report: dict[str, Any] = self.do(source)
            if report.get("error") == error:
                return report
            time.sleep(0.02)
        raise AssertionError(f"{source} came to {report}")

    def send_signal(self, number: signal.Signals) -> None:
        self.process.send_signal(number)

    def stop(self) -> None:
        """Stop it, and come back when it stands still."""
        self.send_signal(signal.SIGSTOP)
        end = time.monotonic() + TIMEOUT
        while self.state() != "T":
            assert time.monotonic() < end
            time.sleep(0.001)

    def state(self) -> str:
        """Return the letter that the system has for it."""
        return state(self.process.pid)

    def leave(self) -> None:
        """Have it begin to shut down."""
        assert self.process.stdin is not None
        self.process.stdin.close()

    def end(self) -> None:
        """Have it shut down; it must end by itself and cleanly."""
        self.leave()
        assert self.read() == "ended"
        assert self.process.wait(TIMEOUT) == 0

    def kill(self) -> None:
        """End it in any case."""
        self.process.kill()
        self.process.wait(TIMEOUT)
        for pipe in (self.process.stdin, self.process.stdout):
            assert pipe is not None
            try:
                pipe.close()
            except BrokenPipeError:  # what was still to be said is for nobody
                continue


class Host(Protocol):
    """Where a node runs: what its command begins with, and the endpoint that it binds."""

    command: Sequence[str]
    endpoint: str


class Cluster:
    """Nodes in processes, connected; a context manager that leaves nothing running.

    Parameters
    ----------
    count : int
    hosts : list of Host
        Where they run; on this one unless said.
    between : callable, optional
        Given their endpoints, returns for each node those at which it is to reach all.
    **options
        Of every node's server.
    """

    def __init__(
        self,
        count: int,
        hosts: Sequence[Host] = (),
        between: Callable[[list[str]], list[list[str]]] | None = None,
        **options: Any,
    ) -> None:
        self._between = between or (lambda endpoints: [endpoints] * count)
        self.nodes = [
            Actor(hosts[rank].command, num_nodes=count, rank=rank, endpoint=hosts[rank].endpoint, **options)
            if hosts
            else Actor(num_nodes=count, rank=rank, **options)
            for rank in range(count)
        ]
        self.others: list[Actor] = []

    def __enter__(self) -> Self:
        try:
            endpoints = [node.read() for node in self.nodes]
            for node, known in zip(self.nodes, self._between(endpoints), strict=True):
                node.write(json.dumps(known))
            assert [node.read() for node in self.nodes] == ["ready"] * len(self.nodes)
            for node in self.nodes:  # all have met
                node.value(f"pull(list(range({len(self.nodes)})))")
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *error: object) -> None:
        for actor in self.nodes + self.others:
            actor.kill()

    def prepare(self, rank: int | None = None, sponsor: int = 0) -> tuple[Actor, str]:
        """Start a node that is to join; return it, and a line that makes it do so: it says "ready" when it is there."""
        by = self.nodes[sponsor]
        rank = by.value("node.free_places()[0]") if rank is None else rank
        endpoints = by.value("node.endpoints()")
        joins = Actor(**{**by.options, "rank": rank})
        self.nodes.append(joins)
        endpoints[rank] = joins.read()
        return joins, json.dumps(endpoints)

    def join(self, sponsor: int = 0) -> Actor:
        """Let another node join."""
        joins, line = self.prepare(sponsor=sponsor)
        joins.write(line)
        assert joins.read() == "ready"
        return joins

    def attach(self, rank: int) -> Actor:
        """Start a process that attaches to a node."""
        width = self.nodes[rank].value("WIDTH")
        self.others.append(Actor(address=self.nodes[rank].value("node.address"), value_length=width))
        assert self.others[-1].read() == "ready"
        return self.others[-1]
