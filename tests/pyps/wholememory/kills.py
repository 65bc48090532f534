"""Ranks are killed while they meet, create, write and drop; the others name them, and nothing stays.

``python -m tests.pyps.wholememory.kills 200``
"""

from __future__ import annotations

import os
import signal
import sys
import time
from pathlib import Path

from pyps.wholememory import room
from tests.pyps.wholememory.crew import Rank
from tests.system import descendants

RANKS = 4
SOURCE = """
try:
    while True:
        a = wm.create_tensor([1 << 20], [], torch.float32, True, [])
        a[::1024] = rank
        wm.barrier()
        del a
except wm.RankLost as error:
    result = error.rank
"""


def run(count: int) -> int:
    """Kill so many ranks, each of a group of its own, and return how many were named by all others.

    Raises
    ------
    AssertionError
        Another rank did not name it, or something stayed.
    """
    for number in range(count):
        victim = number % RANKS
        ranks = [Rank(SOURCE, rank, RANKS, None, True) for rank in range(RANKS)]
        pids = [rank.process.pid or 0 for rank in ranks]
        time.sleep(0.2 + 0.0137 * (number % 50))
        os.kill(pids[victim], signal.SIGKILL)
        outcomes = [rank.finish() for rank in ranks]
        for rank, outcome in enumerate(outcomes):
            named = outcome.result == victim or outcome.error == "RankLost"
            if outcome.error != "killed" if rank == victim else not named:
                raise AssertionError(f"rank {victim} was killed, rank {rank} says {outcome}")
        if stays := what_stays(pids):
            raise AssertionError(f"left behind: {stays}")
    return count


def what_stays(pids: list[int]) -> list[str]:
    """Return the sockets of these processes, and the memory files that processes below this one hold."""
    below = {str(pid) for pid in descendants(os.getpid())}
    files = [str(path) for path in room.memory_files() if path.parts[2] in below]
    sockets = Path("/proc/net/unix").read_text()
    return files + [f"socket of {pid}" for pid in pids if f"wholememory-{pid}-" in sockets]


if __name__ == "__main__":
    print(run(int(sys.argv[1])), "killed, all named, nothing stayed")
