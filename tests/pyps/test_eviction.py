"""Keys that go when a server is full: which, on which node, what is left of them, and when none can."""

from __future__ import annotations

import heapq
import itertools
import threading
import time
from collections import OrderedDict
from contextlib import ExitStack, suppress
from typing import Any

import numpy as np
import pytest

import pyps
from pyps import checkpoint
from tests.pyps.any_keys import spread
from tests.pyps.cluster import TIMEOUT, Cluster
from tests.pyps.refusals import check_refused

KINDS = ("lru", "lfu", "age")


def ones(keys: Any, length: int = 1) -> Any:
    return np.ones((len(keys), length), np.float32)


def there(kv: pyps.Worker, keys: Any) -> int:
    return int(kv.contains(keys).sum())


@pytest.mark.parametrize("kind", KINDS)
def test_a_full_server_takes_new_keys_for_others_which_begin_anew(kind: str) -> None:
    with pyps.Server(capacity=100, eviction=kind, optimizer="adagrad:lr=1") as server, server.worker() as kv:
        for first in range(1, 2001, 50):
            keys = spread(50, first)
            kv.push(keys, ones(keys))
            assert there(kv, keys) == 50
        stats = server.stats()
        assert stats["keys_held"] == 100
        assert stats["keys_evicted"] == 1900
        gone = spread(50)
        assert there(kv, gone) == 0
        assert (kv.pull(gone) == 0).all()
        kv.push(gone, ones(gone))
        assert np.allclose(kv.pull(gone), -1)  # the optimizer's sum began anew as well


@pytest.mark.parametrize("kind", KINDS)
def test_what_was_used_stays(kind: str) -> None:
    with pyps.Server(capacity=1000, eviction=kind) as server, server.worker() as kv:
        keys = spread(1000)
        kv.push(keys, ones(keys))
        used, others = keys[:400], keys[400:]
        for first in range(2001, 12_001, 50):
            kv.push(used, ones(used)) if kind == "age" else kv.pull(used)
            kv.pull(spread(50, first))
        assert there(kv, used) == 400
        assert there(kv, others) == 0


def test_a_pull_does_not_make_a_key_younger_by_age() -> None:
    with pyps.Server(capacity=1000, eviction="age") as server, server.worker() as kv:
        keys = spread(1000)
        kv.push(keys, ones(keys))
        for first in range(2001, 4001, 50):
            if there(kv, keys[:400]) == 400:
                kv.pull(keys[:400])
            kv.pull(spread(50, first))
        assert there(kv, keys) == 0


def exact_lru(stream: Any, room: int) -> int:
    """Return how many of the stream's keys are there when they come, if the one that was not used longest goes."""
    held: OrderedDict[int, None] = OrderedDict()
    hits = 0
    for key in stream:
        if key in held:
            hits += 1
            held.move_to_end(key)
            continue
        if len(held) == room:
            held.popitem(last=False)
        held[key] = None
    return hits


def exact_lfu(stream: Any, room: int) -> int:
    """Return the same if the one goes that was used the fewest times since it came, of several the oldest."""
    held: dict[int, tuple[int, int]] = {}
    heap: list[tuple[int, int, int]] = []
    hits = 0
    for now, key in enumerate(stream):
        if key in held:
            hits += 1
        elif len(held) == room:
            while True:
                uses, when, least = heapq.heappop(heap)
                if held.get(least) == (uses, when):
                    del held[least]
                    break
        held[key] = (held.get(key, (0, 0))[0] + 1, now)
        heapq.heappush(heap, (*held[key], key))
    return hits


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "exact"), [("lru", exact_lru), ("lfu", exact_lfu)])
def test_a_zipf_stream_finds_about_as_much_as_with_an_exact_order(kind: str, exact: Any) -> None:
    room, many, length = 2000, 20_000, 60_000
    random = np.random.default_rng(5)
    shares = 1 / np.arange(1, many + 1)
    stream = spread(many)[random.choice(many, length, p=shares / shares.sum())].tolist()
    out = np.zeros(1, np.float32)
    with pyps.Server(capacity=room, eviction=kind) as server, server.worker() as kv:
        hits = 0
        for key in stream:
            if kv.pull_if_local([key], out):
                hits += 1
            else:
                kv.pull([key])
        assert server.stats()["keys_evicted"] == length - hits - room
    assert abs(hits - exact(stream, room)) / length < 0.02


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_the_memory_limit_is_kept_however_many_keys_come(kind: str) -> None:
    limit = 8_000_000
    with (
        pyps.Server(
            value_length=100, capacity=10**8, memory_limit=limit, max_workers=2, eviction=kind
        ) as server,
        server.worker() as kv,
    ):
        for first in range(1, 300_001, 1000):
            keys = spread(1000, first)
            kv.push(keys, ones(keys, 100))
            assert (kv.pull(keys) == 1).all()
        stats = server.stats()
        assert stats["committed_bytes"] <= limit
        assert stats["keys_held"] > 8000
        assert stats["keys_held"] + stats["keys_evicted"] == 300_000
        kv.push(keys, ones(keys, 100))
        assert (kv.pull(keys) == 2).all()


def test_a_call_with_more_keys_than_there_is_room_for_is_refused_and_lets_none_go() -> None:
    with pyps.Server(capacity=100, eviction="lru") as server, server.worker() as kv:
        kv.push(spread(100), ones(spread(100)))
        with pytest.raises(MemoryError, match="capacity is 100 keys"):
            kv.pull(spread(101, 1000))
        assert (kv.pull(spread(100)) == 1).all()
        assert server.stats()["keys_evicted"] == 0


@pytest.mark.parametrize("threads", [1, 3])
def test_on_several_nodes_only_keys_at_home_that_nobody_needs_go(threads: int) -> None:
    with Cluster(2, capacity=300, eviction="lru", server_threads=threads) as cluster:
        first, second = cluster.nodes
        with first.worker() as kv, second.worker() as other:
            keys = spread(40)
            kv.push(keys, ones(keys))
            other.localize(keys[:10])
            kv.localize(keys[10:20])
            for worker in (kv, other):
                worker.intent(keys[20:30], 0, 10)
            kv.quiesce(TIMEOUT)
            other.quiesce(TIMEOUT)
            for start in range(1001, 6001, 50):
                new = spread(50, start)
                (kv if start % 100 == 1 else other).push(new, ones(new))
                assert (kv.pull(new) == 1).all()
            evicted = [node.stats()["keys_evicted"] for node in cluster.nodes]
            assert min(evicted) > 1000
            for worker in (kv, other):
                assert (worker.pull(keys[20:30]) == 1).all()
            moved = kv.pull(keys[:20])
            home = moved[:, 0] == 0  # those that were localized where they began may have gone
            assert 0 < home.sum() < 20
            assert (moved[~home] == 1).all()
            for node in cluster.nodes:
                assert node.stats()["keys_held"] <= 300


def test_where_no_key_can_go_the_caller_is_told_until_one_can() -> None:
    with Cluster(2, capacity=100, eviction="lru") as cluster, ExitStack() as stack:
        kv, far = (stack.enter_context(node.worker()) for node in cluster.nodes)
        moved: list[int] = []

        def bring() -> None:
            """Keys that began on the other node come here, which takes a row on both."""
            for first in itertools.count(1, 10):
                keys = spread(10, first)
                far.push(keys, ones(keys))
                moved.extend(key for key in keys.tolist() if not kv.pull_if_local([key], ones([key])))
                kv.localize(moved)

        with pytest.raises(MemoryError, match=r"a node has no room .* capacity is 100 keys"):
            bring()
        assert len(moved) >= 90
        here = [key for key in moved if kv.pull_if_local([key], ones([key]))]
        assert (far.pull(here) == 1).all()
        assert all(kv.pull_if_local([key], ones([key])) for key in here)
        far.localize(here[:30])
        end = time.monotonic() + TIMEOUT
        while True:  # for a moment after it has looked in vain, a node does not look again
            with suppress(MemoryError):
                far.pull(spread(10, 9001))
                break
            assert time.monotonic() < end


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_workers_at_once_lose_nothing_but_keys_that_went(kind: str) -> None:
    with pyps.Server(value_length=4, capacity=500, eviction=kind, dtype="int64", server_threads=2) as server:
        failures: list[BaseException] = []

        def work(number: int) -> None:
            random = np.random.default_rng(number)
            try:
                with server.worker() as kv:
                    for _ in range(300):
                        keys = spread(2000)[random.integers(0, 2000, 50)]
                        kv.set(keys, np.repeat(keys, 4).reshape(-1, 4))
                        found = kv.pull(keys)
                        assert ((found == keys[:, None]).all(1) | (found == 0).all(1)).all()
            except BaseException as failure:
                failures.append(failure)

        threads = [threading.Thread(target=work, args=(number,)) for number in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(TIMEOUT)
        assert not failures
        assert server.stats()["keys_evicted"] > 1000


def test_a_table_has_its_own_eviction_and_others_must_agree() -> None:
    with Cluster(2, 10) as cluster:
        node = cluster.nodes[0]
        node.table("users", dim=1, capacity=100, eviction="lfu")
        with pytest.raises(ValueError, match=r"with other options: capacity=100 .* eviction=lfu"):
            cluster.nodes[1].table("users", dim=1, capacity=100, eviction="lru")
        with cluster.nodes[1].worker() as kv:
            for first in range(1, 2001, 50):
                kv.table("users").push(spread(50, first), ones(spread(50)))
            tables = [node.table("users") for node in cluster.nodes]
            assert sum(table.stats()["keys_held"] for table in tables) == 200
            assert sum(table.stats()["keys_evicted"] for table in tables) == 1800
            assert all(node.stats()["keys_evicted"] == 0 for node in cluster.nodes)


def test_checkpoints_hold_what_is_there_while_keys_go(tmp_path: Any) -> None:
    keys = spread(1000)
    with pyps.Server(capacity=1000, eviction="lru") as server, server.worker() as kv:
        kv.push(keys, ones(keys))
        stop = threading.Event()

        def churn() -> None:  # of less than half of the keys, however long the checkpoint takes
            with server.worker() as other:
                for first in range(10_001, 10_401, 20):
                    other.pull(spread(20, first))
                    if stop.wait(0.0005):
                        return

        thread = threading.Thread(target=churn)
        thread.start()
        try:
            checkpoint.save(tmp_path, server)
        finally:
            stop.set()
            thread.join(TIMEOUT)
    with pyps.Server(capacity=10_000) as server:
        checkpoint.load(tmp_path, server)
        assert 500 < server.stats()["keys_held"] <= 1000


@pytest.mark.slow
def test_a_checkpoint_with_more_keys_than_there_is_room_for_fills_the_room(tmp_path: Any) -> None:
    keys, length = spread(2000), 1024  # in pieces of 256 keys
    with pyps.Server(value_length=length) as server, server.worker() as kv:
        kv.push(keys, ones(keys, length))
        checkpoint.save(tmp_path, server)
    with Cluster(2, value_length=length, capacity=600, eviction="lru") as cluster:
        cluster.run(lambda kv, _: checkpoint.load(tmp_path, kv.node, timeout=TIMEOUT), workers=1)
        assert sum(node.stats()["keys_held"] for node in cluster.nodes) == 1200
        with cluster.nodes[0].worker() as kv:
            found = keys[kv.contains(keys)]
            assert len(found) == 1200
            assert (kv.pull(found) == 1).all()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"eviction": "fifo"}, "eviction is 'fifo'; it must be None or one of lru, lfu, age"),
        ({"eviction": "lru", "num_keys": 7}, "any numbers, and num_keys is 7: give a capacity instead"),
        ({"eviction": "lru", "lengths": [1, 0], "capacity": 9}, "length of length class 1 is 0"),
    ],
)
def test_what_cannot_be_is_refused(options: dict[str, Any], message: str) -> None:
    check_refused(options, message, options.pop("lengths", 1))
