"""Which rows have changed since a checkpoint: those whose check, a number of 64 bits, is another one.

A check is the sum of a row's 16-bit words, each multiplied by a random odd number, modulo 2^64 (multilinear hashing,
Lemire and Kaser, "Strongly universal string hashing is fast", 2014). A row in which one word has changed always has
another check; for any other change the chance that it is overlooked is below 2^-49.
"""

from __future__ import annotations

import hashlib
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pyps.checkpoint.rows import Keys
from pyps.checkpoint.stored import Stored

Checks = NDArray[np.uint64]
Flags = NDArray[np.bool_]


def checks_of(rows: NDArray[Any]) -> Checks:
    """Return the check of each row.

    Parameters
    ----------
    rows : structured array, shape (n,)
        As `row_type` has them: an even number of bytes, one after another.
    """
    words = rows.view(np.uint16).reshape(len(rows), rows.itemsize // 2)
    weights = _weights(rows.itemsize // 2 + 1)
    sums: Checks = np.einsum("ij,j->i", words, weights[1:])
    return sums + np.uint64(int(weights[0]) * rows.itemsize % 2**64)  # for zeros of another length


@lru_cache(maxsize=32)
def _weights(count: int) -> Checks:
    """Return odd numbers, which are the same for ever."""
    drawn = hashlib.shake_128(b"moontide checks of rows").digest(8 * count)
    return np.frombuffer(drawn, "<u8").astype(np.uint64) | np.uint64(1)


class Known:
    """The checks of a checkpoint's rows: 8 bytes for each, and 8 for its key where keys are any numbers.

    Raises
    ------
    CheckpointError
        The checkpoint is damaged.
    """

    def __init__(self, stored: Stored) -> None:
        parts = list(stored.checks())
        keys = np.concatenate([np.empty(0, np.int64), *(keys for keys, _ in parts)])
        checks = np.concatenate([np.empty(0, np.uint64), *(checks for _, checks in parts)])
        num_keys = stored.table.num_keys
        self._keys: Keys | None = None
        if num_keys is None:
            order = np.argsort(keys)
            self._keys, self._checks = keys[order], checks[order]
        else:
            self._checks = np.empty(num_keys, np.uint64)
            self._checks[keys] = checks

    def are_changed(self, keys: Keys, checks: Checks) -> Flags:
        """Tell for each key whether it is new or its row has changed."""
        if self._keys is not None and len(self._keys) == 0:
            return np.ones(len(keys), np.bool_)
        at = keys if self._keys is None else np.searchsorted(self._keys, keys)
        at = np.minimum(at, len(self._checks) - 1)
        are_changed: Flags = self._checks[at] != checks
        return are_changed if self._keys is None else are_changed | (self._keys[at] != keys)

    def has_others(self, keys: Keys) -> bool:
        """Tell whether it has keys that are not among these."""
        return self._keys is not None and not np.isin(self._keys, keys).all()
