"""What a server or a named table holds, as its options say it."""

from __future__ import annotations

DEFAULT_CAPACITY = 1_000_000
EVICTIONS = ("lru", "lfu", "age")  # from 1, as ps_eviction has them


def capacity_of(num_keys: int | None, capacity: int | None) -> int:
    """Return for how many keys a server or a table has room; 0 if they are a range.

    Raises
    ------
    ValueError
        Both are given, or the capacity is 0.
    """
    if num_keys is not None and capacity is not None:
        raise ValueError(
            f"capacity is for keys that may be any numbers, and num_keys is {num_keys}: give one of them"
        )
    if capacity == 0:
        raise ValueError("capacity must be above 0")
    if num_keys is not None:
        return 0
    return DEFAULT_CAPACITY if capacity is None else capacity


def eviction_number(eviction: str | None) -> int:
    """Return the number that the core has for a kind of eviction.

    Raises
    ------
    ValueError
        There is no such kind.
    """
    if eviction is None:
        return 0
    if eviction not in EVICTIONS:
        raise ValueError(f"eviction is {eviction!r}; it must be None or one of {', '.join(EVICTIONS)}")
    return EVICTIONS.index(eviction) + 1


def seconds_of_age(max_age: float | None) -> float | None:
    """Return a greatest age in seconds, None for none; the core checks all but 0, which is none there.

    Raises
    ------
    ValueError
        It is 0.
    """
    if max_age == 0:
        raise ValueError("max_age is 0; it must be at least 0.1 seconds, or None for no greatest age")
    return max_age


def uses_of_admission(admission: int) -> int:
    """Return how often a key is used before it exists; the core checks all but 0, which it takes as 1.

    Raises
    ------
    ValueError
        It is 0.
    """
    if admission == 0:
        raise ValueError(
            "admission is 0; it must be in [1, 255] uses, and 1 lets a key exist from its first use on"
        )
    return admission


def options_in(text: str) -> dict[str, str]:
    """Return what a table was made with, by the names of options, from a text as `Node.table_options` returns it."""
    return dict(option.split("=", 1) for option in text.split())
