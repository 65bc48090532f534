"""A cluster of node processes on this machine: node 0 is the benchmark's own process, the others are children."""

from __future__ import annotations

import itertools
import re
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import numpy as np

import pyps
from benchmarks.nodes.children import Child, child, reply, serve

LOOPBACK = "tcp://127.0.0.1:*"


@contextmanager
def cluster(
    num_nodes: int, num_keys: int, value_length: int, server_threads: int = 1
) -> Iterator[tuple[pyps.Worker, list[Child]]]:
    """Start the nodes; give a worker of node 0, and the other nodes, each with a worker of its own."""
    with ExitStack() as stack:
        shape = [str(number) for number in (num_nodes, num_keys, value_length, server_threads)]
        others = [stack.enter_context(child(__name__, str(rank), *shape)) for rank in range(1, num_nodes)]
        server = pyps.Server(num_keys, value_length, num_nodes=num_nodes, server_threads=server_threads)
        stack.callback(server.shutdown, timeout=0)  # the nodes end one after another
        endpoints = [server.bind(LOOPBACK), *(other.line().strip('"\n') for other in others)]
        server.connect(endpoints)
        for other in others:
            other.ask("connect", endpoints)
        yield stack.enter_context(server.worker()), others


def calls(function: Callable[..., object], *arguments: object) -> Callable[[int], float]:
    """Return a loop of one call; an argument that is an iterator gives a new value to each."""

    def run(count: int) -> float:
        start = time.perf_counter()
        for _ in range(count):
            function(*(next(a) if isinstance(a, itertools.cycle) else a for a in arguments))
        return time.perf_counter() - start

    return run


def be_a_node(rank: int, num_nodes: int, num_keys: int, value_length: int, server_threads: int) -> None:
    """Be another node of the cluster until the input ends."""
    before = private_bytes()
    with ExitStack() as stack:
        server = pyps.Server(
            num_keys, value_length, num_nodes=num_nodes, rank=rank, server_threads=server_threads
        )
        stack.callback(server.shutdown, timeout=0)  # the nodes end one after another
        workers: list[pyps.Worker] = []

        def connect(endpoints: list[str]) -> None:
            server.connect(endpoints)
            workers.append(stack.enter_context(server.worker()))

        def take_home() -> None:
            """Localize the keys that lived here in the beginning."""
            workers[0].localize(np.arange(rank, num_keys, num_nodes))

        def memory() -> list[float]:
            """Return the keys held and the bytes that they have cost, pages of the store and everything else."""
            values = np.zeros((1000, value_length), np.float32)
            for start in range(
                rank, num_keys, 1000 * num_nodes
            ):  # the store's pages become this process's own
                keys = np.arange(start, min(start + 1000 * num_nodes, num_keys), num_nodes)
                workers[0].push(keys, values[: len(keys)])
            return [server.stats()["keys_held"], private_bytes() - before]

        reply(server.bind(LOOPBACK))
        serve({"connect": connect, "take_home": take_home, "memory": memory, "stats": server.stats})


def private_bytes() -> float:
    """Return the memory that this process occupies, its own shared segments included; what it shares counts in part."""
    found = re.search(r"^Pss:\s+(\d+) kB", Path("/proc/self/smaps_rollup").read_text(), re.MULTILINE)
    assert found is not None
    return 1024.0 * int(found[1])


if __name__ == "__main__":
    be_a_node(*(int(argument) for argument in sys.argv[1:]))
