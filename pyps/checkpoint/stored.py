"""A checkpoint that is there: its manifest, and each key with its row, once."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from pyps.checkpoint import manifest, places, shards
from pyps.checkpoint.folders import open_folder
from pyps.checkpoint.manifest import Shard
from pyps.checkpoint.rows import Keys
from pyps.errors import CheckpointError


class Stored:
    """A checkpoint in a directory.

    Parameters
    ----------
    path : path
        Its directory or URL, or one with checkpoints, of which it is the newest.

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

    def groups(self, shard: Shard) -> Iterator[shards.Group]:
        """Yield a shard's groups, without the keys that a shard of a later round has."""
        later = [self._keys(other) for other in self.table.shards if other.round > shard.round]
        for group in shards.read(self.folder, self.table, shard):
            again = np.isin(group.keys, np.concatenate(later)) if later else np.zeros(1, np.bool_)
            yield group.only(~again) if again.any() else group

    def verify(self, shard: Shard) -> None:
        """Compare a shard with its checksum; CheckpointError if it is missing or damaged."""
        shards.verify(self.folder, shard)

    def require_complete(self) -> None:
        """Look whether every key is there, once; reads the keys of all shards.

        Raises
        ------
        CheckpointError
            Keys are missing, or there twice.
        """
        parts = [group.keys for shard in self.table.shards for group in self.groups(shard)]
        keys = np.concatenate(parts) if parts else np.empty(0, np.int64)
        wanted = self.table.num_keys
        if wanted is None:
            keys = np.sort(keys)
            twice = keys[1:][keys[1:] == keys[:-1]]
        elif len(keys) and (keys.min() < 0 or keys.max() >= wanted):
            raise CheckpointError(f"{self.path} is damaged: it has keys outside [0, {wanted})")
        else:
            twice = np.flatnonzero(np.bincount(keys, minlength=wanted) > 1)
        if len(twice):
            raise CheckpointError(f"{self.path} is damaged: it has key {twice[0]} twice")
        expected = self.table.keys if wanted is None else wanted
        if len(keys) != expected:
            raise CheckpointError(f"{self.path} is damaged: it has {len(keys)} keys of {expected}")

    def _keys(self, shard: Shard) -> Keys:
        parts = [group.keys for group in shards.read(self.folder, self.table, shard)]
        return np.concatenate(parts) if parts else np.empty(0, np.int64)
