"""Replacing a file only when the new one is complete: written beside the old, flushed to disk, then renamed."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path


@contextmanager
def replacing(file: str | os.PathLike[str]) -> Iterator[Path]:
    """Give a path to write to; when the block ends, the file written there replaces `file`.

    Parameters
    ----------
    file : path
        The file to replace or to make; a symbolic link is followed. It keeps its permissions.

    Yields
    ------
    Path
        An empty file in the same directory. If the block raises, it is removed and the old file stays.

    Raises
    ------
    OSError
        The file cannot be written; nothing was changed.
    """
    target = Path(os.path.realpath(file))
    descriptor, name = tempfile.mkstemp(
        prefix=f".{target.name[:100]}.", suffix=f".tmp{target.suffix}", dir=target.parent
    )
    os.close(descriptor)
    temporary = Path(name)
    try:
        yield temporary
        temporary.chmod(_mode(target))
        with temporary.open("rb+") as written:
            os.fsync(written.fileno())
        temporary.replace(target)
    except BaseException:
        with suppress(FileNotFoundError):
            temporary.unlink()
        raise
    _sync_directory(target.parent)


def _mode(target: Path) -> int:
    """Return the permissions of the file to be replaced, or those of a new file."""
    try:
        return target.stat().st_mode & 0o7777
    except FileNotFoundError:
        mask = int(
            next(
                line.split()[1]
                for line in Path("/proc/self/status").read_text().splitlines()
                if line.startswith("Umask:")
            ),
            8,
        )
        return 0o666 & ~mask


def _sync_directory(directory: Path) -> None:
    """Flush the directory, so that the new name survives a crash."""
    descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
