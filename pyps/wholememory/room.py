"""How much memory may still be promised to new tensors on this host.

A tensor takes memory only where it is touched. So a new one may have the memory that is free now, less what existing
tensors may still take. Their files are found through the open descriptors of all processes: there are no records that
could be wrong after a process has died. One process at a time looks and creates.
"""

from __future__ import annotations

import errno
import os
import socket
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from pyps.errors import WaitTimeoutError
from pyps.wholememory.channel import connect, listen, wait_readable

PREFIX = "wholememory-"  # what the files' names begin with
MARGIN = 32  # 1/32 of the host's memory is never promised
UNLIMITED = 1 << 63


def room() -> int:
    """Return how many bytes a new tensor of this process can have."""
    return max(0, available() - promised())


def available(root: Path = Path("/")) -> int:
    """Return the available bytes: the least of what the host and the control groups above this process have."""
    host = _fields(root / "proc/meminfo")
    left = [1024 * (host["MemAvailable:"] - host["MemTotal:"] // MARGIN)]
    for line in (root / "proc/self/cgroup").read_text().splitlines():
        _, controllers, path = line.split(":", 2)
        if controllers == "":
            files = "memory.max", "memory.current", "inactive_file"
            left += _group_room(root / "sys/fs/cgroup", path, *files)
        elif "memory" in controllers.split(","):
            files = "memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"
            left += _group_room(root / "sys/fs/cgroup/memory", path, *files)
    return max(0, min(left))


def counts_strictly(root: Path = Path("/")) -> bool:
    """Return whether touching memory may fail (``vm.overcommit_memory=2``): then it is allocated at creation."""
    return (root / "proc/sys/vm/overcommit_memory").read_text().strip() == "2"


def promised(files: Iterable[Path] | None = None) -> int:
    """Return the bytes that memory files may still take; by default, all files that this user can see."""
    untouched = {}
    for path in memory_files() if files is None else files:
        try:
            status = path.stat()
        except OSError:  # closed since the listing
            continue
        untouched[status.st_dev, status.st_ino] = status.st_size - status.st_blocks * 512
    return sum(max(0, left) for left in untouched.values())


def memory_files(name: str | None = None) -> Iterator[Path]:
    """Find open descriptors of memory files, or of the one with a name, in all processes that this user may inspect."""
    wanted = f"/memfd:{name} " if name else f"/memfd:{PREFIX}"  # after the name comes "(deleted)"
    with os.scandir("/proc") as entries:
        processes = [entry.name for entry in entries if entry.name.isdigit()]
    for process in processes:
        try:
            with os.scandir(f"/proc/{process}/fd") as descriptors:
                links = [descriptor.path for descriptor in descriptors]
        except OSError:  # the process is another user's, or has ended
            continue
        for link in links:
            try:
                target = os.readlink(link)  # noqa: PTH115 - there are hundreds, and a Path for each takes as long again
            except OSError:  # closed since the listing
                continue
            if target.startswith(wanted):
                yield Path(link)


@contextmanager
def one_at_a_time(deadline: float) -> Iterator[None]:
    """Hold a lock that only one process of this user on this host can hold; it is free when its holder dies.

    Raises
    ------
    WaitTimeoutError
        Another process held it until the deadline.
    """
    holder = _hold(f"{PREFIX}{os.geteuid()}-room", deadline)
    with holder:
        yield


def _hold(name: str, deadline: float) -> socket.socket:
    while True:
        try:
            return listen(name)
        except OSError as error:
            if error.errno != errno.EADDRINUSE:
                raise
        channel = connect(name)
        if channel is None:
            continue  # the lock was released meanwhile
        try:
            if not wait_readable([channel.fileno()], deadline):  # readable when the holder's socket is closed
                raise WaitTimeoutError(
                    f"process {channel.peer.pid} is creating a tensor, and does not come to an end"
                )
        finally:
            channel.close()
        if time.monotonic() > deadline:
            raise WaitTimeoutError("other processes were creating tensors all the time")


def _group_room(mount: Path, path: str, limit: str, used: str, cache: str) -> Iterator[int]:
    """Return what each group from this process's up to the root has left, if it has a limit."""
    for group in [mount / path.lstrip("/"), *(mount / path.lstrip("/")).parents]:
        try:
            most = (group / limit).read_text().strip()
            now = int((group / used).read_text())
        # The root group has no limit, and a container sees only a part of the path.
        except (OSError, ValueError):
            most = "max"
        if most != "max" and int(most) < UNLIMITED // 2:
            yield int(most) - now + min(now, _fields(group / "memory.stat").get(cache, 0))
        if group == mount:
            return


def _fields(path: Path) -> dict[str, int]:
    lines = (line.split() for line in path.read_text().splitlines())
    return {words[0]: int(words[1]) for words in lines if len(words) > 1 and words[1].isdigit()}
