"""Keys that exist from their N-th use on: what pulls and pushes do before, where uses are counted, and what goes along.

The counts themselves: tests/native/use_counts.cpp.
"""

from __future__ import annotations

import signal
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pyps
from tests.pyps.any_keys import LENGTHS, spread
from tests.pyps.checkpoint.stores import load, save
from tests.pyps.cluster import TIMEOUT, Cluster, WorkerProcesses
from tests.pyps.nodes import Cluster as Processes
from tests.pyps.refusals import check_refused

FIRST = "uniform:low=1,high=2,seed=5"


def ones(keys: Any) -> Any:
    return np.ones((len(keys), 1), np.float32)


def first_values(keys: Any) -> Any:
    """What values begin with, as a server without admission says it."""
    with pyps.Server(initializer=FIRST) as server, server.worker() as kv:
        return kv.pull(keys)


def there(kv: pyps.Worker, keys: Any) -> int:
    return int(kv.contains(keys).sum())


@pytest.mark.parametrize("needed", [2, 3, 255])
@pytest.mark.parametrize("threads", [1, 3])
def test_a_key_exists_from_its_nth_use_on(needed: int, threads: int) -> None:
    keys = spread(100)
    expected = first_values(keys)
    with (
        pyps.Server(admission=needed, initializer=FIRST, server_threads=threads) as server,
        server.worker() as kv,
    ):
        for use in range(1, needed):
            if use % 2:
                assert (kv.pull(keys) == expected).all()
            else:
                kv.push(keys, ones(keys))
            assert there(kv, keys) == 0
            assert next(iter(kv.keys()), None) is None
        stats = server.stats()
        assert stats["keys_held"] == 0
        assert stats["keys_waiting"] == 100
        assert stats["pushes_dropped"] == 100 * ((needed - 1) // 2)
        kv.push(keys, ones(keys))
        assert there(kv, keys) == 100
        assert (kv.pull(keys) == expected + 1).all()
        stats = server.stats()
        assert stats["keys_held"] == 100
        assert stats["keys_waiting"] == 0
        assert stats["pushes_dropped"] == 100 * ((needed - 1) // 2)


def test_one_means_the_first_use() -> None:
    with pyps.Server(admission=1) as server, server.worker() as kv:
        kv.push([7], ones([7]))
        assert kv.pull([7]) == 1
    with pyps.Server(10, admission=1) as server, server.worker() as kv:
        assert kv.pull([7]) == 0


def test_a_set_makes_a_key_at_once() -> None:
    with pyps.Server(admission=9) as server, server.worker() as kv:
        kv.pull([7])
        kv.set([7, 8], ones([7, 8]))
        kv.push([7, 8], ones([7, 8]))
        assert (kv.pull([7, 8]) == 2).all()
        assert server.stats()["keys_waiting"] == 0


def test_a_key_that_comes_twice_in_a_call_is_used_once() -> None:
    with pyps.Server(admission=3) as server, server.worker() as kv:
        kv.push([7, 7, 7], ones([7, 7, 7]))
        assert server.stats()["pushes_dropped"] == 3
        assert kv.pull([7, 8, 7, 9]).sum() == 0
        assert not kv.contains([7, 8, 9]).any()
        kv.push([7, 8, 7], ones([7, 8, 7]))
        assert kv.contains([7, 8, 9]).tolist() == [True, False, False]
        assert kv.pull([7]) == 2


def test_a_dropped_gradient_leaves_no_state() -> None:
    keys = spread(50)
    with (
        pyps.Server(admission=3, optimizer="adagrad:lr=1") as server,
        server.worker() as kv,
    ):
        for _ in range(2):
            kv.push(keys, 100 * ones(keys))
        kv.push(keys, ones(keys))
        assert np.allclose(kv.pull(keys), -1)  # Adagrad's first step


@pytest.mark.parametrize("count", [1, 2])
def test_calls_with_keys_of_several_lengths_are_done_in_parts(count: int) -> None:
    with (
        Cluster(
            count, capacity=1000, value_length=list(LENGTHS.lengths), dtype="int64", admission=2
        ) as nodes,
        nodes.nodes[0].worker() as kv,
    ):
        old, new = LENGTHS.keys(100), LENGTHS.keys(100, 101)
        both = np.stack([old, new], 1).reshape(-1)
        kv.set(old, LENGTHS.values(old))
        kv.push(both, LENGTHS.values(both))
        expected = np.concatenate([LENGTHS.values([key], 2 * (key in old)) for key in both.tolist()])
        assert (kv.pull(both) == expected).all()
        kv.push(both, LENGTHS.values(both))
        expected = np.concatenate([LENGTHS.values([key], 1 + 2 * (key in old)) for key in both.tolist()])
        assert (kv.pull(both) == expected).all()


def push_once(kv: pyps.Worker, number: int) -> None:
    kv.push([7], ones([7]))


def test_uses_in_other_processes_count(worker_processes: WorkerProcesses) -> None:
    with Cluster(1, processes=worker_processes, admission=4) as cluster, cluster.nodes[0].worker() as kv:
        cluster.run(push_once, workers=3)
        assert not kv.contains([7])[0]
        cluster.run(push_once, workers=3)
        assert kv.pull([7]) == 3


@pytest.mark.parametrize("threads", [1, 3])
def test_uses_on_all_nodes_count(threads: int) -> None:
    keys = spread(300)
    expected = first_values(keys)
    with Cluster(3, capacity=1000, admission=4, initializer=FIRST, server_threads=threads) as cluster:
        workers = [node.worker() for node in cluster.nodes]
        for kv in workers:
            kv.push(keys, ones(keys))
            assert there(kv, keys) == 0
        assert sum(node.stats()["keys_waiting"] for node in cluster.nodes) == 300
        assert sum(node.stats()["keys_held"] for node in cluster.nodes) == 0
        assert (workers[1].pull(keys) == expected).all()
        for kv in workers:
            assert there(kv, keys) == 300
            kv.push(keys, ones(keys))
        assert (workers[0].pull(keys) == expected + 3).all()
        assert sum(node.stats()["pushes_dropped"] for node in cluster.nodes) == 900
        for kv in workers:
            kv.finalize()


@pytest.mark.parametrize("threads", [1, 3])
def test_localize_and_intents_make_no_keys(threads: int) -> None:
    keys = spread(200)
    with Cluster(2, capacity=1000, admission=3, server_threads=threads) as cluster:
        workers = [node.worker() for node in cluster.nodes]
        for kv in workers:
            kv.localize(keys)
            kv.intent(keys, 0, 1000)
            kv.wait_sync(TIMEOUT)
            kv.quiesce(TIMEOUT)
        for kv in workers:
            assert there(kv, keys) == 0
            assert (kv.pull(keys) == 0).all()
        assert sum(node.stats()["keys_held"] for node in cluster.nodes) == 0
        assert all(node.stats()["keys_without_room"] > 0 for node in cluster.nodes)
        workers[0].push(keys, ones(keys))
        assert there(workers[1], keys) == 200
        workers[1].localize(keys)
        out = ones(keys)
        assert workers[1].pull_if_local(keys, out)
        assert (out == 1).all()
        for kv in workers:
            kv.finalize()


@pytest.mark.parametrize("replicas", [0, 1])
@pytest.mark.parametrize("threads", [1, 3])
def test_what_was_not_dropped_is_there_whatever_else_is_done(threads: int, replicas: int) -> None:
    keys = spread(300)
    options: dict[str, Any] = {"replicas": replicas, "on_loss": "continue"} if replicas else {}
    pushed = [0, 0, 0, 0]
    with Cluster(3, capacity=1000, admission=6, dtype="int64", server_threads=threads, **options) as cluster:

        def work(number: int) -> None:
            random = np.random.default_rng(number)
            with cluster.nodes[number % 3].worker() as kv:
                for clock in range(150):
                    some = random.choice(keys, 10, replace=False)
                    match random.integers(4):
                        case 0:
                            kv.localize(some)
                        case 1:
                            kv.intent(some, clock + 1, clock + 1 + random.integers(1, 5))
                        case 2:
                            assert (kv.pull(some) >= 0).all()
                        case 3:
                            kv.push(some, np.ones((10, 1), np.int64), asynchronous=bool(clock % 2))
                            pushed[number] += 10
                    kv.advance_clock()
                kv.waitall()
                kv.wait_sync(TIMEOUT)

        threads_ = [threading.Thread(target=work, args=(number,)) for number in range(4)]
        for thread in threads_:
            thread.start()
        for thread in threads_:
            thread.join()
        with cluster.nodes[0].worker() as kv:
            kv.wait_sync(TIMEOUT)
            kv.quiesce(TIMEOUT)
            dropped = sum(node.stats()["pushes_dropped"] for node in cluster.nodes)
            exist = kv.contains(keys)
            found = kv.pull(keys)[:, 0]
        assert 0 < dropped < sum(pushed)
        assert found.sum() == sum(pushed) - dropped
        assert (found[~exist] == 0).all()
        assert exist.sum() > 0


@pytest.mark.long
def test_a_lost_node_takes_counts_along_but_no_key() -> None:
    keys = [key * 10**15 - 7 for key in range(40)]
    push = f"kv.push({keys}, values({keys}))"
    exist, held = f"kv.contains({keys}).sum().item()", "node.stats()['keys_held']"
    options = {"heartbeat": 0.1, "lost_after": 1.0, "num_workers": 100, "on_loss": "continue", "replicas": 1}
    with Processes(3, capacity=1000, admission=4, **options) as nodes:
        a, b, c = nodes.nodes
        for actor in (a, b):
            assert actor.value(push) is None
        assert c.value(f"pull({keys})") == [0] * 40
        assert c.value(exist) == 0
        c.send_signal(signal.SIGKILL)
        assert a.value(f"pull({keys})") == [0] * 40  # the fourth use of those that began at a or b
        counted = a.value(exist)
        assert counted == a.value(held) + b.value(held)
        assert 0 < counted < 40
        for actor in (a, b, a, b):
            assert actor.value(push) is None
        assert b.value(exist) == 40
        assert sorted(set(a.value(f"pull({keys})"))) == [2, 4]
        assert a.value(f"kv.delete({keys})") == 40
        assert b.value(f"{push} or {exist}") == 0


def test_keys_that_go_are_counted_anew() -> None:
    with pyps.Server(capacity=100, eviction="lru", admission=3) as server, server.worker() as kv:

        def use(keys: Any) -> None:
            for _ in range(3):
                kv.push(keys, ones(keys))

        first, second = spread(100), spread(100, 1000)
        use(first)
        assert there(kv, first) == 100
        kv.push(spread(500, 2000), ones(spread(500)))  # used once, so none goes for them
        assert server.stats()["keys_evicted"] == 0
        use(second)
        assert server.stats()["keys_evicted"] == 100
        assert there(kv, first) == 0
        for _ in range(2):
            kv.push(first, ones(first))
            assert there(kv, first) == 0
        kv.push(first, ones(first))
        assert (kv.pull(first) == 1).all()
        assert kv.delete(first[:10]) == 10
        for _ in range(2):
            kv.push(first[:10], ones(first[:10]))
            assert there(kv, first[:10]) == 0


def test_keys_that_become_too_old_are_counted_anew() -> None:
    with pyps.Server(max_age=0.1, admission=2) as server, server.worker() as kv:
        for _ in range(2):
            kv.push([7], ones([7]))
        while server.stats()["keys_expired"] == 0:
            pass
        kv.push([7], ones([7]))
        assert not kv.contains([7])[0]


def test_a_key_without_room_stays_admitted() -> None:
    with pyps.Server(capacity=1, admission=3) as server, server.worker() as kv:
        kv.set([1], ones([1]))
        for _ in range(2):
            kv.push([7], ones([7]))
        for _ in range(3):
            with pytest.raises(MemoryError, match="its capacity is 1 keys"):
                kv.push([7], ones([7]))
        kv.delete([1])
        kv.push([7], ones([7]))
        assert kv.pull([7]) == 1


def test_a_memory_limit_counts_the_counts() -> None:
    limit, length = 64_000_000, 64

    def keys_with_room(admission: int) -> int:
        with (
            pyps.Server(value_length=length, memory_limit=limit, admission=admission) as server,
            server.worker() as kv,
        ):

            def fill() -> None:
                for first in range(1, limit, 1000):
                    kv.set(spread(1000, first), np.ones((1000, length), np.float32))

            with pytest.raises(MemoryError, match="memory_limit"):
                fill()
            return server.stats()["keys_held"]

    less = (keys_with_room(1) - keys_with_room(2)) * length * 4
    assert limit / 32 < less < limit / 8  # a sixteenth, and slabs of 1 MiB


@pytest.mark.parametrize("counts", [(1, 1), (1, 2), (2, 1)])
def test_what_a_checkpoint_brings_exists(counts: tuple[int, int], tmp_path: Path) -> None:
    keys = spread(100)
    with Cluster(counts[0], capacity=1000, admission=2) as cluster, cluster.nodes[0].worker() as kv:
        for _ in range(2):
            kv.push(keys[:60], ones(keys[:60]))
        kv.push(keys[60:], ones(keys[60:]))
        save(tmp_path, cluster.nodes)
    with Cluster(counts[1], capacity=1000, admission=200) as cluster, cluster.nodes[-1].worker() as kv:
        load(tmp_path, cluster.nodes)
        assert kv.contains(keys).tolist() == [True] * 60 + [False] * 40
        kv.push(keys, ones(keys))
        assert kv.pull(keys)[:, 0].tolist() == [2] * 60 + [0] * 40


def test_a_table_has_an_admission_of_its_own_and_others_must_agree() -> None:
    with Cluster(2, 10) as cluster:
        for node in cluster.nodes:
            node.table("words", dim=1, admission=2, hash="xxh64")
        with pytest.raises(ValueError, match=r"with other options: capacity=1000000 .* admission=2"):
            cluster.nodes[1].table("words", dim=1, hash="xxh64")
        words = ["one", "two", "three"]
        with cluster.nodes[0].worker() as kv, cluster.nodes[1].worker() as other:
            kv.table("words").push(words, ones(words))
            assert there(other.table("words"), words) == 0
            other.table("words").push(words, ones(words))
            assert (kv.table("words").pull(words) == 1).all()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"admission": 256}, r"admission is 256; it must be in \[1, 255\] uses"),
        ({"admission": -1}, r"admission is -1; it must be in \[1, 255\] uses"),
        ({"admission": 0}, r"admission is 0; it must be in \[1, 255\] uses"),
        ({"admission": 2, "num_keys": 7}, "any numbers, and num_keys is 7: give a capacity instead"),
    ],
)
def test_what_cannot_be_is_refused(options: dict[str, Any], message: str) -> None:
    check_refused(options, message)
