"""Folders with checkpoints: directories of this machine here, those of other stores in remote.py."""

# ruff: noqa: D102 (the protocols describe the methods)
from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO, Protocol

import numpy as np
from numpy.typing import NDArray

PIECE = 1 << 20  # bytes that are read at once: they stay in the cache, and take no new pages from the system


class Folder(Protocol):
    """A folder, which need not exist. Names are those of files and folders directly in it.

    Attributes
    ----------
    pause : float
        Seconds between two looks, if one waits for something in it.
    """

    pause: float

    @property
    def path(self) -> Path | str:
        """The directory's path, or its URL."""

    @property
    def name(self) -> str:
        """The last part of its path."""

    @property
    def parent(self) -> Folder:
        """The folder in which it lies."""

    def folder(self, name: str) -> Folder:
        """Return a folder in it."""

    def make(self) -> None:
        """Let it exist, with those above it, where a store has empty folders."""

    def names(self) -> set[str]:
        """Return what is in it now; nothing if it does not exist."""

    def size(self, name: str) -> int:
        """Return the bytes of a file."""

    def read(self, name: str, begin: int = 0, end: int | None = None) -> bytes:
        """Return a file's bytes, or some of them; FileNotFoundError if there is none."""

    def pieces(self, name: str) -> Iterator[memoryview]:
        """Yield a file's bytes in pieces, each valid until the next one."""

    def array(self, name: str, dtype: Any, begin: int, count: int) -> NDArray[Any]:
        """Return elements of a file, from byte `begin` on."""

    def write(self, name: str, content: bytes) -> None:
        """Write a small file; a reader that sees it sees all of it."""

    def create(self, name: str) -> BinaryIO:
        """Open a new file to write to."""

    def sync(self, name: str = "") -> None:
        """Flush a file to the disk; without a name, the names in the folder."""

    def remove(self, name: str) -> None:
        """Remove a file, if it is there."""

    def clear(self) -> None:
        """Remove the folder with all that is in it, as far as that can be done."""


class LocalFolder:
    """A directory of a file system that is mounted here."""

    pause = 0.05

    def __init__(self, path: Path) -> None:
        self.path = path

    def __str__(self) -> str:
        return str(self.path)

    @property
    def name(self) -> str:
        return self.path.resolve().name

    @property
    def parent(self) -> LocalFolder:
        return LocalFolder(self.path.resolve().parent)

    def folder(self, name: str) -> LocalFolder:
        return LocalFolder(self.path / name)

    def make(self) -> None:
        self.path.mkdir(parents=True, exist_ok=True)

    def names(self) -> set[str]:
        with suppress(FileNotFoundError, NotADirectoryError):
            return set(os.listdir(self.path))  # noqa: PTH208
        return set()

    def size(self, name: str) -> int:
        return (self.path / name).stat().st_size

    def read(self, name: str, begin: int = 0, end: int | None = None) -> bytes:
        with (self.path / name).open("rb") as file:
            file.seek(begin)
            return file.read() if end is None else file.read(end - begin)

    def pieces(self, name: str) -> Iterator[memoryview]:
        room = memoryview(bytearray(PIECE))
        with (self.path / name).open("rb", buffering=0) as file:
            while count := file.readinto(room):
                yield room[:count]

    def array(self, name: str, dtype: Any, begin: int, count: int) -> NDArray[Any]:
        return np.asarray(np.memmap(self.path / name, dtype, "c", begin, (count,)))

    def write(self, name: str, content: bytes) -> None:
        beside = self.path / f".{name}"
        beside.write_bytes(content)
        beside.rename(self.path / name)

    def create(self, name: str) -> BinaryIO:
        return (self.path / name).open("wb")

    def sync(self, name: str = "") -> None:
        descriptor = os.open(self.path / name, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)

    def remove(self, name: str) -> None:
        (self.path / name).unlink(missing_ok=True)

    def clear(self) -> None:
        shutil.rmtree(self.path, ignore_errors=True)


def open_folder(path: str | Path) -> Folder:
    """Return the folder of a path, or of a URL like ``s3://bucket/run``.

    Raises
    ------
    CheckpointError
        No installed package reaches such a store.
    """
    text = str(path)
    if isinstance(path, Path) or "://" not in text:
        return LocalFolder(Path(path))
    if text.startswith("file://"):
        return LocalFolder(Path(text.removeprefix("file://")))
    from pyps.checkpoint.remote import RemoteFolder

    return RemoteFolder.open(text)
