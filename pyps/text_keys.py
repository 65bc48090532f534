"""Texts as keys: each stands for a number of 64 bits, the hash of its UTF-8 bytes, which is the same everywhere."""

# ruff: noqa: D102 (the operations are those of Worker)
from __future__ import annotations

import hashlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pyps import _core

Texts = list[str | bytes]


def hashed_keys(texts: Any) -> Any:
    """Return the keys that stand for texts: XXH64 of their UTF-8 bytes, with seed 0, as signed numbers.

    -1, which is no key, becomes 0. Different texts have different keys but for a chance of n**2 / 2**65 among n of
    them: 3e-6 for 10 million. `Collisions` tells whether it has happened.

    Parameters
    ----------
    texts : str, bytes, or a list or numpy array of these
        Of any shape. Bytes count as they are.

    Returns
    -------
    int or int64 array
        Of the same shape.

    Raises
    ------
    TypeError
        Something is no text.
    ValueError
        A str has half of a surrogate pair, which has no UTF-8 bytes.

    Examples
    --------
    >>> import pyps
    >>> pyps.hashed_keys("user:1")
    -2754016727860739853
    >>> pyps.hashed_keys(["user:1", b"user:2"]).shape
    (2,)
    """
    if isinstance(texts, str | bytes):
        return int(_hashed([texts])[0])
    if isinstance(texts, list | tuple):
        return _hashed(list(texts))
    array = np.asarray(texts)
    return _hashed(array.reshape(-1).tolist()).reshape(array.shape)


def _hashed(texts: Texts) -> NDArray[np.int64]:
    keys = np.empty(len(texts), np.int64)
    _core.hash_texts(texts, keys)
    return keys


def are_texts(keys: object) -> bool:
    """Tell whether these are texts, by the first of them, and not numbers."""
    if isinstance(keys, list | tuple):
        return bool(keys) and isinstance(keys[0], str | bytes)
    return isinstance(keys, str | bytes) or getattr(getattr(keys, "dtype", None), "kind", "") in (
        "U",
        "S",
        "O",
    )


class Collisions:
    """Counts different texts that have the same key, among those that it has seen.

    It sees the texts of calls of the workers that have it as `collisions`, and those of `add`; not those of other
    processes. For each key it keeps a second hash, 64 bits of BLAKE2b, which takes about 200 bytes of this process.

    Attributes
    ----------
    last : tuple of (str or bytes, int), or None
        The last of those that were counted, and its key.

    Examples
    --------
    >>> import pyps
    >>> with pyps.Server(1) as server, server.worker() as kv:
    ...     _ = server.table("users", dim=2, hash="xxh64")
    ...     users = kv.table("users")
    ...     users.collisions = pyps.Collisions()
    ...     users.pull(["anna", "otto"]).shape, users.collisions.count
    ((2, 2), 0)
    """

    def __init__(self) -> None:
        self.last: tuple[str | bytes, int] | None = None
        self._first: dict[int, bytes] = {}
        self._others: set[tuple[int, bytes]] = set()

    @property
    def count(self) -> int:
        """How many texts had the key of an earlier, other text."""
        return len(self._others)

    def add(self, texts: Texts, keys: NDArray[np.int64]) -> None:
        """Look at texts and their keys."""
        for text, key in zip(texts, keys.tolist(), strict=True):
            plain = text if isinstance(text, bytes) else text.encode()
            second = hashlib.blake2b(plain, digest_size=8).digest()
            if self._first.setdefault(key, second) != second:
                self._others.add((key, second))
                self.last = text, key


class TextOperations(_core.SamplingWorker):
    """The operations of a worker whose keys may be texts as well as the numbers that stand for them.

    Attributes
    ----------
    collisions : Collisions, optional
        Sees the texts of all calls.
    """

    collisions: Collisions | None = None

    def _numbers(self, keys: Any) -> Any:
        if not are_texts(keys):
            return keys
        numbers = hashed_keys(keys)
        if self.collisions is not None:
            texts = [keys] if isinstance(keys, str | bytes) else np.asarray(keys, object).reshape(-1).tolist()
            self.collisions.add(texts, np.atleast_1d(numbers).reshape(-1))
        return numbers

    def pull(self, keys: Any, *arguments: Any, **options: Any) -> Any:
        return super().pull(self._numbers(keys), *arguments, **options)

    def push(self, keys: Any, *arguments: Any, **options: Any) -> Any:
        return super().push(self._numbers(keys), *arguments, **options)

    def set(self, keys: Any, *arguments: Any, **options: Any) -> Any:
        return super().set(self._numbers(keys), *arguments, **options)

    def staggered_push(self, keys: Any, *arguments: Any, **options: Any) -> Any:
        return super().staggered_push(self._numbers(keys), *arguments, **options)

    def pull_if_local(self, keys: Any, *arguments: Any, **options: Any) -> bool:
        return super().pull_if_local(self._numbers(keys), *arguments, **options)

    def localize(self, keys: Any, *arguments: Any, **options: Any) -> Any:
        return super().localize(self._numbers(keys), *arguments, **options)

    def intent(self, keys: Any, *arguments: Any, **options: Any) -> None:
        super().intent(self._numbers(keys), *arguments, **options)

    def contains(self, keys: Any, *arguments: Any, **options: Any) -> Any:
        return super().contains(self._numbers(keys), *arguments, **options)

    def delete(self, keys: Any, *arguments: Any, **options: Any) -> int:
        return super().delete(self._numbers(keys), *arguments, **options)
