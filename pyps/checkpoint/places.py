"""Where checkpoints lie in a directory: `checkpoint-00000012`, and names with a dot for what is being made.

Each checkpoint that is being made has a lock, which ends with its process. So a later one finds what a process that was
killed has left, and removes it.
"""

from __future__ import annotations

import fcntl
import os
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from pyps.errors import CheckpointError

MANIFEST = "manifest.json"
NUMBERED = re.compile(r"checkpoint-(\d{8,})")
PARTS = (".saving-", ".meeting-")  # directories beside a lock


def numbers(directory: Path) -> list[int]:
    """Return the numbers of the checkpoints of a directory, the oldest first."""
    if not directory.is_dir():
        return []
    found = (NUMBERED.fullmatch(entry.name) for entry in directory.iterdir())
    return sorted(int(match[1]) for match in found if match)


def numbered(directory: Path, number: int) -> Path:
    """Return the directory of a checkpoint."""
    return directory / f"checkpoint-{number:08d}"


def find(path: Path) -> Path:
    """Return a checkpoint: the path itself, or the newest one in it."""
    if (path / MANIFEST).is_file():
        return path
    known = numbers(path)
    if not known:
        raise CheckpointError(f"{path} is no checkpoint and has none: there is no {MANIFEST} in it")
    return numbered(path, known[-1])


def prune(directory: Path, keep: int) -> None:
    """Remove all checkpoints but the newest; each is gone at once."""
    for number in numbers(directory)[:-keep]:
        old = numbered(directory, number)
        going = old.with_name(f".removed-{old.name}")
        with suppress(FileNotFoundError):  # another process removes it
            old.rename(going)
    for going in directory.glob(".removed-*"):
        shutil.rmtree(going, ignore_errors=True)


@contextmanager
def working(directory: Path) -> Iterator[str]:
    """Remove what killed processes have left; yield a name for what is made here, which is removed at the end."""
    for lock in directory.glob(".lock-*"):
        with suppress(OSError), lock.open("rb") as file:  # of a process that lives
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            _clear(directory, lock.name.removeprefix(".lock-"))
    while True:
        name = os.urandom(8).hex()
        lock = directory / f".lock-{name}"
        with lock.open("wb") as file:
            with suppress(OSError):  # there are file systems without locks: nothing is removed there
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if not lock.exists():  # another process has taken it for a dead one's
                continue
            try:
                yield name
            finally:
                _clear(directory, name)
            return


def _clear(directory: Path, name: str) -> None:
    for part in PARTS:
        shutil.rmtree(directory / f"{part}{name}", ignore_errors=True)
    (directory / f".lock-{name}").unlink(missing_ok=True)


def sync(path: Path) -> None:
    """Flush a file, or a directory, so that its names survive a crash."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
