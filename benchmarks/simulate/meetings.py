"""How long nodes take that start through one store: `python -m benchmarks.simulate.meetings`.

Each node is a thread with connections of its own, which does all that a starting one does over the store: it makes its
offer, reads those of all others, and says that it works. All of them and the store share this machine's processors, and
one interpreter. What nodes do besides, sockets between each other above all, is not in it.
"""

from __future__ import annotations

import argparse
import resource
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from benchmarks.harness import Row, print_tables
from pyps.rendezvous.meeting import Meeting
from pyps.rendezvous.offers import Offer
from pyps.rendezvous.store import over_another_connection, serve_store

SIZES = (4, 64, 256, 1000)
TIMEOUT = 300.0  # seconds
DESCRIPTORS = 6  # for each node: both ends of its connections, and some to spare
AGREED = {f"setting {number}": "as all others have it" for number in range(16)}  # about as many as there are


@dataclass(frozen=True)
class Started:
    """Seconds until all nodes work, and bytes of offers that the store has given to all."""

    seconds: float
    bytes: int


def started(nodes: int) -> Started:
    """Let so many nodes meet."""
    store = serve_store("127.0.0.1", 0)
    ready = threading.Barrier(nodes + 1)

    def meet(node: int) -> int:
        meeting = Meeting(over_another_connection(store), "", node, TIMEOUT)
        offer = Offer(node, "a host", f"tcp://10.0.0.{node}:4000", "", "", {**AGREED})
        ready.wait(TIMEOUT)
        meeting.cluster()
        texts = meeting.offer(node, nodes, offer.encode())
        meeting.works(node, nodes)
        return sum(map(len, texts))

    with ThreadPoolExecutor(nodes) as pool:
        futures = [pool.submit(meet, node) for node in range(nodes)]
        ready.wait(TIMEOUT)
        began = time.perf_counter()
        read = [future.result() for future in futures]
        return Started(time.perf_counter() - began, sum(read))


def main() -> None:
    """Let nodes meet as the command line says."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--nodes", nargs="+", type=int, default=SIZES)
    options = parser.parse_args()
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(most, 1024 + DESCRIPTORS * max(options.nodes)), most))
    rows = []
    for nodes in options.nodes:
        seen = started(nodes)
        what = f"{nodes} nodes, {seen.bytes / 1e6:.1f} MB of offers"
        rows.append(Row(table="nodes start through one store", what=what, ours=seen.seconds, unit="s"))
    print_tables(rows)


if __name__ == "__main__":
    main()
