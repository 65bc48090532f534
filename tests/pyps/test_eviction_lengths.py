"""Keys of several lengths that go when a server is full: room goes from one length to another."""

from __future__ import annotations

import threading

import numpy as np
import pytest

import pyps
from tests.pyps.any_keys import Numbers, spread
from tests.pyps.cluster import TIMEOUT, Cluster

KINDS = ("lru", "lfu", "age")
LENGTHS = (16, 4, 100)
LIMIT = 6_000_000
IDS = 2**56 - 1


def keys_of(number: int, count: int, first: int = 1) -> Numbers:
    return pyps.classed_keys(number, spread(count, first) & IDS)


def push(kv: pyps.Worker, keys: Numbers, *, lengths: tuple[int, ...] = LENGTHS) -> None:
    kv.push(keys, np.ones(int(np.array(lengths)[keys >> 56].sum()), np.float32))


def stream(kv: pyps.Worker, number: int, count: int, first: int = 1) -> None:
    """Push keys of a length that were not there before, some at a time; those of a call are there then."""
    for start in range(first, first + count, 200):
        keys = keys_of(number, 200, start)
        push(kv, keys)
        assert (kv.pull(keys) == 1).all()


def there(kv: pyps.Worker, keys: Numbers) -> int:
    return int(kv.contains(keys).sum())


@pytest.mark.parametrize("kind", KINDS)
def test_keys_of_all_lengths_share_the_capacity(kind: str) -> None:
    with pyps.Server(value_length=LENGTHS, capacity=300, eviction=kind) as server, server.worker() as kv:
        for first in range(1, 2001, 50):
            keys = np.concatenate([keys_of(number, 50, first) for number in range(3)])
            push(kv, keys)
            assert there(kv, keys) == 150
        stats = server.stats()
        assert stats["keys_held"] == 300
        assert stats["keys_evicted"] == 5700
        alone = keys_of(1, 300, 9001)
        push(kv, alone)
        assert there(kv, alone) == 300
        gone = keys_of(2, 50)
        assert (kv.pull(gone) == 0).all()


@pytest.mark.parametrize("kind", KINDS)
def test_what_was_used_stays_whichever_length_needs_the_room(kind: str) -> None:
    with pyps.Server(value_length=LENGTHS, capacity=1000, eviction=kind) as server, server.worker() as kv:
        used, others = keys_of(0, 400), keys_of(2, 600)
        push(kv, np.concatenate([used, others]))
        for first in range(2001, 12_001, 50):
            push(kv, used) if kind == "age" else kv.pull(used)
            push(kv, keys_of(1, 50, first))
        assert there(kv, used) == 400
        assert there(kv, others) == 0


@pytest.mark.parametrize("kind", KINDS)
def test_the_memory_limit_is_kept_and_nothing_is_refused(kind: str) -> None:
    with (
        pyps.Server(
            value_length=LENGTHS, capacity=10**7, memory_limit=LIMIT, max_workers=2, eviction=kind
        ) as server,
        server.worker() as kv,
    ):
        for first in range(1, 40_001, 200):
            keys = np.concatenate([keys_of(number, 200, first) for number in range(3)])
            push(kv, keys)
            assert (kv.pull(keys) == 1).all()
        stats = server.stats()
        assert stats["committed_bytes"] <= LIMIT
        assert stats["keys_held"] + stats["keys_evicted"] == 120_000
        assert stats["value_bytes"] > LIMIT // 4


@pytest.mark.slow
@pytest.mark.parametrize(("before", "after"), [(0, 2), (2, 0), (1, 2), (2, 1)])
def test_all_memory_of_a_length_that_is_used_no_more_goes_to_another_one(before: int, after: int) -> None:
    held = {}
    for first_length in (after, before):
        with (
            pyps.Server(
                value_length=LENGTHS, capacity=10**7, memory_limit=LIMIT, max_workers=2, eviction="lru"
            ) as server,
            server.worker() as kv,
        ):
            stream(kv, first_length, 150_000)
            if first_length == before:
                stream(kv, after, 150_000)
                assert there(kv, keys_of(before, 150_000)) == 0
            stats = server.stats()
            held[first_length] = stats["keys_held"]
            assert there(kv, keys_of(after, 150_000)) == stats["keys_held"]
            slot = 4 * LENGTHS[after] + 8  # with the number of its row
            assert stats["slab_bytes"] < 1.1 * stats["keys_held"] * slot + 100_000  # the other has nothing
            assert stats["committed_bytes"] <= LIMIT
    # What short values leave are their rows, which take as much as they do; those of long ones are few.
    assert held[before] > (0.4 if before == 1 else 0.8) * held[after]


def test_a_single_key_of_a_length_that_is_not_there_gets_room_at_once() -> None:
    with (
        pyps.Server(
            value_length=[4, 5000], capacity=10**7, memory_limit=LIMIT, max_workers=2, eviction="lru"
        ) as server,
        server.worker() as kv,
    ):
        for first in range(1, 200_001, 1000):
            push(kv, keys_of(0, 1000, first), lengths=(4, 5000))
        before = server.stats()["keys_evicted"]
        assert before > 0
        one = keys_of(1, 1)
        push(kv, one, lengths=(4, 5000))
        assert (kv.pull(one) == 1).all()
        # A slab of 64 KB is emptied, and some more to have room for tables.
        assert server.stats()["keys_evicted"] - before < 20_000


@pytest.mark.slow
@pytest.mark.parametrize("threads", [1, 3])
def test_values_that_move_while_workers_use_them_stay_whole(threads: int) -> None:
    lengths = (2, 50)
    with pyps.Server(
        value_length=lengths,
        capacity=10**6,
        memory_limit=4_000_000,
        max_workers=8,
        eviction="lru",
        dtype="int64",
        server_threads=threads,
    ) as server:
        failures: list[BaseException] = []

        def work(number: int) -> None:
            random = np.random.default_rng(number)
            try:
                with server.worker() as kv:
                    for turn in range(400):
                        length = lengths[turn // 50 % 2]  # both lengths in turn
                        all_keys = keys_of(turn // 50 % 2, 40_000 if length == 2 else 8000)
                        keys = all_keys[random.integers(0, len(all_keys), 200)]
                        kv.set(keys, np.repeat(keys, length))
                        found = kv.pull(keys).reshape(200, length)
                        assert ((found == keys[:, None]).all(1) | (found == 0).all(1)).all()
            except BaseException as failure:
                failures.append(failure)

        workers = [threading.Thread(target=work, args=(number,)) for number in range(3)]
        for thread in workers:
            thread.start()
        for thread in workers:
            thread.join(TIMEOUT)
        assert not failures
        stats = server.stats()
        assert stats["keys_evicted"] > 1000
        assert stats["committed_bytes"] <= 4_000_000


@pytest.mark.slow
def test_on_two_nodes_room_goes_from_length_to_length_beside_intents_and_moves() -> None:
    limit = 8_000_000
    with Cluster(
        2, value_length=LENGTHS, capacity=10**7, memory_limit=limit, max_workers=2, eviction="lru"
    ) as cluster:
        first, second = cluster.nodes
        with first.worker() as kv, second.worker() as other:
            kept = np.concatenate([keys_of(number, 20) for number in range(3)])
            push(kv, kept)
            other.localize(kept[10:20])
            for worker in (kv, other):
                worker.intent(kept[40:50], 0, 10)
                worker.quiesce(TIMEOUT)
            for number, worker in ((1, kv), (2, other), (0, kv), (2, kv), (1, other)):
                stream(worker, number, 60_000, 1001)
            assert (kv.pull(kept[40:50]) == 1).all()
            for node in cluster.nodes:
                stats = node.stats()
                assert stats["committed_bytes"] <= limit
                assert stats["keys_evicted"] > 1000


@pytest.mark.slow
def test_128_lengths_share_a_small_memory() -> None:
    lengths = tuple(range(1, 129))
    limit = 8_000_000
    with (
        pyps.Server(
            value_length=lengths, capacity=10**6, memory_limit=limit, max_workers=2, eviction="lru"
        ) as server,
        server.worker() as kv,
    ):
        for first in range(1, 4001, 10):
            keys = np.concatenate([keys_of(number, 10, first) for number in range(128)])
            push(kv, keys, lengths=lengths)
            assert (kv.pull(keys) == 1).all()
        stats = server.stats()
        assert stats["committed_bytes"] <= limit
        assert stats["keys_held"] + stats["keys_evicted"] == 512_000
        assert stats["value_bytes"] > limit // 4


@pytest.mark.parametrize("length", [1, 64])
def test_rows_and_their_tables_have_room_beside_values_that_fill_the_limit(length: int) -> None:
    limit = 4_000_000
    with (
        pyps.Server(
            value_length=length, capacity=10**7, memory_limit=limit, max_workers=2, eviction="lru"
        ) as server,
        server.worker() as kv,
    ):
        for first in range(1, 400_001, 500):
            kv.push(spread(500, first), np.ones((500, length), np.float32))
        stats = server.stats()
        assert stats["keys_held"] + stats["keys_evicted"] == 400_000
        assert stats["committed_bytes"] <= limit


def test_a_table_of_several_lengths_lets_keys_go() -> None:
    with Cluster(2, 10) as cluster:
        tables = [node.table("words", dim=[2, 3], capacity=100, eviction="lfu") for node in cluster.nodes]
        with cluster.nodes[1].worker() as kv:
            for first in range(1, 1001, 50):
                keys = np.concatenate([keys_of(number, 25, first) for number in range(2)])
                kv.table("words").push(keys, np.ones(125, np.float32))
        assert sum(table.stats()["keys_held"] for table in tables) == 200
        assert sum(table.stats()["keys_evicted"] for table in tables) == 800
