"""A control group of a test's own, with a limit on memory; either version of the system's."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

MOUNT = Path("/sys/fs/cgroup")
PATIENCE = 10.0  # seconds that its processes get to be gone


def place() -> tuple[Path, str]:
    """Return this process's group, and the file in it that has the limit."""
    for line in Path("/proc/self/cgroup").read_text().splitlines():
        _, controllers, path = line.split(":", 2)
        if "memory" in controllers.split(","):
            return MOUNT / "memory" / path.lstrip("/"), "memory.limit_in_bytes"
    return MOUNT, "memory.max"


@contextmanager
def group(limit: int) -> Iterator[Path]:
    """Make a group below this process's whose processes may have so many bytes together."""
    parent, file = place()
    made = parent / f"wholememory-{os.getpid()}"
    made.mkdir()
    try:
        (made / file).write_text(str(limit))
        yield made
    finally:
        deadline = time.monotonic() + PATIENCE
        while (made / "cgroup.procs").read_text() and time.monotonic() < deadline:
            time.sleep(0.01)
        made.rmdir()


def may_make_groups() -> bool:
    """Whether this process may do that, and other ones may join."""
    try:
        with group(1 << 30) as made:
            return os.access(made / "cgroup.procs", os.W_OK)
    except OSError:
        return False
