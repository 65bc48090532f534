"""What pull, push and set do to values, for every dtype and kind of length."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import torch

import pyps

Array = np.ndarray[Any, np.dtype[Any]]


class Reference:
    """The same operations on a list of arrays."""

    def __init__(self, lengths: Array) -> None:
        self.values = [np.zeros(length, np.float64) for length in lengths]

    def parts(self, keys: Array, flat: Array) -> Iterator[tuple[int, Array]]:
        at = 0
        for key in keys:
            length = self.values[key].size
            yield int(key), flat[at : at + length]
            at += length

    def push(self, keys: Array, flat: Array) -> None:
        for key, part in self.parts(keys, flat):
            self.values[key] = self.values[key] + part

    def set(self, keys: Array, flat: Array) -> None:
        for key, part in self.parts(keys, flat):
            self.values[key] = part.copy()

    def pull(self, keys: Array) -> Array:
        return np.concatenate([self.values[key] for key in keys] or [np.zeros(0)])


@pytest.fixture
def small(dtype: str, lengths: Array) -> Iterator[pyps.LocalWorker]:
    with pyps.local(20, lengths, dtype=dtype) as worker:
        yield worker


def tensor(values: Array, dtype: str) -> torch.Tensor:
    return torch.tensor(values).to(getattr(torch, dtype))


@pytest.mark.parametrize("seed", range(3))
def test_a_random_history_gives_the_reference_values(
    small: pyps.LocalWorker, dtype: str, lengths: Array, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    reference = Reference(lengths)
    for _ in range(30):
        keys = rng.integers(0, 20, rng.integers(0, 12))  # repeated ones, too
        flat = rng.integers(-3, 4, int(lengths[keys].sum()))  # small whole numbers are exact in every dtype
        operation = rng.choice(["push", "set"])
        getattr(small, operation)(keys, tensor(flat, dtype))
        getattr(reference, operation)(keys, flat)
    everything = np.arange(20)
    out = torch.empty(int(lengths.sum()), dtype=getattr(torch, dtype))
    small.pull(everything, out)
    assert out.to(torch.float64).tolist() == reference.pull(everything).tolist()


def test_values_start_as_zeros(small: pyps.LocalWorker, dtype: str, lengths: Array) -> None:
    out = torch.ones(int(lengths.sum()), dtype=getattr(torch, dtype))
    small.pull(range(20), out)
    assert not out.any()


def test_a_repeated_key_is_pulled_to_every_position(
    small: pyps.LocalWorker, dtype: str, lengths: Array
) -> None:
    length = int(lengths[4])
    value = tensor(np.arange(length), dtype)
    small.set([4], value)
    out = torch.zeros((3, length), dtype=value.dtype)
    small.pull([4, 4, 4], out)
    assert torch.equal(out, value.expand(3, length))


def test_every_push_of_a_repeated_key_counts(small: pyps.LocalWorker, dtype: str, lengths: Array) -> None:
    length = int(lengths[6])
    small.push([6] * 5, tensor(np.ones(5 * length), dtype))
    out = tensor(np.zeros(length), dtype)
    small.pull([6], out)
    assert out.tolist() == [5] * length


def test_the_last_set_of_a_repeated_key_stays(small: pyps.LocalWorker, dtype: str, lengths: Array) -> None:
    length = int(lengths[6])
    small.set([6, 6, 6], tensor(np.repeat([1, 2, 3], length), dtype))
    out = tensor(np.zeros(length), dtype)
    small.pull([6], out)
    assert out.tolist() == [3] * length


def test_no_keys_are_fine(small: pyps.LocalWorker, dtype: str) -> None:
    empty = torch.zeros(0, dtype=getattr(torch, dtype))
    assert small.pull([], empty) is empty
    small.push([], empty)
    small.set(torch.zeros(0, dtype=torch.int64), empty)


@pytest.mark.parametrize("count", [1, 7, 40, 5000])
@pytest.mark.parametrize("length", [1, 3, 8, 33, 100, 1000])
def test_batches_and_lengths_of_every_size(count: int, length: int) -> None:
    with pyps.local(100, length) as kv:
        keys = np.random.default_rng(count).integers(0, 100, count)
        kv.push(keys, np.ones((count, length), np.float32))
        out = np.empty((100, length), np.float32)
        kv.pull(np.arange(100), out)
        assert np.array_equal(out, np.repeat(np.bincount(keys, minlength=100)[:, None], length, 1))


def test_integers_wrap_around() -> None:
    with pyps.local(1, 1, dtype="int32") as kv:
        kv.set([0], np.array([2**31 - 1], np.int32))
        kv.push([0], np.array([1], np.int32))
        out = np.zeros(1, np.int32)
        kv.pull([0], out)
        assert out[0] == -(2**31)


@pytest.mark.parametrize("name", ["float16", "bfloat16"])
def test_sums_of_halves_round_like_torch(name: str) -> None:
    kind = getattr(torch, name)
    rng = np.random.default_rng(1)
    bits = torch.from_numpy(rng.integers(-(2**15), 2**15, 200_000).astype(np.int16))
    more = torch.from_numpy(rng.integers(-(2**15), 2**15, 200_000).astype(np.int16))
    a, b = bits.view(kind), more.view(kind)
    with pyps.local(1, a.numel(), dtype=name) as kv:
        kv.set([0], a)
        kv.push([0], b)
        out = torch.empty_like(a)
        kv.pull([0], out)
    wanted = (a.float() + b.float()).to(kind)
    assert torch.equal(out.isnan(), wanted.isnan())
    assert torch.equal(out.nan_to_num(0).view(torch.int16), wanted.nan_to_num(0).view(torch.int16))


def test_every_half_survives_adding_nothing() -> None:
    every = torch.arange(-(2**15), 2**15, dtype=torch.int32).to(torch.int16).view(torch.float16)
    with pyps.local(1, every.numel(), dtype="float16") as kv:
        kv.set([0], every)
        kv.push([0], torch.full_like(every, -0.0))
        out = torch.empty_like(every)
        kv.pull([0], out)
    assert torch.equal(out.isnan(), every.isnan())
    assert torch.equal(out.nan_to_num(0).view(torch.int16), every.nan_to_num(0).view(torch.int16))


def test_nan_and_infinity_are_values() -> None:
    with pyps.local(1, 3) as kv:
        kv.push([0], np.array([np.nan, np.inf, -np.inf], np.float32))
        out = np.zeros(3, np.float32)
        kv.pull([0], out)
        assert np.isnan(out[0])
        assert out[1:].tolist() == [np.inf, -np.inf]


@pytest.mark.parametrize("keys", [[1, 2], (1, 2), range(1, 3), np.array([1, 2]), torch.tensor([1, 2])])
@pytest.mark.parametrize("library", ["numpy", "torch"])
def test_keys_and_values_of_either_library_mix(kv: pyps.LocalWorker, keys: Any, library: str) -> None:
    make: Any = np if library == "numpy" else torch
    kv.push(keys, make.ones((2, 3), dtype=make.float32))
    out = make.zeros(6, dtype=make.float32)
    kv.pull(keys, out)
    assert out.tolist() == [1.0] * 6


def test_pull_if_local_pulls_on_the_only_node(kv: pyps.LocalWorker) -> None:
    kv.push([2], np.ones(3, np.float32))
    out = np.zeros((3, 2), np.float32)[:, 0]
    assert kv.pull_if_local([2], out) is True
    assert out.tolist() == [1, 1, 1]


@pytest.mark.slow
def test_workers_add_up(crew: Any, server: pyps.Server) -> None:
    crew.run(
        server,
        """
rng = np.random.default_rng(number)
for _ in range(300):
    keys = rng.integers(0, 10, 50)
    kv.push(keys, np.ones((50, 3), np.float32))
    out = np.empty((50, 3), np.float32)
    kv.pull(keys, out)
    assert (out == out[:, :1]).all()  # never half a push
""",
        workers=3,
    )
    with server.worker() as kv:
        out = np.zeros((10, 3), np.float32)
        kv.pull(range(10), out)
    assert out.sum() == 3 * 300 * 50 * 3


@pytest.mark.slow
def test_workers_see_a_set_at_once(crew: Any, server: pyps.Server) -> None:
    with server.worker() as kv:
        kv.set([3], np.array([1, 2, 3], np.float32))
    source = "out = np.zeros(3, np.float32); kv.pull([3], out); result = out.tolist()"
    assert crew.run(server, source) == [[1, 2, 3]] * 2
