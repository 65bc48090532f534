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
from tests.deploy.manifests import containers, words

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
