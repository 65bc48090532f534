"""What workers of a cluster do in tests: ``work(kv, number, ...)``, where `number` counts the workers of all nodes.

Results are plain lists and numbers, for they may come from another process. What must hold meanwhile is asserted here.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

import pyps

TIMEOUT = 50.0


def move(kv: pyps.Worker, random: np.random.Generator, keys: NDArray[np.int64]) -> None:
    """Begin to move keys here, or to have replicas of them for a clock or two."""
    if random.integers(2):
        kv.localize(keys, asynchronous=bool(random.integers(2)))
    else:
        now = kv.current_clock()
        kv.intent(keys, now + 1, now + 3)


def push_ones_to_one_key(kv: pyps.Worker, number: int, *, rounds: int, moves_every: int) -> int:
    """Push and pull asynchronously, with the key moved all the time."""
    random = np.random.default_rng(number)
    key, ones = np.zeros(1, np.int64), np.ones(2, np.int64)
    out = np.zeros((16, 2), np.int64)
    for done in range(rounds):
        kv.push(key, ones, asynchronous=True)
        kv.pull(key, out[done % 16], asynchronous=True)
        if done % moves_every == 0:
            move(kv, random, key)
        if done % 16 == 15:
            kv.waitall(TIMEOUT)
            assert (out >= np.arange(done - 14, done + 2)[:, None]).all(), "a worker's own pushes are missing"
            kv.advance_clock()
    kv.waitall(TIMEOUT)
    return rounds


def watch(kv: pyps.Worker, number: int, *, rounds: int) -> list[int]:
    """Push ones to some keys and pull all: what was read stays read, what was pushed is there."""
    random = np.random.default_rng(number)
    num_keys, width = kv.num_keys, kv.get_key_size()
    pushed = np.zeros(num_keys, np.int64)
    seen = np.zeros((num_keys, width), np.int64)
    for _ in range(rounds):
        keys = random.permutation(num_keys)[: random.integers(1, num_keys)]
        kv.push(keys, np.ones((len(keys), width), np.int64), asynchronous=bool(random.integers(2)))
        pushed[keys] += 1
        out = np.zeros_like(seen)
        kv.pull(np.arange(num_keys), out)
        assert (out >= seen).all(), "reads go back"
        assert (out >= pushed[:, None]).all(), "a worker's own pushes are missing"
        seen = out
        move(kv, random, random.permutation(num_keys)[:2])
        kv.advance_clock()
    kv.waitall(TIMEOUT)
    return pushed.tolist()


STEP = 1_000_000


def set_whole_values(kv: pyps.Worker, number: int, *, rounds: int) -> None:
    """Set all elements of a value to one number that tells the key, and pull: no value is torn or another key's."""
    random = np.random.default_rng(number)
    num_keys, width = kv.num_keys, kv.get_key_size()
    for done in range(rounds):
        keys = random.integers(0, num_keys, 4)
        marks = keys * STEP + (number + 1) * 1000 + done
        kv.set(keys, np.repeat(marks, width), asynchronous=bool(random.integers(2)))
        asked = random.integers(0, num_keys, 6)
        out = np.zeros((6, width), np.int64)
        kv.pull(asked, out, asynchronous=True).wait(TIMEOUT)
        assert (out == out[:, :1]).all(), "a value is torn"
        assert ((out[:, 0] == 0) | (out[:, 0] // STEP == asked)).all(), "a value is another key's"
        move(kv, random, random.permutation(num_keys)[:2])
        kv.advance_clock()
    kv.waitall(TIMEOUT)


def push_and_revert(kv: pyps.Worker, number: int, *, rounds: int) -> None:
    """Push numbers, and later their negatives in another order."""
    random = np.random.default_rng(number)
    num_keys, width = kv.num_keys, kv.get_key_size()
    keys = random.integers(0, num_keys, (rounds, 3))
    values = random.integers(-1000, 1000, (rounds, 3, width))
    for sign in (1, -1):
        for at in random.permutation(rounds):
            kv.push(keys[at], sign * values[at], asynchronous=bool(random.integers(2)))
            move(kv, random, keys[at, :1])
            kv.advance_clock()
    kv.waitall(TIMEOUT)


def set_then_push(kv: pyps.Worker, number: int, *, value: int, pushes: int) -> None:
    """The first worker sets the key, also to something else before; all push ones as soon as they see the value."""
    key, width = [0], kv.get_key_size()
    kv.intent(key, 0, 1000)
    out = np.zeros(width, np.int64)
    if number == 0:
        kv.set(key, np.full(width, 5))
        kv.set(key, np.full(width, value))
    while out[0] < value:
        kv.pull(key, out)
    for _ in range(pushes):
        kv.push(key, np.ones(width, np.int64), asynchronous=True)
        kv.advance_clock()
    kv.waitall(TIMEOUT)


def lengths_of(keys: NDArray[np.int64]) -> NDArray[np.int64]:
    """The lengths of values of the next workload."""
    return keys * 5 % 7 + 1


def push_values_of_many_lengths(kv: pyps.Worker, number: int, *, rounds: int) -> list[int]:
    """Push to keys that are here, elsewhere and on their way; the values must be each key's. Return the pushes."""
    random = np.random.default_rng(number)
    num_keys = kv.num_keys
    pushed = np.zeros(num_keys, np.int64)
    for _ in range(rounds):
        keys = random.permutation(num_keys)[: random.integers(1, num_keys)]
        lengths = lengths_of(keys)
        localized = kv.localize(keys[: len(keys) // 2], asynchronous=True)
        kv.push(keys, np.repeat(keys + 1, lengths), asynchronous=True)
        pushed[keys] += 1
        out = np.zeros(lengths.sum(), np.int64)
        kv.pull(keys, out, asynchronous=True).wait(TIMEOUT)
        assert (out % np.repeat(keys + 1, lengths) == 0).all(), "an element is another key's"
        firsts = np.cumsum(lengths) - lengths
        assert (out == np.repeat(out[firsts], lengths)).all(), "a value is torn"
        assert (out[firsts] >= (keys + 1) * pushed[keys]).all(), "a worker's own pushes are missing"
        localized.wait(TIMEOUT)
        kv.advance_clock()
    kv.waitall(TIMEOUT)
    return pushed.tolist()
