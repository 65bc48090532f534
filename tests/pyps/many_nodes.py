"""Many nodes on one machine: what they take to start, and what they cost while nothing happens.

    python -m tests.pyps.many_nodes 64 128 256

Nodes share processes, as many as the limit of descriptors allows. In the end a worker pushes and pulls keys of all.
"""

from __future__ import annotations

import argparse
import multiprocessing
import resource
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import numpy as np

import pyps

KEYS_PER_NODE = 10
TIMEOUT = 300.0  # seconds
COLUMNS = "  {:>6} {:>9} {:>8} {:>8} {:>12} {:>12} {:>9} {:>9} {:>9}"


@dataclass
class Cost:
    """Of one process and its nodes, or of all together."""

    nodes: int = 0
    descriptors: int = 0
    threads: int = 0
    memory: float = 0.0  # MB, its own
    idle: float = 0.0  # seconds of processor time per second

    def add(self, other: Cost) -> None:
        self.nodes += other.nodes
        self.descriptors += other.descriptors
        self.threads += other.threads
        self.memory += other.memory
        self.idle += other.idle


def count(what: str) -> int:
    return len(list(Path("/proc/self", what).iterdir()))


def own_memory() -> float:
    with Path("/proc/self/smaps_rollup").open() as rollup:
        return sum(int(line.split()[1]) for line in rollup if line.startswith("Private")) / 1024


def use_all(node: pyps.Server, num_keys: int) -> float:
    """Seconds that a push and a pull of all keys take."""
    start = time.monotonic()
    with node.worker() as kv:
        kv.push(np.arange(num_keys), np.ones((num_keys, 4), np.float32), timeout=TIMEOUT)
        assert (kv.pull(np.arange(num_keys), timeout=TIMEOUT) == 1).all()
    return time.monotonic() - start


def in_parallel(nodes: Sequence[pyps.Server], call: Any) -> None:
    threads = [threading.Thread(target=call, args=(node,)) for node in nodes]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def host(pipe: Connection, ranks: Sequence[int], options: dict[str, Any], seconds: float) -> None:
    """A process with these nodes. It does what it is told, and says what it cost."""
    num_keys = KEYS_PER_NODE * options["num_nodes"]
    memory = own_memory()
    nodes = [pyps.Server(num_keys, 4, rank=rank, **options) for rank in ranks]
    pipe.send([node.bind("tcp://127.0.0.1:*") for node in nodes])
    endpoints = pipe.recv()
    in_parallel(nodes, lambda node: node.connect(endpoints))
    pipe.send("connected")
    pipe.recv()
    begin, used = time.monotonic(), time.process_time()
    time.sleep(seconds)
    idle = (time.process_time() - used) / (time.monotonic() - begin)
    pipe.send(Cost(len(nodes), count("fd"), count("task"), own_memory() - memory, idle))
    pipe.recv()
    pipe.send(use_all(nodes[0], num_keys) if ranks[0] == 0 else None)
    pipe.recv()
    in_parallel(nodes, lambda node: node.shutdown(timeout=TIMEOUT))
    pipe.send("ended")


def tell(pipes: Sequence[Connection], what: Any) -> list[Any]:
    for pipe in pipes:
        pipe.send(what)
    return hear(pipes)


def hear(pipes: Sequence[Connection]) -> list[Any]:
    answers = []
    for pipe in pipes:
        if not pipe.poll(TIMEOUT):
            raise TimeoutError(f"a process said nothing for {TIMEOUT:.0f} s")
        answers.append(pipe.recv())
    return answers


def measure(num_nodes: int, heartbeat: float, seconds: float) -> None:
    """Print a row about so many nodes."""
    limit = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    per_process = min(32, limit // (4 * num_nodes + 64))
    if per_process == 0:
        raise OSError(
            f"a process may have {limit} descriptors; {4 * num_nodes + 64} are needed: see `ulimit -Hn`"
        )
    options = {"num_nodes": num_nodes, "heartbeat": heartbeat, "lost_after": 20 * heartbeat}
    context = multiprocessing.get_context("spawn")
    pipes, processes = [], []
    for first in range(0, num_nodes, per_process):
        here, there = context.Pipe()
        ranks = range(first, min(first + per_process, num_nodes))
        processes.append(context.Process(target=host, args=(there, ranks, options, seconds)))
        processes[-1].start()
        pipes.append(here)
    endpoints = [endpoint for some in hear(pipes) for endpoint in some]
    start = time.monotonic()
    tell(pipes, endpoints)
    connected = time.monotonic() - start
    total = Cost()
    time.sleep(2 * heartbeat)  # until every connection is there
    for cost in tell(pipes, "rest"):
        total.add(cost)
    (used,) = (answer for answer in tell(pipes, "use") if answer is not None)
    start = time.monotonic()
    tell(pipes, "end")
    ended = time.monotonic() - start
    for process in processes:
        process.join(TIMEOUT)
    print(
        COLUMNS.format(
            total.nodes,
            len(processes),
            f"{connected:.2f}",
            f"{ended:.2f}",
            f"{total.descriptors / total.nodes:.0f}",
            f"{total.threads / total.nodes:.1f}",
            f"{total.memory / total.nodes:.1f}",
            f"{1000 * total.idle / total.nodes:.2f}",
            f"{1000 * used:.0f}",
        ),
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m tests.pyps.many_nodes", description=__doc__.splitlines()[0]
    )
    parser.add_argument("nodes", type=int, nargs="+", help="how many")
    parser.add_argument("--heartbeat", type=float, default=5.0, help="seconds between signs of life (5)")
    parser.add_argument("--seconds", type=float, default=10.0, help="how long to look at idle nodes (10)")
    arguments = parser.parse_args()
    names = ("nodes", "processes", "connect", "shut down", "descriptors", "threads", "MB", "idle", "use all")
    units = ("", "", "s", "s", "each", "each", "each", "ms/s each", "ms")
    print(COLUMNS.format(*names))
    print(COLUMNS.format(*units))
    for num_nodes in arguments.nodes:
        measure(num_nodes, arguments.heartbeat, arguments.seconds)


if __name__ == "__main__":
    main()
