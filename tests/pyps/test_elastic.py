"""Jobs that torchrun starts again: they go on from the last checkpoint, or at nodes that have outlived them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

import pyps
from tests.conftest import Processes
from tests.pages import blocks
from tests.python_path import python_path
from tests.torchrun import lines_of, torchrun
from tests.waiting import wait_until

TIMEOUT = 90.0
CHECKPOINTED, ATTACH = (
    block for block in blocks("docs/cluster.md", "python") if "newest" in block or "_any" in block
)
STEPS = 4
# In the first attempt the process of rank 1 dies in the middle of its third step.
DIES = """
import os, signal
if step == 2 and os.environ["RANK"] == "1" and os.environ["TORCHELASTIC_RESTART_COUNT"] == "0":
    os.kill(os.getpid(), signal.SIGKILL)
"""
SAYS = """
    os.write(1, f"node {node.rank} from {done}: {kv.pull(keys).min()} to {kv.pull(keys).max()}\\n".encode())
    kv.barrier()
"""
# In the first attempt rank 1 kills the node that it uses; then its calls fail, and with it the job.
TRAIN = """
import os, signal, sys
restart, rank = os.environ["TORCHELASTIC_RESTART_COUNT"], int(os.environ["RANK"])
with attach_to_any(sys.argv[1] if (rank, restart) != (1, "0") else sys.argv[2]) as node, node.worker() as kv:
    for step in range(int(kv.pull([rank])[0, 0]), 40):
        if (rank, restart, step) == (1, "0", 20):
            os.kill(int(sys.argv[3]), signal.SIGKILL)
        kv.push([rank], [[1] * 8])
    os.write(1, f"rank {rank} after {restart}: {kv.pull([rank])[0].tolist()}\\n".encode())
"""


def run(processes: Processes, directory: Path, *program: object) -> list[str]:
    """Run a program in two processes, which are started again once; return the lines of what they say."""
    return lines_of(torchrun(processes, directory, sys.executable, *program, nodes=2, restarts=1))


@pytest.mark.long
def test_a_job_goes_on_from_the_last_checkpoint(processes: Processes, tmp_path: Path) -> None:
    pushed = "        kv.push(keys, np.ones((1000, 8), dtype=np.float32))\n"
    assert CHECKPOINTED.count(pushed) == 1
    dies = textwrap.indent(DIES, " " * 8)
    (tmp_path / "train.py").write_text(CHECKPOINTED.replace(pushed, pushed + dies) + SAYS)
    lines = run(processes, tmp_path, "train.py")
    value = float(2 * STEPS)  # of both processes, each step once
    assert sorted(line for line in lines if line.startswith("node")) == [
        f"node {rank} from 2: {value} to {value}" for rank in (0, 1)
    ]


@pytest.mark.long
def test_a_job_goes_on_at_nodes_that_have_outlived_it(processes: Processes, tmp_path: Path) -> None:
    """One of the two nodes is lost as well; the process that had attached to it finds the other one."""
    (tmp_path / "train.py").write_text(ATTACH + TRAIN)
    options = ["--num-keys=10", "--value-length=8", "--replicas=1"]
    (tmp_path / "all").mkdir()
    (tmp_path / "second").mkdir()

    def node(file: Path, *others: str) -> tuple[subprocess.Popen[str], list[str]]:
        process = processes(
            [sys.executable, "-m", "moontide", "node", *options, *others, f"--address-file={file}"],
            env={**os.environ, "PYTHONPATH": python_path()},
        )
        wait_until(file.exists)
        assert process.stdout is not None
        return process, [process.stdout.readline() for _ in range(4)]

    _, said = node(tmp_path / "all" / "b", "--places=3")
    invitation = next(line.split()[-1] for line in said if "tcp://" in line and line.count("/") == 3)
    second, _ = node(tmp_path / "all" / "a", f"--join={invitation}")
    (tmp_path / "second" / "a").write_text((tmp_path / "all" / "a").read_text())
    lines = run(processes, tmp_path, "train.py", "all", "second", second.pid)
    assert second.wait(TIMEOUT) == -signal.SIGKILL
    said = sorted(line for line in lines if line.startswith("rank"))
    assert said[-2:] == [f"rank {rank} after 1: {[40.0] * 8}" for rank in (0, 1)]
    with pyps.attach((tmp_path / "all" / "b").read_text().strip()) as left, left.worker() as kv:
        assert kv.pull([0, 1]).tolist() == [[40.0] * 8] * 2
