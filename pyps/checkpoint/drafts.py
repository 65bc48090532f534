"""How a checkpoint comes to be in a folder, all of it or nothing, and how old ones go.

In a local directory it is made as `.saving-NAME` and then renamed. Its maker holds a lock, which ends with the process;
so a later one finds what a killed one has left, and removes it.

Other stores have neither. There it is made where it will be, and the manifest, which is written last, makes it one. A
number belongs to the maker whose file `.saving-NAME` is alone in its folder. Names begin with the time: what is not
complete a day later is removed.
"""

# ruff: noqa: D102 (the protocols describe the methods)
from __future__ import annotations

import errno
import fcntl
import logging
import os
import random
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Protocol

from pyps.checkpoint import places
from pyps.checkpoint.folders import Folder, LocalFolder
from pyps.checkpoint.manifest import Manifest, read
from pyps.errors import CheckpointError

logger = logging.getLogger(__name__)
SAVING, MEETING = ".saving-", ".meeting-"  # with the name of what is made
ABANDONED = 24 * 3600  # seconds


class Drafts(Protocol):
    """What makes checkpoints in a folder, in the process of node 0."""

    def working(self) -> AbstractContextManager[str]:
        """Remove what killed processes have left; give a name for what is made, whose parts are removed at the end."""

    def begin(self, name: str) -> Folder:
        """Return the folder where a checkpoint's shards are written."""

    def complete(self, name: str, place: Folder, manifest: Manifest) -> Folder:
        """Write the manifest, with a number; return the checkpoint, which exists now."""

    def remove(self, checkpoint: Folder) -> None:
        """Remove a checkpoint; from the beginning on, it is none."""


def drafts_of(directory: Folder) -> Drafts:
    """Return what makes checkpoints there."""
    return LocalDrafts(directory) if isinstance(directory, LocalFolder) else RemoteDrafts(directory)


class LocalDrafts:
    """In a directory of a file system."""

    def __init__(self, directory: LocalFolder) -> None:
        self._directory = directory

    @contextmanager
    def working(self) -> Iterator[str]:
        for lock in self._directory.path.glob(".lock-*"):
            with suppress(OSError), lock.open("rb") as file:  # of a process that lives
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                self._clear(lock.name.removeprefix(".lock-"))
        while True:
            name = os.urandom(8).hex()
            lock = self._directory.path / f".lock-{name}"
            with lock.open("wb") as file:
                with suppress(OSError):  # there are file systems without locks: nothing is removed there
                    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                if not lock.exists():  # another process has taken it for a dead one's
                    continue
                try:
                    yield name
                finally:
                    self._clear(name)
                return

    def begin(self, name: str) -> Folder:
        place = self._directory.folder(f"{SAVING}{name}")
        place.make()
        return place

    def complete(self, name: str, place: Folder, manifest: Manifest) -> Folder:
        while True:
            number = _next_number(self._directory)
            replace(manifest, number=number).write(place)
            final = places.numbered(self._directory, number)
            try:
                Path(place.path).rename(final.path)
            except OSError as error:
                if error.errno not in (errno.EEXIST, errno.ENOTEMPTY):
                    raise
                continue  # another one was completed meanwhile
            self._directory.sync()
            return final

    def remove(self, checkpoint: Folder) -> None:
        going = self._directory.path / f".removed-{checkpoint.name}"
        with suppress(FileNotFoundError):  # another process removes it
            Path(checkpoint.path).rename(going)
        for rest in self._directory.path.glob(".removed-*"):
            LocalFolder(rest).clear()

    def _clear(self, name: str) -> None:
        for part in (SAVING, MEETING):
            self._directory.folder(f"{part}{name}").clear()
        self._directory.remove(f".lock-{name}")


class RemoteDrafts:
    """In a folder of another store."""

    def __init__(self, directory: Folder) -> None:
        self._directory = directory

    @contextmanager
    def working(self) -> Iterator[str]:
        self._remove_abandoned()
        name = f"{int(time.time()):x}-{os.urandom(8).hex()}"
        try:
            yield name
        finally:
            self._directory.folder(f"{MEETING}{name}").clear()
            for number in reversed(places.taken(self._directory)):
                place = places.numbered(self._directory, number)
                if f"{SAVING}{name}" in (there := place.names()) and places.MANIFEST not in there:
                    place.clear()

    def begin(self, name: str) -> Folder:
        claim = f"{SAVING}{name}"
        while True:
            place = places.numbered(self._directory, _next_number(self._directory))
            place.make()
            place.write(claim, b"")
            if place.names() == {claim}:
                return place
            place.remove(claim)  # two at once both leave it
            time.sleep(random.random())

    def complete(self, name: str, place: Folder, manifest: Manifest) -> Folder:
        if f"{SAVING}{name}" not in place.names():
            raise CheckpointError(f"{place} was removed while it was made")
        replace(manifest, number=int(place.name.rpartition("-")[2])).write(place)
        place.remove(f"{SAVING}{name}")
        return place

    def remove(self, checkpoint: Folder) -> None:
        checkpoint.remove(places.MANIFEST)
        checkpoint.clear()

    def _remove_abandoned(self) -> None:
        for entry in self._directory.names():
            if entry.startswith(MEETING) and _is_abandoned(entry.removeprefix(MEETING)):
                self._directory.folder(entry).clear()
        for number in places.taken(self._directory):
            place = places.numbered(self._directory, number)
            there = place.names()
            claims = [entry.removeprefix(SAVING) for entry in there if entry.startswith(SAVING)]
            if claims and places.MANIFEST not in there and all(map(_is_abandoned, claims)):
                place.clear()


def prune(directory: Folder, keep: int) -> None:
    """Remove all checkpoints but the newest, and those that the newest are built upon."""
    known = places.numbers(directory)
    needed = set(known[-keep:])
    for number in known[-keep:]:
        try:
            manifest = read(places.numbered(directory, number))
            needed |= {shard.checkpoint for table in manifest.tables for shard in table.shards}
        except CheckpointError as error:
            logger.warning("no checkpoint is removed, as it is not known what this one needs: %s", error)
            return
    for number in set(known) - needed:
        drafts_of(directory).remove(places.numbered(directory, number))


def _next_number(directory: Folder) -> int:
    return max(places.taken(directory), default=0) + 1


def _is_abandoned(name: str) -> bool:
    try:
        return time.time() - int(name.partition("-")[0], 16) > ABANDONED
    except ValueError:
        return False
