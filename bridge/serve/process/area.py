"""Memory that two processes share. Arrays are put into it one after the other; it grows when necessary.

Its pages are allocated when it grows. If the host has no memory for them, that is an error then, and using the memory
later never ends a process.
"""

from __future__ import annotations

import fcntl
import mmap
import os
from typing import Any

import numpy as np
from numpy.typing import NDArray

ALIGNMENT = 64  # bytes of a cache line
SMALLEST = 1 << 20  # bytes that an area begins with
# The types that arrays may have: numbers, for which any bytes are valid.
KINDS = "bBhHiIlLqQefd?"


class Area:
    """One side of the memory.

    Parameters
    ----------
    descriptor : int
        Descriptor of a memory file, which the area takes over.
    """

    def __init__(self, descriptor: int) -> None:
        self.descriptor = descriptor
        self._map: mmap.mmap | None = None
        self._used = 0

    @classmethod
    def create(cls) -> Area:
        """Return an area over a new memory file, which is sealed so that neither side can make it smaller."""
        descriptor = os.memfd_create("bridge", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
        fcntl.fcntl(descriptor, fcntl.F_ADD_SEALS, fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_SEAL)
        return cls(descriptor)

    @property
    def size(self) -> int:
        """Bytes of the file."""
        return os.fstat(self.descriptor).st_size

    def clear(self) -> None:
        """Start again at the beginning; present arrays may be overwritten."""
        self._used = 0

    def room(self, dtype: np.dtype[Any], shape: tuple[int, ...]) -> tuple[int, NDArray[Any]]:
        """Return a new array, not initialised, and the byte at which it begins.

        Raises
        ------
        MemoryError
            The host has no memory for it.
        """
        if 0 in shape:  # needs no memory
            return 0, np.empty(shape, dtype)
        begin = -(-self._used // ALIGNMENT) * ALIGNMENT
        nbytes = int(np.prod(shape, dtype=object)) * dtype.itemsize
        self._grow(begin + nbytes)
        self._used = begin + nbytes
        return begin, np.frombuffer(self._memory(), dtype, nbytes // dtype.itemsize, begin).reshape(shape)

    def array(self, kind: str, shape: list[int], begin: int) -> NDArray[Any]:
        """Return an array that the other side has put into the area; it shares the area's memory.

        Raises
        ------
        ValueError
            It would not be inside the area, or its type is unknown: the other side has a defect, or is hostile.
        """
        if kind not in KINDS or begin < 0 or any(n < 0 for n in shape):
            raise ValueError(f"no array: {kind!r} {shape} at {begin}")
        dtype = np.dtype(kind)
        if 0 in shape:
            return np.empty(shape, dtype)
        count = int(np.prod(shape, dtype=object))
        if begin + count * dtype.itemsize > self.size:
            raise ValueError(
                f"an array of {count} {dtype} at byte {begin} is beyond the area of {self.size} bytes"
            )
        return np.frombuffer(self._memory(), dtype, count, begin).reshape(shape)

    def close(self) -> None:
        """Close the file; arrays over its memory remain valid."""
        if self.descriptor >= 0:
            os.close(self.descriptor)
            self.descriptor, self._map = -1, None

    def _grow(self, needed: int) -> None:
        size = self.size
        if needed <= size:
            return
        wanted = max(SMALLEST, 1 << (needed - 1).bit_length())
        try:
            os.posix_fallocate(self.descriptor, 0, wanted)
        except OSError as error:
            raise MemoryError(f"{wanted} bytes of shared memory: {error.strerror}") from error

    def _memory(self) -> mmap.mmap:
        """Return a mapping of the whole file. Arrays over an older mapping keep that one alive."""
        size = self.size
        if self._map is None or len(self._map) < size:
            self._map = mmap.mmap(self.descriptor, size)
        return self._map
