"""Ports that are free for the moment."""

from __future__ import annotations

import socket

import pytest


@pytest.fixture
def free_ports() -> list[int]:
    with socket.socket() as one, socket.socket() as other:
        for sock in (one, other):
            sock.bind(("127.0.0.1", 0))
        return [one.getsockname()[1], other.getsockname()[1]]
