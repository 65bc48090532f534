"""Which keys are left when each node has done the keys that it found on itself.

Keys move meanwhile, so a key may have been found on no node, or on two nodes one after the other. Both kinds are looked
for again in another round, until there are none left. What the last round finds for a key counts.
"""

from __future__ import annotations

import time
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from pyps.errors import WaitTimeoutError

Keys = NDArray[np.int64]


def left_of_range(num_keys: int, done: Sequence[Keys]) -> Keys:
    """Return the keys of [0, num_keys) that not exactly one node has done.

    Parameters
    ----------
    num_keys : int
    done : sequence of int64 arrays
        For each node, distinct keys.
    """
    counts = np.zeros(num_keys, np.uint16)
    for keys in done:
        counts[keys] += 1
    return np.flatnonzero(counts != 1)


def left_of(wanted: Keys, done: Sequence[Keys]) -> Keys:
    """Return the wanted keys that no node has done, and all keys that several nodes have done, in order."""
    keys, counts = np.unique(np.concatenate(done), return_counts=True)
    return np.union1d(np.setdiff1d(wanted, keys), keys[counts > 1])


def require_time(left: Keys, end: float) -> None:
    """Raise WaitTimeoutError if there are keys left and the time, by the monotonic clock, is over."""
    if len(left) and time.monotonic() > end:
        raise WaitTimeoutError(f"{len(left)} keys, {left[0]} among them, were found on no node or on several")


def pack(keys: Keys, num_keys: int | None) -> bytes:
    """Return distinct keys as bytes: a bit for each possible one, where that is shorter."""
    if num_keys is None or len(keys) * 64 < num_keys:
        return b"K" + keys.tobytes()
    is_there = np.zeros(num_keys, np.bool_)
    is_there[keys] = True
    return b"B" + np.packbits(is_there).tobytes()


def unpack(packed: bytes, num_keys: int | None) -> Keys:
    """Return the keys of `pack`."""
    if packed[:1] == b"K":
        return np.frombuffer(packed, np.int64, offset=1)
    return np.flatnonzero(np.unpackbits(np.frombuffer(packed, np.uint8, offset=1), count=num_keys))
