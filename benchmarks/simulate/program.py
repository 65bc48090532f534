"""The simulator: how it is built and run, and what it saw."""

from __future__ import annotations

import fcntl
import functools
import json
import os
import subprocess
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.simulate.settings import Run

ROOT = Path(__file__).parents[2]
LIMIT = 3600.0  # seconds that a simulation gets
BUILD_LIMIT = 600.0


@dataclass(frozen=True)
class Spread:
    """Something of each node: its mean, and that of the node with the most."""

    mean: float
    most: float


@dataclass(frozen=True, kw_only=True)
class Seen:
    """What was seen in a simulation; the names are those of the simulator.

    Attributes
    ----------
    barriers : list of float
        When all workers had come to each, in simulated seconds.
    messages, bytes, messages_received, bytes_received : Spread
        Sent and received over the links, without what links add.
    batches : Spread
        Of messages that went to a link together.
    taken, rounds : Spread
        Messages that a server took, those of its own workers too, and its rounds.
    most_waiting : Spread
        Messages that waited for a server, at most.
    server_seconds, socket_seconds, worker_seconds : Spread
        What threads computed: the server's, all of ZeroMQ's, and the workers'.
    carrier_seconds : Spread
        What the busiest one of ZeroMQ's threads computed.
    replicas : Spread
        At one time, at most.
    memory : Spread
        Bytes of the store in the end.
    relocations : Spread
        Keys that came from other nodes.
    refused : Spread
        Messages that a server did not understand.
    share_local : float
    pushed, total : float
        The sum of all that was pushed, and of all values in the end where keys are a range.
    pull_median, localize_median, localize_slow : float
        Seconds of operations that needed another node; slow: of one in a hundred.
    events : int
    took : float
        Seconds that the simulation took.
    measured : dict
        What the shipped code took for each step in reality: how often, keys, bytes, seconds.
    """

    barriers: list[float]
    messages: Spread
    bytes: Spread
    messages_received: Spread
    bytes_received: Spread
    batches: Spread
    taken: Spread
    rounds: Spread
    most_waiting: Spread
    server_seconds: Spread
    socket_seconds: Spread
    carrier_seconds: Spread
    worker_seconds: Spread
    replicas: Spread
    memory: Spread
    relocations: Spread
    refused: Spread
    share_local: float
    pushed: float
    total: float
    pull_median: float
    localize_median: float
    localize_slow: float
    events: int
    took: float
    measured: dict[str, list[float]] = field(repr=False)

    def epochs(self, stages: int = 1, apart: bool = False) -> list[float]:
        """Return the seconds of each epoch, of so many stages; `apart`: each has a barrier of its own to begin with."""
        step = stages + apart
        starts = range(0, len(self.barriers) - stages, step)
        return [self.barriers[start + stages] - self.barriers[start] for start in starts]


@functools.cache
def program() -> Path:
    """Build the simulator if anything of it has changed; one process at a time does."""
    directory = ROOT / "build/native/none"
    directory.mkdir(parents=True, exist_ok=True)
    command = ["make", "-s", "-C", str(ROOT / "tests/native"), "SANITIZER=none", "simulate"]
    environment = {key: value for key, value in os.environ.items() if not key.startswith("MAKE")}
    with (directory / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        subprocess.run(command, check=True, timeout=BUILD_LIMIT, env=environment)
    return directory / "simulate/simulate"


def ask(what: str, lines: str, limit: float = LIMIT) -> dict[str, Any]:
    """Run the simulator on settings.

    Raises
    ------
    RuntimeError
        It failed; the message is its own.
    """
    environment = {key: value for key, value in os.environ.items() if key != "LD_PRELOAD"}
    done = subprocess.run(
        [program(), what],
        input=lines,
        capture_output=True,
        text=True,
        timeout=limit,
        env=environment,
        check=False,
    )
    if done.returncode != 0:
        raise RuntimeError(done.stderr.strip() or f"the simulator ended with {done.returncode}")
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


def simulate(run: Run, limit: float = LIMIT) -> Seen:
    """Simulate a cluster at work."""
    answer = ask("work", "\n".join(run.lines()), limit)
    spread = {name for name, kind in Seen.__annotations__.items() if kind == "Spread"}
    values: dict[str, Any] = {
        name: Spread(*value) if name in spread else value for name, value in answer.items()
    }
    return Seen(**values)
