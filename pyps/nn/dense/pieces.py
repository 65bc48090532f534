"""How the parameters of a model lie in a table: which keys each has. luaps/pieces.lua is the same in Lua.

A parameter is cut into values of `LONGEST` elements, and the rest into powers of two, so that a large parameter is
spread over the nodes and no value has elements that belong to nothing. The lengths are the table's classes of keys; the
ids count the values of the whole model. So all values in the order of their keys are the model's parameters one after
another, and the keys follow from the numbers of elements alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from pyps.length_classes import classed_keys

LONGEST = 1024  # elements of a value, a power of two
LENGTHS = tuple(LONGEST >> number for number in range(LONGEST.bit_length()))  # of the classes of keys


def classes_of(size: int) -> NDArray[np.int64]:
    """Return the classes of the values of a parameter of so many elements, in their order."""
    whole, rest = divmod(size, LONGEST)
    others = [number for number, length in enumerate(LENGTHS) if rest & length]
    return np.array([0] * whole + others, np.int64)


def keys_of(sizes: Sequence[int]) -> list[NDArray[np.int64]]:
    """Return the keys of each parameter of a model.

    Parameters
    ----------
    sizes : sequence of int
        Elements of each parameter, in the model's order.

    Returns
    -------
    list of int64 array, shape (n,)
        For a table with ``dim=LENGTHS``; without keys for a parameter without elements.
    """
    return list(_keys_of(sizes))


def _keys_of(sizes: Sequence[int]) -> Iterator[NDArray[np.int64]]:
    first = 0
    for size in sizes:
        classes = classes_of(size)
        keys = np.arange(first, first + len(classes))
        for number in np.unique(classes):
            keys[classes == number] = classed_keys(int(number), keys[classes == number])
        yield keys
        first += len(classes)


def lengths_of(keys: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the elements of the value of each key."""
    lengths: NDArray[np.int64] = np.array(LENGTHS, np.int64)[keys >> 56]
    return lengths
