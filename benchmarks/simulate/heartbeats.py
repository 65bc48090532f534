"""What nodes do that do nothing: `python -m benchmarks.simulate.heartbeats` measures some, and computes it for many.

Each node has two connections to each other one, for messages and for its vigil, and ZeroMQ exchanges signs of life over
both. So what an idle node computes and sends is a part for itself and a part for each other node.
The more nodes there may be, the rarer are the signs of life: so few nodes are measured that have places for many.
"""

from __future__ import annotations

import argparse
import itertools
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import pyps
from benchmarks.harness import Row, print_tables
from benchmarks.network.hosts import Link, network

SIZES = (2, 4, 8, 16)  # that are measured
MANY = (64, 256, 1000)
LONGER = 3  # times as long these are measured, as they send signs of life rarely
LOOPBACK = Path("/proc/thread-self/net/dev")


@dataclass(frozen=True)
class Idle:
    """Of one idle node: seconds of a processor and bytes that it sends, in a second, with what TCP and IP add."""

    core: float
    bytes: float


def measured(nodes: int, places: int, seconds: float) -> Idle:
    """Measure nodes of this process, over the loopback of a host that nobody else is on."""
    with network(1, Link(0.0)) as made, ThreadPoolExecutor(1) as there:
        there.submit(made.hosts[0].enter).result()
        return there.submit(measured_here, nodes, places, seconds).result()


def measured_here(nodes: int, places: int, seconds: float) -> Idle:
    """Measure them on this thread's host."""
    with ExitStack() as stack:
        servers = [
            pyps.Server(1000, 1, num_nodes=nodes, rank=rank, places=places, replicas=int(places > nodes))
            for rank in range(nodes)
        ]
        for server in servers:
            stack.callback(server.shutdown, timeout=0)
        endpoints = [server.bind("tcp://127.0.0.1:*") for server in servers]
        for server in servers:
            server.connect(endpoints)
        time.sleep(2.0)  # they meet
        computed, sent, began = time.process_time(), sent_bytes(), time.monotonic()
        time.sleep(seconds)
        took = time.monotonic() - began
        return Idle((time.process_time() - computed) / took / nodes, (sent_bytes() - sent) / took / nodes)


def sent_bytes() -> int:
    """Return what the loopback has carried."""
    line = next(line for line in LOOPBACK.read_text().splitlines() if line.strip().startswith("lo:"))
    return int(line.split(":")[1].split()[8])


def expected(seen: dict[int, Idle], nodes: int) -> Idle:
    """Return what a node of a larger cluster does, as a straight line through those that were seen has it."""
    sizes = list(seen)
    lines = (
        np.polyfit(sizes, [getattr(seen[size], name) for size in sizes], 1) for name in ("core", "bytes")
    )
    return Idle(*(float(np.polyval(line, nodes)) for line in lines))


def rows(seconds: float, sizes: Sequence[int]) -> list[Row]:
    """Measure small clusters, and compute larger ones."""
    seen = {size: measured(size, size, seconds) for size in sizes}
    many = (
        (places, expected({size: measured(size, places, LONGER * seconds) for size in sizes}, places))
        for places in MANY
    )
    return [
        Row(
            table="an idle node",
            what=f"{size} nodes, {'measured' if size in seen else 'computed'}: {what}",
            ours=ours,
            unit=unit,
            target=f"<= {most} {unit}",
        )
        for size, idle in itertools.chain(seen.items(), many)
        for what, ours, unit, most in (
            ("cores", idle.core, "cores", 0.01),
            ("bytes in a second", idle.bytes, "B", 100_000),
        )
    ]


def main() -> None:
    """Measure as the command line says."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=5.0)
    parser.add_argument("--nodes", nargs="+", type=int, default=SIZES)
    options = parser.parse_args()
    print_tables(rows(options.seconds, options.nodes))


if __name__ == "__main__":
    main()
