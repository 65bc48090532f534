"""A node's whole rows: values with what the optimizer keeps for them, and how such a row is laid out."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from pyps._core import Node, RowWorker
from pyps.checkpoint.state import state_of
from pyps.dtypes import Dtype

Keys = NDArray[np.int64]

CHUNK = 1 << 20  # keys that are looked for at once


class Rows(RowWorker):
    """A worker for whole rows, as a context manager; barriers do not wait for it."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.finalize(timeout=0)

    def keys(self, *, begun: bool = False) -> Iterator[Keys]:
        """Yield the keys that live here, or those that exist and began here, in new arrays of at most `CHUNK`."""
        at, count = 0, CHUNK
        while count == CHUNK:
            found = np.empty(CHUNK, np.int64)
            count, at = self.find_keys(found, at, begun)
            yield found[:count]


def row_type(length: int, dtype: Dtype, optimizer: str) -> np.dtype[Any]:
    """Return the type of a row: its field `values`, and one for each thing that the optimizer keeps.

    Parameters
    ----------
    length : int
        Elements of the value.
    dtype : Dtype
    optimizer : str
        As `Node.optimizer_text` has it; empty if pushes add.
    """
    parts = state_of(optimizer)
    real = np.dtype("float64" if dtype.name == "float64" else "float32")
    formats: list[Any] = [(dtype.storage, (length,))]
    offsets, end = [0], dtype.storage.itemsize * length
    if parts:
        end += -end % 8
    for part in parts:
        offsets.append(end)
        if part.is_count:
            formats.append(np.dtype("int64"))
            end += 8
        elif part.per_key:
            formats.append(real)
            end += 8  # also of a float32
        else:
            formats.append((real, (length,)))
            end += real.itemsize * length
    names = ["values", *(part.name for part in parts)]
    return np.dtype({"names": names, "formats": formats, "offsets": offsets, "itemsize": end})


def sizes(node: Node, keys: Keys) -> tuple[Keys, Keys]:
    """Return for each key the elements of its value, and the bytes of its row."""
    lengths, nbytes = np.empty(len(keys), np.int64), np.empty(len(keys), np.int64)
    node.row_sizes(keys, lengths, nbytes)
    return lengths, nbytes
