"""A table of a checkpoint that is there: each key with its row, once."""

from __future__ import annotations

from collections.abc import Container, Iterator
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pyps.checkpoint import manifest, places, shards
from pyps.checkpoint.folders import Folder, open_folder
from pyps.checkpoint.manifest import Shard
from pyps.checkpoint.rows import Keys
from pyps.errors import CheckpointError


class Stored:
    """A table of a checkpoint: its first one, where the server's own keys come before the named tables.

    Parameters
    ----------
    path : path
        Its directory or URL, or one with checkpoints, of which it is the newest. Earlier ones that it is built upon
        have to lie beside it.

    Raises
    ------
    CheckpointError
        There is none, or its manifest is damaged.
    """

    def __init__(self, path: str | Path) -> None:
        self.folder = places.find(open_folder(path))
        self.path = self.folder.path
        self.manifest = manifest.read(self.folder)
        self.table = self.manifest.table

    def named(self, name: str) -> Stored:
        """Return another table of the checkpoint; CheckpointError if it has none of this name."""
        table = self.manifest.find(name)
        if table is None:
            names = ", ".join(repr(table.name) for table in self.manifest.tables)
            raise CheckpointError(
                f"{self.path} has no table {name!r}; it has {names} ('' are a server's own keys)"
            )
        found = Stored.__new__(Stored)
        found.folder, found.path, found.manifest, found.table = self.folder, self.path, self.manifest, table
        return found

    def each(self) -> list[Stored]:
        """Return all tables of the checkpoint."""
        return [self.named(table.name) for table in self.manifest.tables]

    def __str__(self) -> str:
        return f"table {self.table.name!r} of {self.path}" if self.table.name else str(self.path)

    def folder_of(self, shard: Shard) -> Folder:
        """Return the folder that has a shard: this checkpoint's, or that of an earlier one."""
        return places.numbered(self.folder.parent, shard.checkpoint) if shard.checkpoint else self.folder

    def groups(self, shard: Shard, names: Container[str] | None = None) -> Iterator[shards.Group]:
        """Yield a shard's groups, with the last row alone of each key; with some fields only, if `names` says."""
        for found in shards.read(self.folder_of(shard), self.table, shard, names):
            group = found.without_repeats() if self.table.has_repeats else found
            if len(self._ages) == 1:
                yield group
            else:
                yield group.only(self._last.are_of(group.keys, self._ages.index(self._age(shard))))

    def checks(self) -> Iterator[tuple[Keys, Any]]:
        """Yield keys with the checks of their rows, each key once."""
        for shard in self.table.shards:
            for group in self.groups(shard, ("checks",)):
                yield group.keys, group.checks

    def verify(self, shard: Shard) -> None:
        """Compare a shard with its checksum; CheckpointError if it is missing or damaged."""
        shards.verify(self.folder_of(shard), shard)

    def require_whole(self, share: slice = slice(None)) -> None:
        """Look whether every key is there, once, and compare shards with their checksums.

        Parameters
        ----------
        share : slice
            Which of the shards, all if it is not given: several processes may divide them.

        Raises
        ------
        CheckpointError
            A shard is missing or damaged, or keys are missing or there twice.
        """
        for shard in self.table.shards[share]:
            self.verify(shard)
        self.require_complete()

    def require_complete(self) -> None:
        """Look whether every key is there, once; reads the keys of all shards.

        Raises
        ------
        CheckpointError
            Keys are missing, or there twice.
        """
        parts = [group.keys for shard in self.table.shards for group in self.groups(shard, ())]
        keys = np.concatenate(parts) if parts else np.empty(0, np.int64)
        wanted = self.table.num_keys
        if wanted is None:
            keys = np.sort(keys)
            twice = keys[1:][keys[1:] == keys[:-1]]
        elif len(keys) and (keys.min() < 0 or keys.max() >= wanted):
            raise CheckpointError(f"{self} is damaged: it has keys outside [0, {wanted})")
        else:
            twice = np.flatnonzero(np.bincount(keys, minlength=wanted) > 1)
        if len(twice):
            raise CheckpointError(f"{self} is damaged: it has key {twice[0]} twice")
        expected = self.table.keys if wanted is None else wanted
        if len(keys) != expected:
            raise CheckpointError(f"{self} is damaged: it has {len(keys)} keys of {expected}")

    def _age(self, shard: Shard) -> tuple[float, int, int]:
        """Return what is greater for a shard whose rows count before those of another one."""
        return (*shard.age, self.table.shards.index(shard) if self.table.has_repeats else 0)

    @cached_property
    def _ages(self) -> list[tuple[float, int, int]]:
        return sorted({self._age(shard) for shard in self.table.shards})

    @cached_property
    def _last(self) -> _Last:
        parts = [
            (group.keys, self._ages.index(self._age(shard)))
            for shard in sorted(self.table.shards, key=self._age)
            for group in shards.read(self.folder_of(shard), self.table, shard, ())
        ]
        return _Last(self.table.num_keys, parts)


class _Last:
    """For each key the last one of the ages that have it: 4 bytes for each, and 8 more if keys are any numbers.

    Parameters
    ----------
    num_keys : int or None
    parts : list of (int64 array, int)
        Keys and their age; ages ascend.
    """

    def __init__(self, num_keys: int | None, parts: list[tuple[Keys, int]]) -> None:
        self._keys: Keys | None = None
        if num_keys is not None:
            self._ages = np.zeros(num_keys, np.int32)
            for keys, age in parts:
                self._ages[keys[(keys >= 0) & (keys < num_keys)]] = age
        else:
            latest_first = parts[::-1]
            self._keys, first = np.unique(
                np.concatenate([keys for keys, _ in latest_first]), return_index=True
            )
            lengths = [len(keys) for keys, _ in latest_first]
            self._ages = np.repeat(np.array([age for _, age in latest_first], np.int32), lengths)[first]

    def are_of(self, keys: Keys, age: int) -> NDArray[np.bool_]:
        """Tell for each key whether this is its last age; so it is for a key that cannot be."""
        if self._keys is None:
            at = np.clip(keys, 0, len(self._ages) - 1)
            is_last: NDArray[np.bool_] = (self._ages[at] == age) | (at != keys)
        else:
            is_last = self._ages[np.searchsorted(self._keys, keys)] == age
        return is_last
