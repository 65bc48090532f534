"""Processes that train the same rows, also one that is killed while it pushes."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest

import pyps
from tests.conftest import Processes
from tests.pyps.cluster import TIMEOUT
from tests.pyps.conftest import Program, finish
from tests.torchrun import torchrun

MODULE = """
import torch
def embedding(kv):
    return pyps.nn.Embedding(12, 6, kv, optimizer="sgd:lr=1", initializer="constant:value=0")
"""
TRAIN = """
import pyps
with pyps.init(num_keys=1, value_length=1, on_loss=ON_LOSS) as node, node.worker() as kv:
    module = embedding(kv)
    kv.barrier()
    for step in range(20):
        rows = module(torch.arange(12))
        DIES
        rows.sum().backward()
    kv.barrier()
    os.write(1, f"{module.kv.pull(torch.arange(12)).unique().tolist()}\\n".encode())
    kv.barrier()
"""
# Rank 1 dies in the middle of a backward: what it uses of the embedding has a gradient by then.
DIES = "rows.register_hook(lambda _: os.kill(os.getpid(), 9) if (step, node.rank) == (10, 1) else None)"


def launch(processes: Processes, directory: Path, program: str, nodes_per_host: int) -> subprocess.Popen[str]:
    (directory / "train.py").write_text("import os\nimport pyps\n" + MODULE + program)
    program = f"{sys.executable} -W error train.py || true"
    return torchrun(processes, directory, "sh", "-c", program, nodes=nodes_per_host)


@pytest.mark.long
@pytest.mark.parametrize("nodes", [1, 2])
def test_the_steps_of_all_processes_of_a_job_count(processes: Processes, tmp_path: Path, nodes: int) -> None:
    program = TRAIN.replace("ON_LOSS", "'fail'").replace("DIES", "")
    output, _ = launch(processes, tmp_path, program, nodes).communicate(timeout=TIMEOUT)
    assert [line for line in output.splitlines() if line.startswith("[")] == ["[-40.0]"] * 2, output


@pytest.mark.long
def test_a_node_that_is_killed_in_its_backward_is_named_to_the_others(
    processes: Processes, tmp_path: Path
) -> None:
    program = TRAIN.replace("ON_LOSS", "'fail'").replace("DIES", DIES)
    output, _ = launch(processes, tmp_path, program, 2).communicate(timeout=TIMEOUT)
    assert "pyps.errors.NodeLost: node 1" in output


@pytest.mark.long
def test_the_others_go_on_when_a_worker_is_killed_in_its_backward(program: Program) -> None:
    train = """
node = pyps.attach(sys.argv[1]); kv = node.worker()
module = embedding(kv)
for step in range(1000):
    rows = module(torch.arange(12))
    if sys.argv[2] == "dies" and step == 10:
        rows.register_hook(lambda _: os.kill(os.getpid(), 9))
    rows.sum().backward()
kv.finalize()
"""
    with pyps.Server(1) as server, server.worker() as kv:
        dies, lives = (program(MODULE + train, server.address, how) for how in ("dies", "lives"))
        dies.communicate(timeout=TIMEOUT)
        assert dies.returncode == -signal.SIGKILL
        finish(lives)
        assert set(kv.table("embedding").pull(range(12)).flatten().tolist()) == {-1010.0}
