"""Keys of servers whose keys may be any numbers and whose values have several lengths."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from pyps.arrays import as_keys

MOST_CLASSES = 128
MOST_IDS = 2**56  # a key has 56 bits for the id, below the byte for the class


def classed_keys(number: int, ids: Any) -> Any:
    """Make the keys of one length class, for a server with several lengths and a `capacity`.

    The topmost byte of such a key says which of the server's lengths its value has; the other 56 bits are the id. An
    id of two classes makes two keys.

    Parameters
    ----------
    number : int
        Which of the server's lengths it is, from 0.
    ids : int, or array of int
        Numbers in [0, 2**56): an int, numpy array, torch tensor on the CPU or list, of any shape and integer type.

    Returns
    -------
    int, numpy.ndarray of int64 or torch.Tensor of int64
        Of the same kind and shape; an array for a list.

    Raises
    ------
    TypeError
        These are no integers.
    ValueError
        There can be no such class, or an id does not fit into 56 bits.

    Examples
    --------
    >>> import pyps
    >>> with pyps.Server(value_length=[8, 64], capacity=1000) as server, server.worker() as kv:
    ...     kv.pull(pyps.classed_keys(1, [7, 9])).shape
    (128,)
    """
    if isinstance(number, bool) or not isinstance(number, int | np.integer):
        raise TypeError(f"the number of a length class must be an integer, not {type(number).__name__}")
    if not 0 <= number < MOST_CLASSES:
        raise ValueError(f"the length class is {number}; it must be in [0, {MOST_CLASSES})")
    array = as_keys(ids)
    wrong = (array < 0) | (array >= MOST_IDS)
    if wrong.any():
        position = int(np.argmax(wrong))
        raise ValueError(f"id {array.reshape(-1)[position]} at position {position} is outside [0, 2**56)")
    keys = np.asarray(array | int(number) * MOST_IDS)
    if isinstance(ids, int | np.integer):
        return int(keys)
    torch = sys.modules.get("torch")
    return torch.from_numpy(keys) if torch is not None and isinstance(ids, torch.Tensor) else keys
