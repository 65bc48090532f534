"""Exact sums over long runs, which the suite has no time for.

    python -m tests.pyps.long_sums [--rounds 100000] [--nodes 1 2 4] [--kinds thread process] [--networks direct slow]

Each worker pushes and pulls one key asynchronously so many times while it is localized and intended all the time.
"""

from __future__ import annotations

import argparse
import time
from itertools import product

import numpy as np

from tests.pyps import cluster, workloads

WORKERS = 2  # of each node
PATIENCE = 3600.0  # seconds


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=100_000)
    parser.add_argument("--nodes", type=int, nargs="+", default=[1, 2, 4])
    parser.add_argument("--kinds", nargs="+", default=["thread", "process"])
    parser.add_argument("--networks", nargs="+", default=["direct", "slow"])
    options = parser.parse_args()
    cluster.TIMEOUT = PATIENCE
    processes = cluster.WorkerProcesses(WORKERS * max(options.nodes))
    try:
        for count, kind, network in product(options.nodes, options.kinds, options.networks):
            if count == 1 and network == "slow":
                continue
            began = time.monotonic()
            workers = processes if kind == "process" else None
            with cluster.Cluster(
                count, 1, 2, dtype="int64", processes=workers, slow=network == "slow"
            ) as nodes:
                pushed = nodes.run(workloads.push_ones_to_one_key, rounds=options.rounds, moves_every=8)
                assert nodes.settles_at(np.full((1, 2), sum(pushed)))
            seconds = time.monotonic() - began
            print(
                f"{count} nodes, {kind} workers, {network}: sum {sum(pushed)} exact, {seconds:.0f} s",
                flush=True,
            )
    finally:
        processes.close()


if __name__ == "__main__":
    main()
