"""Checkpoints while workers push and keys move: what was acknowledged before is in them, what begins later is not."""

from __future__ import annotations

import itertools
import os
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pyps
from pyps.checkpoint.stored import Stored
from tests import soak
from tests.pyps.any_keys import spread
from tests.pyps.checkpoint.stores import save
from tests.pyps.cluster import TIMEOUT, Cluster

KEYS, LENGTH = 40, 30
RAMP = "sgd:lr=1,momentum=1"  # n pushes of ones: n steps, a buffer of n, and a value of -n (n + 1) / 2


class Load:
    """Workers of all nodes that push ones to random keys, which move and get replicas meanwhile."""

    def __init__(self, nodes: Sequence[pyps.Node], keys: Any, workers: int = 2) -> None:
        count = len(nodes) * workers
        self.begun, self.acknowledged = np.zeros((2, count, KEYS), np.int64)
        self.failures: list[Exception] = []
        self._stop = threading.Event()
        self._threads = [
            threading.Thread(target=self._run, args=(nodes[number // workers], number, keys))
            for number in range(count)
        ]

    def _run(self, node: pyps.Node, number: int, keys: Any) -> None:
        random = np.random.default_rng(number)
        try:
            with node.worker() as kv:
                while not self._stop.is_set():
                    clock = kv.current_clock()
                    kv.intent(random.choice(keys, 3), clock + 1, clock + 1 + int(random.integers(1, 4)))
                    kv.localize(random.choice(keys, 2), asynchronous=True)
                    some = np.sort(random.choice(KEYS, 4, replace=False))
                    self.begun[number, some] += 1
                    kv.push(keys[some], np.ones(4 * LENGTH))
                    self.acknowledged[number, some] += 1
                    kv.advance_clock()
        except Exception as error:  # raised by the test's thread
            self.failures.append(error)

    @contextmanager
    def running(self) -> Iterator[None]:
        for thread in self._threads:
            thread.start()
        try:
            yield
        finally:
            self._stop.set()
            for thread in self._threads:
                thread.join(TIMEOUT)
        assert not self.failures, self.failures


def pushes_in(stored: Stored, keys: Any, *, ramp: bool) -> Any:
    """How many pushes of each key a checkpoint has; fails if a row is none that there was, or a key is missing."""
    for shard in stored.table.shards:
        stored.verify(shard)
    stored.require_complete()
    counts = np.zeros(KEYS, np.int64)
    places = {int(key): place for place, key in enumerate(keys)}
    for shard in stored.table.shards:
        for group in stored.groups(shard):
            values = group.fields["values"]
            assert (values == values[:, :1]).all()
            found = np.asarray(values[:, 0])
            if ramp:
                steps = np.asarray(group.fields["steps"])
                assert (group.fields["momentum"] == steps[:, None]).all()
                assert (found == -steps * (steps + 1) / 2).all()
                found = steps
            counts[[places[int(key)] for key in group.keys]] = found
    return counts


@pytest.mark.long
@pytest.mark.parametrize(
    ("count", "techniques", "any_keys"),
    soak.rows(
        [
            (2, "all", False),
            (4, "all", True),
            (2, "replication_only", True),
            (4, "replication_only", False),
            (2, "relocation_only", False),
            (4, "relocation_only", True),
        ],
        [*itertools.product((2, 4), ("all", "replication_only", "relocation_only"), (False, True))],
    ),
)
def test_pushes_acknowledged_before_are_in_and_later_ones_are_not(
    count: int, techniques: str, any_keys: bool, tmp_path: Path
) -> None:
    keys = spread(KEYS) if any_keys else np.arange(KEYS)
    space: dict[str, Any] = {"capacity": 1000} if any_keys else {"num_keys": KEYS}
    ramp = techniques == "relocation_only"  # replicas merge pushes, so that there are fewer steps
    with Cluster(
        count,
        **space,
        value_length=LENGTH,
        dtype="float64",
        techniques=techniques,
        optimizer=RAMP if ramp else "",
        server_threads=count // 2,
    ) as cluster:
        with cluster.nodes[0].worker() as kv:
            kv.pull(keys)  # all exist
        load = Load(cluster.nodes, keys)
        with load.running():
            for _ in range(soak.times(2)):
                before = load.acknowledged.sum(0)
                saved = save(tmp_path, cluster.nodes, keep=2)
                after = load.begun.sum(0)
                pushes = pushes_in(Stored(saved), keys, ramp=ramp)
                assert (before <= pushes).all()
                assert (pushes <= after).all()
        assert (
            sum(node.stats()["relocations_in"] for node in cluster.nodes) > 0
            or techniques != "relocation_only"
        )
        assert load.acknowledged.sum() > 0


@pytest.mark.slow
@pytest.mark.parametrize("count", [1, 2])
def test_keys_that_are_deleted_meanwhile_are_in_or_not(count: int, tmp_path: Path) -> None:
    staying, going = spread(KEYS), spread(200, first=KEYS + 1)
    stop = threading.Event()

    def come_and_go(node: pyps.Server) -> None:
        with node.worker() as kv:
            while not stop.is_set():
                kv.localize(going)
                kv.push(going, np.ones((200, LENGTH)))
                kv.delete(going, timeout=TIMEOUT)

    with Cluster(count, capacity=1000, value_length=LENGTH, dtype="float64") as cluster:
        with cluster.nodes[0].worker() as kv:
            kv.push(staying, np.ones((KEYS, LENGTH)))
        with ThreadPoolExecutor(count) as pool:
            workers = [pool.submit(come_and_go, node) for node in cluster.nodes]
            try:
                for _ in range(soak.times(4)):
                    stored = Stored(save(tmp_path, cluster.nodes, keep=2))
                    stored.require_complete()
                    groups = [group for shard in stored.table.shards for group in stored.groups(shard)]
                    named = np.concatenate([group.keys for group in groups])
                    assert np.isin(staying, named).all()
                    assert np.isin(named, np.concatenate([staying, going])).all()
            finally:
                stop.set()
            for worker in workers:
                worker.result(TIMEOUT)


@pytest.mark.long
def test_a_push_to_a_replica_is_in_though_its_owner_is_far(tmp_path: Path) -> None:
    """The owner hears of it 0.3 s later."""
    nodes = [pyps.Server(2, 1, num_nodes=2, rank=rank, techniques="replication_only") for rank in range(2)]
    endpoints = [node.bind("memory://*?delay=0.3") for node in nodes]
    for node in nodes:
        node.connect(endpoints)
    with nodes[1].worker() as kv:
        kv.intent([0, 1], 0, 9)
        kv.wait_sync()
        kv.push([0, 1], np.ones(2, np.float32))
        stored = Stored(save(tmp_path, nodes))
        for shard in stored.table.shards:
            for group in stored.groups(shard):
                assert (group.fields["values"] == 1).all()
    for node in nodes:
        node.shutdown(timeout=0)


def test_barriers_of_workers_do_not_wait_for_a_checkpoint(tmp_path: Path) -> None:
    """Node 1 does not call it, so node 0 waits; meanwhile the workers come through a barrier."""
    with Cluster(2, 4, 2, num_workers=1) as cluster:
        waiting = pyps.checkpoint.save(tmp_path, cluster.nodes[0], background=True, timeout=TIMEOUT)
        cluster.run(lambda kv, _: kv.barrier(timeout=TIMEOUT), workers=1)
        assert not waiting.done()
        assert pyps.checkpoint.save(tmp_path, cluster.nodes[1]) == waiting.result(TIMEOUT)


def test_a_save_in_the_background_has_a_lower_priority(tmp_path: Path) -> None:
    """Node 1 does not call it at first, so node 0's thread waits while its priority is looked at."""
    usual = os.getpriority(os.PRIO_PROCESS, threading.get_native_id())
    with Cluster(2, 4, 2) as cluster:
        others = set(threading.enumerate())
        waiting = pyps.checkpoint.save(tmp_path, cluster.nodes[0], background=True, timeout=TIMEOUT)
        (thread,) = set(threading.enumerate()) - others
        assert thread.native_id is not None
        while os.getpriority(os.PRIO_PROCESS, thread.native_id) != min(usual + 10, 19):
            assert not waiting.done()
        assert os.getpriority(os.PRIO_PROCESS, threading.get_native_id()) == usual
        pyps.checkpoint.save(tmp_path, cluster.nodes[1])
        waiting.result(TIMEOUT)


def test_rounds_end_with_keys_that_moved_between_two_looks() -> None:
    from pyps.checkpoint.agreement import left_of, left_of_range

    a, b, nothing = np.array([0, 2, 3]), np.array([3, 4]), np.empty(0, np.int64)
    assert left_of_range(5, [a, b]).tolist() == [1, 3]  # 1: seen by nobody, 3: by both
    assert left_of(np.array([1, 3]), [np.array([3]), nothing]).tolist() == [1]
    assert left_of(np.array([1]), [np.array([1]), nothing]).tolist() == []
