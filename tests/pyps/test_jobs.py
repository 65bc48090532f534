"""Jobs of several processes per node: barriers know how many are to come, and a node serves until all have left."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.ports import LOOPBACK, free_port
from tests.python_path import python_path

TIMEOUT = 60.0
ROOT = Path(__file__).parents[2]
PROLOGUE = """
import os, signal, sys, time
import numpy as np
import pyps
rank = int(os.environ.get("RANK", 0))
def say(*words):
    os.write(1, (" ".join(map(str, words)) + "\\n").encode())
"""
INITIALISE = (
    PROLOGUE
    + """
node = pyps.init(100, 4, timeout=40)
with node.worker() as kv:
    if node.job.rank == 0:
        time.sleep(0.5)
        kv.set(np.arange(100), np.ones((100, 4), np.float32))
    kv.barrier(40)
    mean = kv.pull(np.arange(100)).mean()
    job = node.job
    say("sees", mean, job.rank, job.world_size, job.local_rank, node.rank, node.num_nodes)
node.shutdown()
"""
)

Start = Callable[..., "subprocess.Popen[str]"]


@pytest.fixture
def start() -> Iterator[Start]:
    """Start a Python with variables of its own; what still runs is killed with the test."""
    running: list[subprocess.Popen[str]] = []

    def begin(*arguments: str, **variables: str) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [sys.executable, "-W", "ignore", *arguments],
            env={
                **os.environ,
                "PYTHONPATH": python_path(),
                "OMP_NUM_THREADS": "1",
                "TORCH_CPP_LOG_LEVEL": "ERROR",
                **variables,
            },
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )
        running.append(process)
        return process

    yield begin
    for process in running:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate(timeout=TIMEOUT)


def torchrun(
    start: Start, script: Path, processes: int, *words: str, **variables: str
) -> subprocess.Popen[str]:
    options = ("--standalone", "--no-python", "--local-addr=127.0.0.1", f"--nproc-per-node={processes}")
    program = words or (sys.executable, "-W", "ignore", str(script))
    return start("-m", "torch.distributed.run", *options, *program, **variables)


def lines(process: subprocess.Popen[str], word: str = "sees", status: int = 0) -> list[str]:
    text, _ = process.communicate(timeout=TIMEOUT)
    assert process.returncode == status, text
    return sorted(line[line.index(word) :] for line in text.splitlines() if word in line)


@pytest.fixture
def script(tmp_path: Path) -> Path:
    path = tmp_path / "script.py"
    path.write_text(INITIALISE)
    return path


@pytest.mark.long
@pytest.mark.parametrize("per_host", [1, 2])
def test_under_torchrun_a_barrier_waits_for_all(start: Start, script: Path, per_host: int) -> None:
    """Without it the others would read zeros, or find the node shut down."""
    run = torchrun(start, script, 4, PYPS_NODES_PER_HOST=str(per_host))
    assert lines(run) == [f"sees 1.0 {rank} 4 {rank} {rank * per_host // 4} {per_host}" for rank in range(4)]


@pytest.mark.long
def test_so_it_does_under_launch(start: Start, script: Path) -> None:
    run = start("-m", "moontide", "launch", "-n", "2", "--workers-per-node", "2", str(script))
    assert [line.split()[1:] for line in lines(run)] == [
        ["1.0", str(rank), "4", str(rank), str(rank // 2), "2"] for rank in range(4)
    ]


@pytest.mark.long
def test_so_it_does_in_the_dmlc_environment(start: Start, script: Path) -> None:
    variables = {
        "DMLC_NUM_SERVER": "2",
        "DMLC_PS_ROOT_URI": LOOPBACK,
        "DMLC_PS_ROOT_PORT": str(free_port(LOOPBACK)),
    }
    scheduler = start("-c", "import pyps; pyps.scheduler(timeout=40)", DMLC_ROLE="scheduler", **variables)
    nodes = [start(str(script), DMLC_ROLE="server", **variables) for _ in range(2)]
    assert sorted(line for node in nodes for line in lines(node)) == [
        f"sees 1.0 {rank} 2 0 {rank} 2" for rank in range(2)
    ]
    assert lines(scheduler) == []


@pytest.mark.long
def test_the_first_program_of_the_documentation_runs_with_four_processes(
    start: Start, tmp_path: Path
) -> None:
    text = (ROOT / "docs" / "cluster.md").read_text()
    found = re.search(r"```python\n(.*?)```", text, re.DOTALL)
    assert found
    assert "pyps.init" in found[1]
    first = tmp_path / "first.py"
    first.write_text(found[1])
    assert lines(torchrun(start, first, 4), word="Error") == []


def two_processes(start: Start, program: str) -> tuple[subprocess.Popen[str], subprocess.Popen[str]]:
    """The one that creates the node, and one that attaches."""
    variables = {
        "WORLD_SIZE": "2",
        "LOCAL_WORLD_SIZE": "2",
        "MASTER_ADDR": "127.0.0.1",
        "MASTER_PORT": str(free_port(LOOPBACK)),
    }
    first, second = (start("-c", PROLOGUE + program, RANK=str(rank), **variables) for rank in range(2))
    return first, second


@pytest.mark.long
def test_a_process_that_is_killed_has_left(start: Start) -> None:
    creator, guest = two_processes(
        start,
        """
node = pyps.init(10, 1, timeout=40)
if rank == 1:
    os.kill(os.getpid(), signal.SIGKILL)
begin = time.monotonic()
node.shutdown()
say("sees the end", time.monotonic() - begin < 10)
""",
    )
    assert lines(creator) == ["sees the end True"]
    assert guest.wait(TIMEOUT) == -signal.SIGKILL


@pytest.mark.long
def test_a_process_that_stays_is_named(start: Start) -> None:
    creator, guest = two_processes(
        start,
        """
node = pyps.init(10, 1, timeout=40)
if rank == 1:
    time.sleep(30)
begin = time.monotonic()
try:
    node.shutdown(timeout=0.5)
except pyps.WaitTimeoutError as error:
    say("sees", error, 0.4 < time.monotonic() - begin < 5, node.is_open)
""",
    )
    (line,) = lines(creator)
    assert "1 processes that attached to node 0 have not left" in line
    assert line.endswith("True False")
    assert guest.poll() is None


SURVIVE = (
    PROLOGUE
    + """
node = pyps.init(12, 1, on_loss="continue", heartbeat=0.2, lost_after=1.0, timeout=40)
with node.worker() as kv:
    kv.barrier(40)
    if rank == 1:
        os.kill(os.getpid(), signal.SIGKILL)
    here = [key for key in range(12) if key % 3 == node.rank]
    end = time.monotonic() + 20
    while time.monotonic() < end:
        try:
            kv.push(here, np.ones((4, 1), np.float32))
            kv.pull([1])  # it was at the node that is lost
        except pyps.NodeLost as error:
            break
    kv.barrier(40)
    say("sees", node.rank, kv.pull(here).min() >= 1)
node.shutdown()
"""
)


@pytest.mark.long
def test_the_others_can_keep_going(start: Start, tmp_path: Path) -> None:
    script = tmp_path / "survive.py"
    script.write_text(SURVIVE)
    run = start("-m", "moontide", "launch", "-n", "3", "--keep-going", str(script))
    assert lines(run, status=128 + signal.SIGKILL) == ["sees 0 True", "sees 2 True"]


@pytest.mark.long
def test_under_torchrun_they_can_when_it_is_not_told(start: Start, tmp_path: Path) -> None:
    script = tmp_path / "survive.py"
    script.write_text(SURVIVE)
    shell = ("sh", "-c", f"{sys.executable} -W ignore {script} || true")
    run = torchrun(start, script, 3, *shell, PYPS_NODES_PER_HOST="3")
    assert lines(run) == ["sees 0 True", "sees 2 True"]


TRAIN = (
    PROLOGUE
    + """
import torch
optimizer = pyps.optim.SGD(lr=1.0)
scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=1, gamma=0.5)
node = pyps.init(8, 4, optimizer=optimizer, initializer=pyps.initializers.Uniform(seed=3), timeout=40)
keys = np.arange(8)
with node.worker() as kv:
    first = kv.pull(keys)
    kv.barrier(40)
    for epoch in range(3):
        kv.push(keys, np.full((8, 4), 0.25, np.float32))
        kv.barrier(40)
        if node.job.rank == 0:
            optimizer.step()
            scheduler.step()
        kv.barrier(40)
    rate = node.optimizer.param_groups[0]["lr"]
    say("steps", np.abs(first - kv.pull(keys) - 1.75).max() < 1e-5, rate)
node.shutdown()
"""
)


@pytest.mark.long
def test_under_torchrun_all_processes_train_with_one_schedule(start: Start, tmp_path: Path) -> None:
    """Four processes of two nodes push a quarter each, at rates of 1, 1/2 and 1/4."""
    script = tmp_path / "train.py"
    script.write_text(TRAIN)
    run = torchrun(start, script, 4, PYPS_NODES_PER_HOST="2")
    assert lines(run, word="steps") == ["steps True 0.125"] * 4
