"""A Ray of two hosts, which are network namespaces of this machine, and programs that use it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import textwrap
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from tests.pyps.network import Host, Network, may_make_hosts
from tests.python_path import python_path

PATIENCE = 90.0  # seconds that Ray gets to start, or a program to end
RAY = str(Path(sys.executable).with_name("ray"))
PORT = 6379
BEGIN = """
import time
import ray

ray.init(address={address!r}, log_to_driver=False)
while sum(host["Alive"] for host in ray.nodes()) < 2:
    time.sleep(0.05)
"""

Run = Callable[[str], subprocess.CompletedProcess[str]]


@pytest.fixture(scope="module")
def run() -> Iterator[Run]:
    """Run a program in which Ray has started."""
    if not may_make_hosts():
        pytest.skip("network namespaces: ip of iproute2, and the right to make them, are missing")
    with (
        tempfile.TemporaryDirectory(prefix="r") as place,
        Network(2) as network,
    ):  # names of sockets are short
        here, there = network.hosts
        address = f"{here.address}:{PORT}"
        environment = {
            **os.environ,
            "HOME": place,
            "PYTHONPATH": python_path(),
            "RAY_AUTH_MODE": "disabled",
            "RAY_TMPDIR": place,
            "RAY_USAGE_STATS_ENABLED": "0",
        }

        def start(host: Host, *role: str) -> None:
            command = [
                *host.command,
                RAY,
                "start",
                f"--node-ip-address={host.address}",
                "--num-cpus=2",
                *role,
            ]
            subprocess.run(command, check=True, capture_output=True, timeout=PATIENCE, env=environment)

        def program(text: str) -> subprocess.CompletedProcess[str]:
            command = [
                *here.command,
                sys.executable,
                "-c",
                BEGIN.format(address=address) + textwrap.dedent(text),
            ]
            return subprocess.run(
                command, check=False, capture_output=True, text=True, timeout=PATIENCE, env=environment
            )

        try:
            start(here, "--head", f"--port={PORT}", "--include-dashboard=false")
            start(there, f"--address={address}")
            yield program
        finally:
            for host in network.hosts:
                end_all(host)


def end_all(host: Host) -> None:
    """Kill what runs on a host."""
    found = subprocess.run(
        ["ip", "netns", "pids", host.name], check=True, capture_output=True, text=True, timeout=30
    )
    for pid in found.stdout.split():
        with suppress(ProcessLookupError):
            os.kill(int(pid), signal.SIGKILL)
