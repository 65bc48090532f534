"""Programs that torchrun starts, on this host."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tests.conftest import Processes
from tests.python_path import python_path

TIMEOUT = 90.0  # seconds


def torchrun(
    processes: Processes, directory: Path, *program: object, count: int = 2, nodes: int = 1, restarts: int = 0
) -> subprocess.Popen[str]:
    """Start `count` processes of a program in a directory, as `nodes` of a cluster; errors are in their output."""
    options = ["--standalone", "--local-addr=127.0.0.1", "--monitor-interval=0.2", "--no-python"]
    return processes(
        [
            *(sys.executable, "-m", "torch.distributed.run", *options),
            *(f"--nproc-per-node={count}", f"--max-restarts={restarts}", *map(str, program)),
        ],
        stderr=subprocess.STDOUT,
        cwd=directory,
        env={
            **os.environ,
            "PYTHONPATH": python_path(),
            "OMP_NUM_THREADS": "1",
            "PYPS_NODES_PER_HOST": str(nodes),
        },
    )


def lines_of(run: subprocess.Popen[str]) -> list[str]:
    """Wait until all processes have ended well; return what they said."""
    text, _ = run.communicate(timeout=TIMEOUT)
    assert run.returncode == 0, text
    return text.splitlines()
