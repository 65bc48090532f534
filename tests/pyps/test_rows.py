"""Whole rows: values with what the optimizer keeps for them, read and written beside the training."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pytest

import pyps
from pyps.checkpoint.rows import Rows
from tests.pyps.any_keys import spread
from tests.pyps.cluster import Cluster

LENGTH = 100
NODES = pytest.mark.parametrize("count", [1, 2, 4])
RAMP = "sgd:lr=1,momentum=1"  # n pushes of ones: n steps, a buffer of n, and a value of -n (n + 1) / 2
ROW = np.dtype([("value", np.float64, LENGTH), ("steps", np.uint64), ("buffer", np.float64, LENGTH)])


def held(rows: Rows, *, begun: bool = False) -> list[int]:
    found: list[int] = []
    chunk, at, count = np.empty(7, np.int64), 0, 7
    while count == len(chunk):
        count, at = rows.find_keys(chunk, at, begun)
        found += chunk[:count].tolist()
    return found


def read(rows: Rows, keys: Any, row: np.dtype[Any]) -> tuple[Any, list[int]]:
    found = np.zeros(len(keys), row)
    return found, list(rows.read_rows(np.asarray(keys), found.view(np.uint8)))


def test_a_row_has_the_value_and_what_the_optimizer_keeps() -> None:
    with pyps.Server(5, LENGTH, dtype="float64", optimizer=RAMP) as server, server.worker() as kv:
        for _ in range(3):
            kv.push([4], np.ones(LENGTH))
        with Rows(server) as rows:
            found, here = read(rows, [4, 0], ROW)
    assert here == [1, 1]
    assert found["steps"].tolist() == [3, 0]
    assert (found["value"][0] == -6).all()
    assert (found["buffer"][0] == 3).all()


def test_training_goes_on_bit_equal_after_rows_were_written() -> None:
    keys, gradients = np.arange(5), np.random.default_rng(1).normal(size=(6, 5, LENGTH)).astype(np.float32)
    options: dict[str, Any] = {"dtype": "float32", "optimizer": "adam:lr=0.1,amsgrad=1"}
    with pyps.Server(5, LENGTH, **options) as first, pyps.Server(5, LENGTH, **options) as second:
        lengths, sizes = np.empty(5, np.int64), np.empty(5, np.int64)
        first.row_sizes(keys, lengths, sizes)
        assert set(lengths) == {LENGTH}
        rows = np.empty(sizes.sum(), np.uint8)
        with first.worker() as kv, Rows(first) as reader, Rows(second) as writer:
            for gradient in gradients[:3]:
                kv.push(keys, gradient)
            reader.read_rows(keys, rows)
            assert list(writer.write_rows(keys, rows)) == [1] * 5
        with first.worker() as a, second.worker() as b:
            for gradient in gradients[3:]:
                a.push(keys, gradient)
                b.push(keys, gradient)
            assert a.pull(keys).tobytes() == b.pull(keys).tobytes()


@pytest.mark.slow
def test_rows_are_whole_while_others_push() -> None:
    with pyps.Server(2, LENGTH, dtype="float64", optimizer=RAMP) as server, Rows(server) as rows:
        stop = threading.Event()

        def push() -> None:
            with server.worker() as kv:
                while not stop.is_set():
                    kv.push([0, 1], np.ones(2 * LENGTH))

        pushing = [threading.Thread(target=push) for _ in range(2)]
        for thread in pushing:
            thread.start()
        try:
            steps = 0
            for _ in range(2000):
                found, _ = read(rows, [0], ROW)
                assert found["steps"][0] >= steps
                steps = int(found["steps"][0])
                assert (found["buffer"] == steps).all()
                assert (found["value"] == -steps * (steps + 1) / 2).all()
        finally:
            stop.set()
            for thread in pushing:
                thread.join()
        assert steps > 0


@NODES
@pytest.mark.parametrize("any_keys", [False, True])
def test_each_key_is_held_once_and_begun_once(count: int, any_keys: bool) -> None:
    keys = spread(50) if any_keys else np.arange(50)
    space = {"capacity": 1000} if any_keys else {"num_keys": 50}
    with Cluster(count, value_length=3, **space) as cluster:
        with cluster.nodes[-1].worker() as kv:
            kv.push(keys, np.ones((50, 3), np.float32))
            kv.localize(keys[:20])
        here, begun, flags = [], [], np.zeros(50)
        for node in cluster.nodes:
            with Rows(node) as rows:
                here += held(rows)
                begun += held(rows, begun=True)
                flags += np.array(list(rows.read_rows(keys)))
        assert sorted(here) == sorted(begun) == sorted(keys.tolist())
        assert (flags == 1).all()


def test_replicas_get_rows_that_are_written() -> None:
    with Cluster(2, 4, LENGTH, dtype="float64", techniques="replication_only", optimizer=RAMP) as cluster:
        keys, new = np.arange(4), np.zeros(4, ROW)
        new["value"], new["steps"] = 7, 9
        with cluster.nodes[0].worker() as kv, cluster.nodes[1].worker() as other:
            for worker in (kv, other):
                worker.intent(keys, 0, 10)
                worker.wait_sync()
            assert [node.stats()["replicas_held"] for node in cluster.nodes] == [2, 2]
            flags = np.zeros(4)
            for node in cluster.nodes:
                with Rows(node) as rows:
                    flags += list(rows.write_rows(keys, new.view(np.uint8)))
            assert (flags == 1).all()
            for worker in (kv, other):
                worker.wait_sync()
                assert (worker.pull(keys) == 7).all()


@pytest.mark.slow
@pytest.mark.parametrize("any_keys", [False, True])
def test_barriers_do_not_wait_for_who_only_uses_rows(any_keys: bool) -> None:
    """Nor do they count it: with `num_workers` they wait for so many others."""
    space = {"capacity": 10} if any_keys else {"num_keys": 10}
    with pyps.Server(num_workers=2, **space) as server, Rows(server) as rows, server.worker() as kv:
        with pytest.raises(pyps.WaitTimeoutError):
            kv.barrier(timeout=0.3)
        with pytest.raises(ValueError, match="aside"):
            rows.barrier()
        with server.worker() as other:
            thread = threading.Thread(target=lambda: other.barrier(timeout=20))
            thread.start()
            kv.barrier(timeout=20)
            thread.join()


def test_wrong_rows_are_refused() -> None:
    with pyps.Server(3, 2) as server, Rows(server) as rows:
        with pytest.raises(ValueError, match="outside"):
            rows.read_rows([3])
        with pytest.raises(ValueError, match="have 9 bytes, those of these 1 keys have 8"):
            rows.write_rows([0], np.zeros(9, np.uint8))
        with pytest.raises(TypeError, match="8 bits"):
            rows.write_rows([0], np.zeros(2, np.float32))
