"""Clusters of real processes: under torchrun, in the DMLC environment, with a missing or killed one."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any, cast

import pytest

from pyps.rendezvous.store import serve_store
from tests.ports import OWN, free_port
from tests.python_path import python_path

TIMEOUT = 60.0
PROLOGUE = """
import logging, os, sys, time
import numpy as np
import pyps
logging.basicConfig(level="INFO", format="%(levelname)s %(message)s")
"""
# Every process pushes once, and pulls until it sees everybody's push.
SHARE = """
def share(node, everybody):
    keys = np.arange(node.num_keys)
    out = np.zeros((node.num_keys, 2), np.float32)
    with node.worker() as kv:
        kv.push(keys, np.ones_like(out))
        while out.min() < everybody:
            kv.pull(keys, out)
            time.sleep(0.001)
        assert out.max() == everybody
"""

Spawn = Callable[..., "subprocess.Popen[str]"]


@pytest.fixture
def spawn() -> Iterator[Spawn]:
    """Start `python ...` with variables of its own; what still runs is killed with the test."""
    running: list[subprocess.Popen[str]] = []

    def start(*arguments: str, **variables: str) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [sys.executable, "-W", "error", *arguments],
            env={**os.environ, "PYTHONPATH": python_path(), "OMP_NUM_THREADS": "1", **variables},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )
        running.append(process)
        return process

    yield start
    for process in running:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate(timeout=TIMEOUT)


def output(process: subprocess.Popen[str], status: int = 0) -> list[str]:
    text, _ = process.communicate(timeout=TIMEOUT)
    assert process.returncode == status, text
    return sorted(text.splitlines())


@pytest.fixture
def dmlc() -> dict[str, str]:
    """Variables of two nodes and their scheduler."""
    return {"DMLC_NUM_SERVER": "2", "DMLC_PS_ROOT_URI": OWN, "DMLC_PS_ROOT_PORT": str(free_port(OWN))}


SCHEDULER = PROLOGUE + "pyps.scheduler(timeout=float(sys.argv[1]))\nprint('over')"
NODE = PROLOGUE + SHARE + "node = pyps.init(30, 2, timeout=40)\nprint('node', flush=True)\n"


@pytest.mark.long
@pytest.mark.parametrize(
    ("processes", "per_host", "expected"),
    [
        (3, 1, ["Node 0/1", "Node 0/1", "Server 0/1"]),
        (4, 2, ["Node 0/2", "Node 1/2", "Server 0/2", "Server 1/2"]),
    ],
)
def test_torchrun_starts_nodes_and_their_workers(
    spawn: Spawn, tmp_path: Path, processes: int, per_host: int, expected: list[str]
) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        PROLOGUE
        + SHARE
        + "everybody = int(os.environ['WORLD_SIZE'])\n"
        + "for turn in range(2):\n"
        + "    node = pyps.init(30, 2, timeout=40)\n"
        + "    kind = 'Server' if isinstance(node, pyps.Server) else 'Node'\n"
        + "    if turn == 0: os.write(1, f'{kind} {node.rank}/{node.num_nodes}\\n'.encode())\n"
        + "    share(node, everybody)\n"
        + "    import torch.distributed as dist\n"
        + "    if turn == 0: dist.init_process_group('gloo')\n"
        + "    dist.barrier()\n"
        + "    node.shutdown()\n"
        + "dist.destroy_process_group()\n"
    )
    run = spawn(
        *("-m", "torch.distributed.run", "--standalone", "--no-python", "--local-addr=127.0.0.1"),
        *(f"--nproc-per-node={processes}", sys.executable, "-W", "ignore", str(script)),
        PYTHONWARNINGS="ignore",
        PYPS_NODES_PER_HOST=str(per_host),
    )
    lines = output(run)
    assert [line for line in lines if line.startswith(("Node", "Server"))] == expected
    assert not any("lost" in line for line in lines)


@pytest.mark.long
def test_processes_that_torchrun_restarts_begin_anew(spawn: Spawn, tmp_path: Path) -> None:
    """The first time one fails while the other waits for it, at the same store."""
    script = tmp_path / "script.py"
    script.write_text(
        PROLOGUE
        + SHARE
        + "restart = os.environ['TORCHELASTIC_RESTART_COUNT']\n"
        + "if restart == '0' and os.environ['RANK'] == '0': time.sleep(1); sys.exit(1)\n"
        + "node = pyps.init(30, 2, timeout=40)\n"
        + "share(node, 2)\n"
        + "node.shutdown()\n"
        + "os.write(1, f'Server {node.rank} after {restart}\\n'.encode())\n"
    )
    run = spawn(
        *("-m", "torch.distributed.run", "--standalone", "--no-python", "--local-addr=127.0.0.1"),
        *("--nproc-per-node=2", "--max-restarts=1", "--monitor-interval=0.2", sys.executable, str(script)),
        PYTHONWARNINGS="ignore",
        PYPS_NODES_PER_HOST="2",
    )
    lines = [line for line in output(run) if line.startswith("Server")]
    assert lines == ["Server 0 after 1", "Server 1 after 1"]


# Connections of this node to the others take half a second, so that they hear of it late.
LATE = """
import contextlib, socket, threading
from pyps.rendezvous.start import ClusterServer

def pump(one, other):
    with contextlib.suppress(OSError):  # an end was reset
        while piece := one.recv(65536):
            other.sendall(piece)
        other.shutdown(socket.SHUT_WR)

def carry(line, place):
    time.sleep(0.5)
    with line, socket.create_connection(place) as other:
        back = threading.Thread(target=pump, args=(other, line), daemon=True)
        back.start()
        pump(line, other)
        back.join()

def relay(endpoint):
    host, port = endpoint.removeprefix("tcp://").split(":")
    listening = socket.create_server((host, 0))
    def accept():
        while True:
            line, _ = listening.accept()
            threading.Thread(target=carry, args=(line, (host, int(port))), daemon=True).start()
    threading.Thread(target=accept, daemon=True).start()
    return f"tcp://{host}:{listening.getsockname()[1]}"

def connect(self, endpoints):
    direct(self, [end if node == self.rank else relay(end) for node, end in enumerate(endpoints)])

direct, ClusterServer.connect = ClusterServer.connect, connect
"""


@pytest.mark.long
def test_a_node_that_shuts_down_at_once_waits_for_one_that_it_hears_of_late(spawn: Spawn) -> None:
    """It has seen at the rendezvous that the other works."""
    where = f"{OWN}:{free_port(OWN)}"
    begin = f"node = pyps.init(30, 2, rendezvous='tcp://{where}', num_nodes=2, rank=%d, timeout=40)\n"
    use = "with node.worker() as kv: print(kv.pull([0]).shape)\n"
    early = spawn("-c", PROLOGUE + begin % 0 + "node.shutdown()")
    late = spawn("-W", "ignore", "-c", PROLOGUE + LATE + begin % 1 + use + "node.shutdown()")
    assert [output(node) for node in (late, early)] == [["(1, 2)"], []]


@pytest.mark.long
def test_rank_0_serves_the_store_when_no_agent_does(spawn: Spawn) -> None:
    variables = {"WORLD_SIZE": "2", "MASTER_ADDR": OWN, "MASTER_PORT": str(free_port(OWN))}
    nodes = [spawn("-c", NODE + "share(node, 2)\nnode.shutdown()", RANK=str(r), **variables) for r in (1, 0)]
    assert [output(node) for node in nodes] == [["node"], ["node"]]


@pytest.mark.long
def test_a_scheduler_ends_with_its_nodes(spawn: Spawn, dmlc: dict[str, str]) -> None:
    """The nodes come first, and leave one after the other."""
    source = NODE + "share(node, 2)\nsys.stdin.readline()\nnode.shutdown()"
    nodes = [spawn("-c", source, DMLC_ROLE="server", **dmlc) for _ in range(2)]
    scheduler = spawn("-c", SCHEDULER, "40", DMLC_ROLE="scheduler", **dmlc)
    for node in nodes:
        assert node.stdout is not None
        assert node.stdout.readline() == "node\n"
    with pytest.raises(subprocess.TimeoutExpired):
        scheduler.wait(0.3)
    for node in nodes:
        assert node.stdin is not None
        node.stdin.close()
        node.stdin = None
    assert [output(node) for node in nodes] == [[], []]
    assert output(scheduler) == ["over"]


@pytest.mark.long
def test_a_scheduler_names_a_node_that_was_lost(spawn: Spawn, dmlc: dict[str, str]) -> None:
    nodes = [
        spawn(
            "-c",
            NODE + "print(node.rank, flush=True)\nsys.stdin.readline()\nnode.shutdown(timeout=0)",
            DMLC_ROLE="server",
            **dmlc,
        )
        for _ in range(2)
    ]
    scheduler = spawn("-c", SCHEDULER, "40", DMLC_ROLE="scheduler", **dmlc)
    ranks = []
    for node in nodes:
        assert node.stdout is not None
        assert node.stdout.readline() == "node\n"
        ranks.append(int(node.stdout.readline()))
    nodes[0].kill()
    assert scheduler.stdout is not None
    assert scheduler.stdout.readline() == (
        f"ERROR node {ranks[0]} of 2 was lost: it ended without shutting down\n"
    )
    output(nodes[1])
    text = "\n".join(output(scheduler, 1))
    assert f"NodeLost: the job is over, but of 2 nodes these ended without shutting down: {ranks[0]}" in text


@pytest.mark.long
def test_nodes_go_on_when_their_scheduler_is_killed(spawn: Spawn, dmlc: dict[str, str]) -> None:
    source = NODE + "sys.stdin.readline()\nshare(node, 2)\nprint('shared', flush=True)\nnode.shutdown()"
    nodes = [spawn("-c", source, DMLC_ROLE="server", **dmlc) for _ in range(2)]
    scheduler = spawn("-c", SCHEDULER, "40", DMLC_ROLE="scheduler", **dmlc)
    for node in nodes:
        assert node.stdout is not None
        assert node.stdout.readline() == "node\n"
    scheduler.kill()
    where = f"{OWN}:{dmlc['DMLC_PS_ROOT_PORT']}"
    lost = []
    for node in nodes:
        assert node.stdout is not None
        lost.append(node.stdout.readline())
    assert sorted(lost) == [
        f"ERROR node {rank} of 2: the rendezvous at {where} was lost; the nodes that run go on\n"
        for rank in range(2)
    ]
    for node in nodes:
        assert node.stdin is not None
        node.stdin.write("\n")
        node.stdin.flush()
    assert [output(node) for node in nodes] == [["shared"], ["shared"]]


@pytest.mark.long
def test_everybody_names_the_node_that_does_not_come(spawn: Spawn, dmlc: dict[str, str]) -> None:
    source = NODE.replace("timeout=40", "timeout=8")
    node = spawn("-c", source, DMLC_ROLE="server", **dmlc)
    scheduler = spawn("-c", SCHEDULER, "20", DMLC_ROLE="scheduler", **dmlc)
    for process in (node, scheduler):
        text = "\n".join(output(process, 1))
        assert "the cluster did not start: node 1 of 2 did not come within 8 s" in text


@pytest.mark.slow
def test_ctrl_c_ends_a_start_that_waits(spawn: Spawn) -> None:
    store = serve_store("127.0.0.1", 0)
    where = f"tcp://127.0.0.1:{cast(Any, store).port}"
    source = f"pyps.init(30, 2, rendezvous={where!r}, num_nodes=2, rank=1, timeout=50)"
    node = spawn("-c", PROLOGUE + source)
    store.wait(["pyps/explicit/1/offer/1"], timedelta(seconds=TIMEOUT))
    begin = time.monotonic()
    node.send_signal(signal.SIGINT)
    assert "KeyboardInterrupt" in "\n".join(output(node, -signal.SIGINT))
    assert store.get("pyps/explicit/1/answer/working") == (b'["failed", "node 1: KeyboardInterrupt"]')
    assert time.monotonic() - begin < 5
