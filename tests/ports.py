"""Ports for tests that have to know one before something listens there."""

from __future__ import annotations

import os
import socket

LOOPBACK = "127.0.0.1"
# A loopback address of this process's own, so that no other program takes a port between two looks at it.
OWN = f"127.{os.getpid() // 250 % 250 + 2}.{os.getpid() % 250}.1"


def free_port(host: str) -> int:
    """Return a port of the address at which nothing listened a moment ago."""
    with socket.socket() as probe:
        probe.bind((host, 0))
        return int(probe.getsockname()[1])
