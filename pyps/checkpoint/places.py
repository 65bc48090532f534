"""Where checkpoints lie in a folder: `checkpoint-00000012`, which is one as soon as it has its manifest."""

from __future__ import annotations

import re

from pyps.checkpoint.folders import Folder
from pyps.errors import CheckpointError

MANIFEST = "manifest.json"
NUMBERED = re.compile(r"checkpoint-(\d{8,})")


def taken(directory: Folder) -> list[int]:
    """Return the numbers that checkpoints have, also those that are not complete, the lowest first."""
    found = (NUMBERED.fullmatch(name) for name in directory.names())
    return sorted(int(match[1]) for match in found if match)


def numbers(directory: Folder) -> list[int]:
    """Return the numbers of the checkpoints of a folder, the oldest first."""
    return [number for number in taken(directory) if MANIFEST in numbered(directory, number).names()]


def numbered(directory: Folder, number: int) -> Folder:
    """Return the folder of a checkpoint."""
    return directory.folder(f"checkpoint-{number:08d}")


def newest(directory: Folder) -> Folder | None:
    """Return the newest checkpoint of a folder; None if there is none."""
    for number in reversed(taken(directory)):
        if MANIFEST in (found := numbered(directory, number)).names():
            return found
    return None


def find(path: Folder) -> Folder:
    """Return a checkpoint: the folder itself, or the newest one in it."""
    found = path if MANIFEST in path.names() else newest(path)
    if found is None:
        raise CheckpointError(f"{path} is no checkpoint and has none: there is no {MANIFEST} in it")
    return found
