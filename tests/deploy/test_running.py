"""The commands of compose.yaml and the image's check, run here: hosts' names and ports are this machine's."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
import zmq

import pyps
from pyps.rendezvous.interfaces import listen
from tests.bridge.serve.serving import serving
from tests.conftest import Processes
from tests.deploy.manifests import SLURM, containers, job, words

TIMEOUT = 60.0


def wait_for(file: Path, process: subprocess.Popen[str]) -> str:
    deadline = time.monotonic() + TIMEOUT
    while not file.exists():
        assert process.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.02)
    return file.read_text().strip()


@pytest.mark.long
def test_composes_nodes_meet_with_their_keys_and_end(processes: Processes, tmp_path: Path) -> None:
    with listen("127.0.0.4", 0) as probe:
        port = probe.getsockname()[1]
    here = {"node0:5000": f"127.0.0.4:{port}", "node0": "127.0.0.4", "node1": "127.0.0.5"}
    public, secret = (key.decode() for key in zmq.curve_keypair())
    environment = os.environ | {"PYPS_CURVE_PUBLIC": public, "PYPS_CURVE_SECRET": secret}
    running = []
    for container in containers():
        if container.name.startswith("compose.node"):
            file = tmp_path / str(len(running))
            command = container.command
            for name, address in {**here, "/tmp/address": str(file)}.items():
                command = [word.replace(name, address) for word in command]
            process = processes(
                [sys.executable, "-m", "moontide", *command], env=environment, stderr=subprocess.PIPE
            )
            running.append((file, process))
    for file, process in running:
        with pyps.attach(wait_for(file, process)) as node, node.worker() as kv:
            kv.push([0, 999_999], np.ones((2, 10), dtype=np.float32))
            kv.wait_sync(TIMEOUT)
            values = np.empty((2, 10), dtype=np.float32)
            kv.pull([0, 999_999], values)
    assert values.tolist() == [[2.0] * 10] * 2
    for _, process in running:
        process.terminate()
    for file, process in running:
        _, errors = process.communicate(timeout=TIMEOUT)
        assert (process.returncode, errors, file.exists()) == (0, "", False)


# Of docs/cluster.md; each process tells how many workers there were.
# Its line is written at once, as two processes may share an output.
PROGRAM = """
import sys

import numpy as np
import pyps

with pyps.init(num_keys=1000, value_length=8) as node, node.worker() as kv:
    kv.push([0], np.ones((1, 8), dtype=np.float32))
    kv.barrier()
    sys.stdout.write(f"{node.rank} {node.num_nodes} {int(kv.pull([0])[0, 0])}\\n")
"""


@pytest.mark.long
def test_a_job_s_pods_are_nodes_of_one_cluster(processes: Processes, tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(PROGRAM)
    training, _ = job()
    (container,) = training["spec"]["template"]["spec"]["containers"]
    with listen("127.0.0.4", 0) as probe:
        port = str(probe.getsockname()[1])
    public, secret = (key.decode() for key in zmq.curve_keypair())
    given = {one["name"]: one.get("value", "") for one in container["env"]}
    given |= {"MASTER_ADDR": "127.0.0.4", "MASTER_PORT": port}
    given |= {"PYPS_CURVE_PUBLIC": public, "PYPS_CURVE_SECRET": secret}
    count = training["spec"]["completions"]
    python, program = container["command"]
    assert python == "python"
    command = [sys.executable, program.replace("/program", str(tmp_path))]
    running = [
        processes(
            command, env=os.environ | given | {"RANK": str(rank), "DMLC_NODE_HOST": f"127.0.0.{rank + 4}"}
        )
        for rank in range(count)
    ]
    told = sorted(process.communicate(timeout=TIMEOUT)[0].strip() for process in running)
    assert told == [f"{rank} {count} {count}" for rank in range(count)]


@pytest.mark.long
def test_slurm_s_script_starts_the_program_on_each_host(processes: Processes, tmp_path: Path) -> None:
    """Its `srun` and `scontrol` are stood in for: one host, whose commands run here."""
    (tmp_path / "train.py").write_text(PROGRAM)
    for name, text in {
        "srun": 'exec "${@:2}"',
        "scontrol": "echo 127.0.0.1",
        "hostname": "echo 127.0.0.1",
    }.items():
        (tmp_path / name).write_text(f"#!/bin/bash\n{text}\n")
        (tmp_path / name).chmod(0o755)
    with listen("127.0.0.1", 0) as probe:
        port = str(probe.getsockname()[1])
    path = f"{tmp_path}:{Path(sys.executable).parent}:{os.environ['PATH']}"
    given = {"PATH": path, "SLURM_JOB_NODELIST": "one", "SLURM_JOB_NUM_NODES": "1", "SLURM_JOB_ID": "7"} | {
        "MOONTIDE_PORT": port
    }
    process = processes(["bash", SLURM, tmp_path / "train.py"], env=os.environ | given)
    assert process.communicate(timeout=TIMEOUT)[0].split("\n")[:2] == ["0 1 2", "0 1 2"]
    assert process.returncode == 0


@pytest.mark.slow
def test_the_images_check_knows_a_server_from_none(tmp_path: Path) -> None:
    models = tmp_path / "models"
    models.mkdir()
    (models / "double.lua").write_text("function double(x) return x * 2 end")
    python, *check = words("HEALTHCHECK")
    assert python == "python"

    def healthy(port: int) -> bool:
        command = [sys.executable, *(word.replace(":8080/", f":{port}/") for word in check)]
        return subprocess.run(command, check=False, capture_output=True, timeout=TIMEOUT).returncode == 0

    with serving(tmp_path, models) as server:
        port = server.address[1]
        assert healthy(port)
    assert not healthy(port)
