"""One of three nodes is killed while all of them push; with replicas nothing that was acknowledged may be gone.

``python -m tests.pyps.replica_kills 100``
"""

from __future__ import annotations

import json
import signal
import sys
import time
from typing import Any

from tests.pyps.nodes import Actor, Cluster

NODES, PUSHES = 3, 3000
KEYS = list(range(40))
PUSH = f"kv.push({KEYS}, values({KEYS}))"
OPTIONS = {"num_keys": len(KEYS), "replicas": 1, "on_loss": "continue", "heartbeat": 0.1, "lost_after": 1.0}
SHAPES: list[dict[str, Any]] = [{}, {"server_threads": 2}, {"num_keys": None, "capacity": 1000}]


def run(count: int) -> list[float]:
    """Kill so many nodes, each of a cluster of its own; return the longest call of the others for each.

    Raises
    ------
    AssertionError
        A call failed, or a value has not what was acknowledged, or more than was pushed.
    """
    return [kill_one(number) for number in range(count)]


def kill_one(number: int) -> float:
    """Return how long the longest call of the nodes that are left took, in seconds."""
    shape = {
        key: value for key, value in {**OPTIONS, **SHAPES[number % len(SHAPES)]}.items() if value is not None
    }
    with Cluster(NODES, **shape) as nodes:
        victim = nodes.nodes[number % NODES]
        others = [actor for actor in nodes.nodes if actor is not victim]
        victim.write(f"[({PUSH}, say(number)) for number in range(100_000)] and None")
        for actor in others:
            actor.write(f"[outcome(lambda: {PUSH}) for _ in range({PUSHES})]")
        time.sleep(0.02 + 0.0037 * (number % 50))
        victim.send_signal(signal.SIGKILL)
        acknowledged = told(victim)
        reports = [report for actor in others for report in actor.read()["value"]]
        errors = [report for report in reports if "error" in report]
        if errors:
            raise AssertionError(f"kill {number}: {errors[0]}")
        least = len(others) * PUSHES + acknowledged
        for actor in others:
            values = actor.value(f"pull({KEYS})")
            if not all(
                least <= value <= least + 1 for value in values
            ):  # its last push was perhaps not answered
                raise AssertionError(
                    f"kill {number}: {least} pushes were acknowledged, the values are {values}"
                )
        return max(report["seconds"] for report in reports)


def told(victim: Actor) -> int:
    """Return how many pushes a killed node said that it had done."""
    assert victim.process.stdout is not None
    victim.process.wait(20)
    whole = [line for line in victim.process.stdout if line.endswith("\n")]
    return 1 + json.loads(whole[-1]) if whole else 0


if __name__ == "__main__":
    longest = sorted(run(int(sys.argv[1])))
    print(f"{len(longest)} kills, nothing was lost; the longest call took {longest[-1]:.2f} s", end=", ")
    print(f"in the middle {longest[len(longest) // 2]:.2f} s")
