"""Clusters of four node processes, started and ended again and again: how many starts succeed, and how long one takes.

The processes are forked after the imports, as the original systems' programs do it; `--fresh` of `python -m
benchmarks.starts` starts a new interpreter for each instead. torch.distributed's process group (gloo) is started in the
same processes right after, over the same kind of store.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import subprocess
import sys
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, cast

import numpy as np

import pyps
from benchmarks.harness import Row
from pyps import zeromq
from pyps.rendezvous.interfaces import listen
from pyps.rendezvous.store import reach_store, serve_store

NAME = "starts of a cluster"
NODES = 4
STARTS, FEW = 200, 5
TIMEOUT = 120.0  # seconds that one start may take
IDLE = 5.0  # seconds for which the idle nodes are watched
# An address of this process's own, so that nobody else takes a port between two looks at it.
ADDRESS = f"127.{os.getpid() // 250 % 250 + 2}.{os.getpid() % 250}.3"


@dataclass
class Start:
    """What one process measured, in seconds."""

    ours: float
    theirs: float
    idle: float


def be_a_node(address: str, rank: int, port: int, their_port: int, idle: float) -> Start:
    """Start as one of the nodes, use the cluster, watch it idle, leave it; then do so with torch.distributed."""
    import torch.distributed as dist

    begin = time.perf_counter()
    node = pyps.init(
        1000,
        10,
        rendezvous=f"tcp://{address}:{port}",
        num_nodes=NODES,
        rank=rank,
        timeout=TIMEOUT,
        num_workers=1,
    )
    ours = time.perf_counter() - begin
    with node.worker() as kv:
        kv.push(np.arange(1000), np.ones((1000, 10), np.float32))
        kv.barrier(timeout=TIMEOUT)
        out = np.zeros((1000, 10), np.float32)
        kv.pull(np.arange(1000), out)
        if not (out == NODES).all():
            raise AssertionError("a push of another node is missing")
    used = time.process_time()
    time.sleep(idle)
    used = time.process_time() - used
    node.shutdown(TIMEOUT)
    begin = time.perf_counter()
    store = serve_store(address, their_port) if rank == 0 else reach_store(address, their_port, TIMEOUT)
    dist.init_process_group("gloo", store=cast(Any, store), rank=rank, world_size=NODES)
    theirs = time.perf_counter() - begin
    dist.barrier()
    dist.destroy_process_group()
    return Start(ours, theirs, used / idle if idle else 0.0)


def start_forked(idle: float) -> list[Start]:
    """Start a cluster of processes that are forked from this one."""
    context = multiprocessing.get_context("fork")
    ports = free_port(), free_port()
    pipes, processes = [], []
    for rank in range(NODES):
        reading, writing = context.Pipe(duplex=False)
        process = context.Process(target=_in_child, args=(rank, *ports, idle, writing))
        process.start()
        writing.close()
        pipes.append(reading)
        processes.append(process)
    try:
        found = []
        for pipe, process in zip(pipes, processes, strict=True):
            if not pipe.poll(TIMEOUT):
                raise TimeoutError(f"process {process.pid} said nothing for {TIMEOUT:g} s")
            result = pipe.recv()
            if not isinstance(result, Start):
                raise RuntimeError(result)
            found.append(result)
        return found
    finally:
        for process in processes:
            process.join(TIMEOUT / 10)
            process.kill()
            process.join()


def start_fresh(idle: float) -> list[Start]:
    """Start a cluster of processes with an interpreter of their own."""
    arguments = [str(value) for value in (free_port(), free_port(), idle)]
    processes = [
        subprocess.Popen(
            [sys.executable, "-m", "benchmarks.starts", "--be", ADDRESS, str(rank), *arguments],
            stdout=subprocess.PIPE,
            text=True,
        )
        for rank in range(NODES)
    ]
    try:
        outputs = [process.communicate(timeout=TIMEOUT)[0] for process in processes]
        return [Start(**json.loads(output)) for output in outputs]
    finally:
        for process in processes:
            process.kill()
            process.communicate()


def free_port() -> int:
    """Return a port of the own address that nobody listens at."""
    with listen(ADDRESS, 0) as probe:
        port: int = probe.getsockname()[1]
        return port


def measure(start: Callable[[float], list[Start]], count: int) -> list[Row]:
    """Start so many clusters one after the other, with a line about each tenth on stderr."""
    succeeded, ours, theirs, failures = 0, [], [], []
    begin = time.perf_counter()
    for number in range(1, count + 1):
        try:
            found = start(0.0)
        except Exception:
            failures.append(traceback.format_exc())
            print(f"start {number} failed:\n{failures[-1]}", file=sys.stderr, flush=True)
            continue
        succeeded += 1
        ours.append(max(each.ours for each in found))
        theirs.append(max(each.theirs for each in found))
        if number % 10 == 0:
            seconds = (time.perf_counter() - begin) / number
            print(f"{succeeded} of {number} starts, {seconds:.2f} s each", file=sys.stderr, flush=True)
    idle = max(each.idle for each in start(IDLE if count == STARTS else IDLE / 10))
    table = f"{count} starts of {NODES} nodes"
    peer = "torch.distributed, gloo"
    return [
        Row(table=table, what="succeeded", ours=succeeded, unit="starts", target=f">= {count} starts"),
        Row(
            table=table,
            what="median until all nodes work",
            ours=1000 * float(np.median(ours)),
            theirs=1000 * float(np.median(theirs)),
            unit="ms",
            peer=peer,
        ),
        Row(
            table=table,
            what="longest",
            ours=1000 * max(ours),
            theirs=1000 * max(theirs),
            unit="ms",
            peer=peer,
        ),
        Row(table=table, what="an idle node", ours=idle, unit="cores", target="<= 0.01 cores"),
    ]


def run(quick: bool) -> list[Row]:
    """Start 200 clusters of forked processes, or a few."""
    _import_once()
    return measure(start_forked, FEW if quick else STARTS)


def _import_once() -> None:
    """Import what a node needs here rather than in every child."""
    import torch.distributed  # noqa: F401

    zeromq.load()


def _in_child(rank: int, port: int, their_port: int, idle: float, answer: object) -> None:
    from multiprocessing.connection import Connection

    assert isinstance(answer, Connection)
    try:
        answer.send(be_a_node(ADDRESS, rank, port, their_port, idle))
    except BaseException:
        answer.send(traceback.format_exc())
        raise


def main() -> int:
    """Print the table for fresh or forked processes; the status is 1 if a start failed."""
    from benchmarks.harness import print_tables

    parser = argparse.ArgumentParser(prog="python -m benchmarks.starts", description=__doc__)
    parser.add_argument("--fresh", action="store_true", help="a new interpreter for each process")
    parser.add_argument("--starts", type=int, default=STARTS, help="how many (%(default)s)")
    parser.add_argument("--be", nargs=5, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.be:
        address, rank, port, their_port, idle = arguments.be
        print(json.dumps(vars(be_a_node(address, int(rank), int(port), int(their_port), float(idle)))))
        return 0
    _import_once()
    rows = measure(start_fresh if arguments.fresh else start_forked, arguments.starts)
    print_tables(rows)
    return 0 if rows[0].met else 1


if __name__ == "__main__":
    sys.exit(main())
