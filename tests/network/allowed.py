"""Whether this machine allows hosts of the benchmarks' own."""

from __future__ import annotations

import subprocess

from benchmarks.network.hosts import Link, network
from benchmarks.network.shares import shares


def may_make_them() -> bool:
    """Whether this process may make hosts with links, and shares of processors."""
    try:
        with network(1, Link(0.0)), shares(1, 1.0):
            return True
    except (OSError, subprocess.SubprocessError):
        return False
