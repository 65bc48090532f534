"""Pushes in groups: their sums, their bounds, and what they refuse."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
import torch

import pyps
from tests.pyps.cluster import Cluster

TIMEOUT = 20.0
KEYS = np.array([7, 0, 3, 3, 9, 1, 7, 2, 8, 5])
GROUPS = pytest.mark.parametrize("group", [1, 3, 10, 1000])


def everything(kv: pyps.Worker, total: int, dtype: str) -> np.ndarray[Any, Any]:
    out = np.zeros(total, dtype)
    kv.pull(np.arange(kv.num_keys), out)
    return out


@GROUPS
@pytest.mark.parametrize("asynchronous", [False, True])
@pytest.mark.parametrize("count", [1, 2])
def test_it_adds_what_a_push_adds(
    count: int, asynchronous: bool, group: int, lengths: np.ndarray[Any, np.dtype[np.int64]]
) -> None:
    """Keys twice in a group and in two, of one length and of several."""
    total = int(lengths.sum())
    vals = np.arange(1, lengths[KEYS].sum() + 1, dtype=np.float64)
    with Cluster(count, len(lengths), lengths, dtype="float64") as cluster, cluster.nodes[0].worker() as kv:
        kv.push(KEYS, vals)
        expected = 2 * everything(kv, total, "float64")
        timestamp = kv.staggered_push(KEYS, vals, group=group, asynchronous=asynchronous)
        if asynchronous:
            timestamp.wait(TIMEOUT)
            assert kv.is_finished(timestamp)
        else:
            assert timestamp is None
        assert everything(kv, total, "float64").tolist() == expected.tolist()


@pytest.mark.parametrize(
    "vals",
    [
        torch.arange(30, dtype=torch.float32).reshape(10, 3),
        torch.arange(30, dtype=torch.float32).reshape(3, 10).T,
        torch.arange(30, dtype=torch.float32).reshape(10, 3).to(torch.float64).to(torch.float32),
        np.arange(60, dtype=np.float32).reshape(10, 6)[:, ::2],
        [[float(3 * row + column) for column in range(3)] for row in range(10)],
    ],
    ids=["contiguous", "transposed", "copied", "strided", "list"],
)
def test_values_of_every_kind_are_taken_apart(kv: pyps.LocalWorker, vals: Any) -> None:
    kv.staggered_push(torch.arange(10), vals, group=4)
    out = np.zeros((10, 3), np.float32)
    kv.pull(np.arange(10), out)
    assert out.tolist() == np.asarray(vals).tolist()


def test_no_keys_push_nothing(kv: pyps.LocalWorker) -> None:
    assert kv.staggered_push([], np.zeros(0, np.float32)) is None


@pytest.mark.parametrize(
    ("keys", "elements", "options", "match"),
    [
        ([0, 1, 10], 9, {"group": 1}, "key 10 at position 2"),
        ([0, 1, 2], 8, {"group": 1}, "the buffer has 8 elements, the keys need 9"),
        ([0, 1, 2], 9, {"group": 0}, "group is 0; at least one key"),
        ([0, 1, 2], 9, {"group": -5}, "group is -5; at least one key"),
    ],
)
def test_what_does_not_fit_changes_nothing(
    kv: pyps.LocalWorker, keys: list[int], elements: int, options: Any, match: str
) -> None:
    with pytest.raises(ValueError, match=match):
        kv.staggered_push(keys, np.ones(elements, np.float32), **options)
    assert not everything(kv, 30, "float32").any()


def test_options_are_looked_at(kv: pyps.LocalWorker) -> None:
    assert kv.staggered_push([1], np.ones(3, np.float32), **{"async": True}) == -1
    with pytest.raises(TypeError):
        kv.staggered_push([1], np.ones(3, np.float32), grouped=3)
    with pytest.raises(TypeError, match="group must be an integer"):
        kv.staggered_push([1], np.ones(3, np.float32), group=1.5)  # type: ignore[arg-type]


@pytest.mark.slow
def test_the_next_group_waits_for_the_one_before_it() -> None:
    """So that no more than a group is on its way, though a push may go beyond `in_flight` alone."""
    with Cluster(2, 200, 100, dtype="int64", slow=True) as cluster, cluster.nodes[0].worker() as kv:
        keys, ones = np.arange(1, 200, 2), np.ones((100, 100), np.int64)
        kv.pull([1], np.zeros(100, np.int64))
        with ThreadPoolExecutor(1) as pool:
            with cluster.silent():
                pushing = pool.submit(kv.staggered_push, keys, ones, 10)
                with pytest.raises(TimeoutError):
                    pushing.result(0.3)
                assert kv.stats()["keys_pushed"] == 10
            pushing.result(TIMEOUT)
        assert kv.stats()["pushes"] == 10
        assert everything(kv, 20000, "int64").sum() == 10000
