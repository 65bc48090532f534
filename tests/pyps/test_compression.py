"""Deltas that are compressed: what is left out stays readable where it was pushed, and reaches the owner in the end."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import ExitStack
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import pyps
from tests.pyps.cluster import Cluster
from tests.pyps.conftest import ClusterOf, Start

TIMEOUT = 50.0
ENDLESS = 2**62
LENGTH = 30
KEY = 0

Replica = tuple[list[pyps.Server], pyps.Worker, pyps.Worker]

KINDS = pytest.mark.parametrize("compression", ["bfloat16", "top_k:share=0.1"])
DTYPES = pytest.mark.parametrize("dtype", ["float32", "float64"])

# What is pushed, the part of it that goes by itself, and what is left.
ROWS: dict[str, tuple[NDArray[Any], NDArray[Any]]] = {
    "bfloat16": (np.full(LENGTH, 257.0), np.full(LENGTH, 256.0)),
    "top_k:share=0.1": (
        np.arange(LENGTH, dtype=float),
        np.where(np.arange(LENGTH) < LENGTH - 3, 0, np.arange(LENGTH, dtype=float)),
    ),
}


@pytest.fixture
def replica(cluster: Start) -> Any:
    """Start two nodes, where the key has its owner at the first one and a replica at the second one."""
    with ExitStack() as stack:

        def start(compression: str, dtype: str, **options: Any) -> Replica:
            nodes = cluster(2, 1, LENGTH, dtype=dtype, compression=compression, techniques="all", **options)
            owner, other = (stack.enter_context(node.worker()) for node in nodes)
            for kv in (owner, other):
                kv.intent([KEY], kv.current_clock(), ENDLESS)
                kv.wait_sync(TIMEOUT)
            return nodes, owner, other

        yield start


def until(found: Callable[[], Any], expected: Any) -> None:
    end = time.monotonic() + TIMEOUT
    while not np.array_equal(found(), expected):
        assert time.monotonic() < end, found()
        time.sleep(0.001)


@KINDS
@DTYPES
def test_a_rest_stays_at_the_replica_until_all_is_asked_for(
    replica: Callable[..., Replica], compression: str, dtype: str
) -> None:
    _, owner, other = replica(compression, dtype)
    pushed, part = (row.astype(dtype) for row in ROWS[compression])
    other.push([KEY], pushed)
    other.wait_sync(TIMEOUT, behind=1)
    until(lambda: owner.pull([KEY])[0], part)
    time.sleep(0.05)  # many rounds
    assert np.array_equal(owner.pull([KEY])[0], part)
    assert np.array_equal(other.pull([KEY])[0], pushed)
    other.wait_sync(TIMEOUT)
    assert np.array_equal(owner.pull([KEY])[0], pushed)
    assert np.array_equal(other.pull([KEY])[0], pushed)


@KINDS
def test_a_rest_goes_with_the_next_pushes(replica: Callable[..., Replica], compression: str) -> None:
    """Ten small pushes of a row whose smaller elements alone would never go."""
    _, owner, other = replica(compression, "float64")
    pushed, _ = ROWS[compression]
    for _ in range(10):
        other.push([KEY], pushed)
        other.wait_sync(TIMEOUT, behind=1)
        other.wait_sync(TIMEOUT, behind=1)
    until(lambda: np.count_nonzero(owner.pull([KEY])[0] > 5 * pushed) > 3, True)
    assert np.array_equal(other.pull([KEY])[0], 10 * pushed)


@KINDS
@pytest.mark.parametrize("end", ["quiesce", "intent", "shutdown"])
def test_nothing_is_left_out_in_the_end(replica: Callable[..., Replica], compression: str, end: str) -> None:
    _, owner, other = replica(compression, "float32")
    pushed, part = ROWS[compression]
    other.push([KEY], pushed.astype(np.float32))
    until(lambda: owner.pull([KEY])[0], part)
    if end == "quiesce":
        other.quiesce(TIMEOUT)
        assert np.array_equal(owner.pull([KEY])[0], pushed)
        return
    if end == "intent":
        other.intent([KEY], other.current_clock(), other.current_clock() + 1)
        owner.intent([KEY], owner.current_clock(), owner.current_clock() + 1)
    other.finalize()
    until(lambda: owner.pull([KEY])[0], pushed)


@KINDS
def test_a_rest_alone_costs_nothing(replica: Callable[..., Replica], compression: str) -> None:
    nodes, owner, other = replica(compression, "float32")
    pushed, part = ROWS[compression]
    other.push([KEY], pushed.astype(np.float32))
    until(lambda: owner.pull([KEY])[0], part)
    time.sleep(0.1)
    before = [node.stats()["messages_received"] for node in nodes], time.process_time()
    time.sleep(0.5)
    received = [node.stats()["messages_received"] for node in nodes]
    assert np.array_equal(owner.pull([KEY])[0], part)
    assert received == before[0]
    assert time.process_time() - before[1] < 0.1


def push_and_move(kv: pyps.Worker, number: int, *, rounds: int, num_keys: int) -> list[float]:
    """Push whole numbers to keys that others use as well; return what was pushed to each."""
    random = np.random.default_rng(number)
    pushed = np.zeros(num_keys)
    for clock in range(rounds):
        keys = random.choice(num_keys, 5, replace=False)
        if random.random() < 0.5:
            kv.intent(keys, kv.current_clock(), kv.current_clock() + 20)
        elif random.random() < 0.1:
            kv.localize(keys, asynchronous=True)
        numbers = random.integers(-1000, 1000, (len(keys), 7))
        kv.push(keys, numbers.astype(np.float64))
        pushed[keys] += numbers.sum(axis=1)
        kv.advance_clock()
        if clock % 8 == 0:
            kv.wait_sync(TIMEOUT, behind=2)
    kv.wait_sync(TIMEOUT)
    kv.barrier(TIMEOUT)
    return pushed.tolist()


@pytest.mark.slow
@KINDS
def test_sums_are_exact_while_keys_move(cluster_of: ClusterOf, compression: str) -> None:
    options = {"dtype": "float64", "compression": compression, "num_workers": 2}
    with cluster_of(12, 7, **options) as nodes:
        pushed = nodes.run(push_and_move, rounds=150, num_keys=12)
        with nodes.nodes[0].worker() as kv:
            kv.quiesce(TIMEOUT)
            values = kv.pull(np.arange(12)).sum(axis=1)
    assert values.tolist() == np.sum(pushed, axis=0).tolist()


@KINDS
def test_gradients_of_an_optimizer_are_compressed_as_well(
    replica: Callable[..., Replica], compression: str
) -> None:
    _, owner, other = replica(compression, "float64", optimizer="sgd:lr=1")
    pushed, part = ROWS[compression]
    other.push([KEY], pushed)
    until(lambda: owner.pull([KEY])[0], -part)
    other.wait_sync(TIMEOUT)
    assert np.array_equal(owner.pull([KEY])[0], -pushed)
    assert np.array_equal(other.pull([KEY])[0], -pushed)


def test_tables_do_as_their_server_does_where_their_dtype_can(cluster: Start) -> None:
    nodes = cluster(2, 1, compression="bfloat16", techniques="all")
    tables = [node.table("weights", dim=LENGTH, num_keys=1, dtype="float64") for node in nodes]
    with tables[0].worker() as owner, tables[1].worker() as other:
        for kv in (owner, other):
            kv.intent([KEY], kv.current_clock(), ENDLESS)
            kv.wait_sync(TIMEOUT)
        other.push([KEY], np.full(LENGTH, 257.0))
        until(lambda: owner.pull([KEY])[0], np.full(LENGTH, 256.0))
    with nodes[0].table("counts", dim=2, num_keys=1, dtype="int64").worker() as kv:
        kv.push([KEY], np.full(2, 257))
        assert kv.pull([KEY]).tolist() == [[257, 257]]


@pytest.mark.parametrize("length", [1, 2, 3, 70_000])
@KINDS
@DTYPES
def test_values_of_any_length_arrive(compression: str, dtype: str, length: int) -> None:
    """Short ones go whole, where that is shorter; positions in long ones need more bytes."""
    with (
        Cluster(2, 1, length, dtype=dtype, compression=compression, transport="memory") as nodes,
        nodes.nodes[0].worker() as owner,
        nodes.nodes[1].worker() as other,
    ):
        for kv in (owner, other):
            kv.intent([KEY], 0, ENDLESS)
            kv.wait_sync(TIMEOUT)
        pushed = np.random.default_rng(length).standard_normal(length).astype(dtype)
        other.push([KEY], pushed)
        until(lambda: bool(owner.pull([KEY])[0].any()), True)
        other.wait_sync(TIMEOUT)
        assert np.allclose(owner.pull([KEY])[0], pushed, rtol=1e-6, atol=1e-9)


@KINDS
def test_numbers_that_are_not_finite_arrive_and_leave_no_rest(
    replica: Callable[..., Replica], compression: str
) -> None:
    _, owner, other = replica(compression, "float32")
    pushed = np.zeros(LENGTH, np.float32)
    pushed[:3] = np.inf, -np.inf, np.nan
    other.push([KEY], pushed)
    until(lambda: np.isnan(owner.pull([KEY])[0][2]), True)
    assert owner.pull([KEY])[0][:2].tolist() == [np.inf, -np.inf]
    other.wait_sync(TIMEOUT)
    assert np.array_equal(owner.pull([KEY])[0], pushed, equal_nan=True)


@pytest.mark.parametrize(
    ("options", "kind", "expected"),
    [
        ({"compression": "zip"}, ValueError, "compression zip is unknown; there are none, bfloat16, top_k"),
        ({"compression": "top_k:share=0.5"}, ValueError, r"share is 0.5; it must be in \[0, 0.5\)"),
        ({"compression": "top_k:k=3"}, ValueError, "top_k has no k; it has share"),
        (
            {"compression": "bfloat16", "dtype": "float16"},
            ValueError,
            "for float32 and float64, not for float16",
        ),
        ({"compression": "top_k", "dtype": "int64"}, ValueError, "for float32 and float64, not for int64"),
        ({"compression": 8}, TypeError, "compression must be a text like 'bfloat16' or None, not int"),
    ],
)
def test_what_cannot_be_is_refused(options: dict[str, Any], kind: type[Exception], expected: str) -> None:
    with pytest.raises(kind, match=expected):
        pyps.Server(3, **options)


@pytest.mark.parametrize("compression", [None, "", "none"])
def test_none_is_for_all_dtypes(compression: str | None) -> None:
    with pyps.Server(3, dtype="int64", compression=compression) as server:
        assert server.is_open
