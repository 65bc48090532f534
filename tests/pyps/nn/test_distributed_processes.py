"""Processes that train a model together: under torchrun, and when one is killed in the middle of a backward."""

from __future__ import annotations

import json
import signal
import sys
import time
from pathlib import Path
from typing import Any

import pytest
import torch

import pyps
from tests.conftest import Processes
from tests.ports import OWN, free_port
from tests.pyps.conftest import Program
from tests.pyps.nn.dense import TIMEOUT, assert_close, distributed, learn, learnt_by_torch, state_of
from tests.torchrun import lines_of, torchrun

STEPS = 6
# The rank and the number of workers are those of the job.
TRAIN = f"""
import torch
import pyps
from tests.pyps.nn.dense import distributed, learn

with pyps.init(10) as node, node.worker() as kv:
    rank, workers = node.job.rank, node.job.world_size
    with distributed(kv, optimizer="adam:lr=0.01", mode="sync") as model:
        for step in range({STEPS}):
            learn(model, step, rank, workers)
    torch.save(model.module.state_dict(), f"{{rank}}.pt")
"""
# Dies when the gradients of the last layer have been pushed, in its third step.
DIES = """
import os, signal
from tests.pyps.nn.dense import distributed, learn

options = json.loads(sys.argv[2])
with OPEN as node, node.worker() as kv, distributed(kv, rank=1, workers=2, **options) as model:
    step = 0
    model.module[0].weight.register_hook(lambda _: os.kill(os.getpid(), signal.SIGKILL) if step == 2 else None)
    for step in range(100):
        learn(model, step)
"""
MODES: dict[str, dict[str, Any]] = {
    "async": {"mode": "async"},
    "bounded": {"mode": "bounded", "staleness": 1},
    "sync": {"mode": "sync"},
}


def train(model: pyps.nn.Distributed) -> None:
    """Make steps until one fails."""
    for step in range(100_000):
        learn(model, step)


@pytest.mark.long
def test_a_job_of_torchrun_on_two_nodes_learns_as_one_process(processes: Processes, tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(TRAIN)
    lines_of(torchrun(processes, tmp_path, sys.executable, "train.py", nodes=2))
    expected = learnt_by_torch(lambda rows: torch.optim.Adam(rows, lr=0.01), STEPS)
    for rank in range(2):
        assert_close(torch.load(tmp_path / f"{rank}.pt"), expected)


@pytest.mark.long
@pytest.mark.parametrize("mode", MODES)
def test_when_a_process_of_the_node_is_killed(mode: str, server: pyps.Server, program: Program) -> None:
    """The others raise an error at once if they wait for each other, and go on if not."""
    process = program(
        DIES.replace("OPEN", "pyps.attach(sys.argv[1])"), server.address, json.dumps(MODES[mode])
    )
    with server.worker() as kv:
        model = distributed(kv, rank=0, workers=2, **MODES[mode])
        if mode == "async":
            assert process.wait(TIMEOUT) == -signal.SIGKILL
            learn(model, 0)
            state_of(model)
            model.close()
            return
        begin = time.monotonic()
        with pytest.raises(
            pyps.Error, match=r"'model' on this node has ended without saying so; .* is rank 1"
        ):
            train(model)
        assert time.monotonic() - begin < TIMEOUT / 2
        model.close(failed=True)
    assert process.wait(TIMEOUT) == -signal.SIGKILL


@pytest.mark.long
@pytest.mark.parametrize("mode", MODES)
def test_when_a_node_is_killed_it_is_named(mode: str, program: Program) -> None:
    where = f"tcp://{OWN}:{free_port(OWN)}"
    opened = "pyps.init(10, rendezvous=sys.argv[1], num_nodes=2, rank=1)"
    process = program(DIES.replace("OPEN", opened), where, json.dumps(MODES[mode]))
    with (
        pytest.raises(pyps.NodeLost, match="node 1"),
        pyps.init(10, rendezvous=where, num_nodes=2, rank=0) as node,
        node.worker() as kv,
        distributed(kv, rank=0, workers=2, **MODES[mode]) as model,
    ):
        train(model)
    assert process.wait(TIMEOUT) == -signal.SIGKILL
