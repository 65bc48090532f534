"""Keys that go because nobody uses them for long: when, which, on which node, and what may not be.

No test expects a key to go early: a machine that has no time for it only makes it go later.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import pytest

import pyps
from tests.pyps.any_keys import spread
from tests.pyps.cluster import TIMEOUT, Cluster
from tests.pyps.refusals import check_refused
from tests.waiting import wait_until

AGE = 0.4  # seconds
KINDS = (None, "lru", "lfu", "age")


def ones(keys: Any) -> Any:
    return np.ones((len(keys), 1), np.float32)


def held(*nodes: pyps.Node) -> int:
    return sum(node.stats()["keys_held"] for node in nodes)


@pytest.mark.parametrize("kind", KINDS)
def test_unused_keys_go_by_themselves_and_not_too_early(kind: str | None) -> None:
    with (
        pyps.Server(max_age=AGE, eviction=kind, optimizer="adagrad:lr=1") as server,
        server.worker() as kv,
    ):
        for count in (1, 20_000):
            keys = spread(count)
            before = time.monotonic()
            kv.push(keys, ones(keys))
            while held(server) == count:
                time.sleep(AGE / 100)
            assert time.monotonic() - before >= AGE
            wait_until(lambda: held(server) == 0)
        stats = server.stats()
        assert stats["keys_expired"] == 20_001
        assert stats["keys_evicted"] == 0
        assert not kv.contains(keys).any()
        assert (kv.pull(keys) == 0).all()
        kv.push(keys[:1], ones(keys[:1]))
        assert np.allclose(kv.pull(keys[:1]), -1)  # the optimizer's sum began anew as well


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_keys_that_are_used_again_and_again_stay(kind: str | None) -> None:
    pulled, pushed, put, unused = keys = spread(4)
    with pyps.Server(max_age=AGE, eviction=kind) as server, server.worker() as kv:
        kv.set(keys, ones(keys))
        begin = used = time.monotonic()
        pulled_went = False
        while time.monotonic() < begin + 4 * AGE:  # as many ticks as a byte counts, and more
            now = time.monotonic()
            pulled_went |= bool(kv.pull([pulled])[0, 0] != 1)
            kv.push([pushed], 0 * ones([pushed]))
            kv.set([put], ones([put]))
            others_stayed = bool(kv.contains([pushed, put]).all())
            if not others_stayed or (pulled_went and kind != "age"):
                assert time.monotonic() - used >= AGE  # this machine stood still meanwhile
            used = now
            time.sleep(AGE / 20)
        assert pulled_went or kind != "age"  # which is the time since the last write
        wait_until(lambda: not kv.contains([unused])[0])


def test_a_full_server_lets_others_go_before_they_are_old() -> None:
    with pyps.Server(capacity=100, max_age=AGE, eviction="lru") as server, server.worker() as kv:
        for first in range(1, 1001, 50):
            keys = spread(50, first)
            kv.push(keys, ones(keys))
        wait_until(lambda: held(server) == 0)
        stats = server.stats()
        assert stats["keys_evicted"] + stats["keys_expired"] == 1000
        assert stats["keys_expired"] >= 50


def test_room_of_old_keys_is_used_again() -> None:
    with pyps.Server(capacity=100, max_age=AGE) as server, server.worker() as kv:
        kv.push(spread(100), ones(spread(100)))
        wait_until(lambda: held(server) == 0)
        assert (kv.pull(spread(100, 1000)) == 0).all()


@pytest.mark.slow
@pytest.mark.parametrize("threads", [pytest.param(1, marks=pytest.mark.long), 3])
def test_on_several_nodes_only_keys_at_home_that_nobody_needs_go(threads: int) -> None:
    with Cluster(2, capacity=10_000, max_age=AGE, server_threads=threads) as cluster:
        first, second = cluster.nodes
        with first.worker() as kv, second.worker() as other:
            keys = spread(400)
            moved, wanted = keys[:20], keys[20:40]
            for worker, some in ((other, moved[:10]), (kv, moved[10:])):
                worker.localize(some)
            for worker in (kv, other):
                worker.intent(wanted, 0, 10)
                worker.quiesce(TIMEOUT)
            kv.push(keys, ones(keys))
            wait_until(lambda: int(kv.contains(keys[40:]).sum()) == 0)
            wait_until(lambda: int(kv.contains(moved).sum()) < 20)  # some were localized where they began
            time.sleep(3 * AGE)
            assert (kv.pull(wanted) == 1).all()
            assert 0 < (kv.pull(moved) == 1).sum() < 20
            for worker in (kv, other):
                for _ in range(20):
                    worker.advance_clock()
                worker.quiesce(TIMEOUT)
            wait_until(lambda: int(kv.contains(wanted).sum()) < 20)
            time.sleep(5 * AGE)
            away = wanted[kv.contains(wanted)]
            assert 0 < len(away) < 20
            assert (kv.pull(away) == 1).all()
            for key in away:  # to the other node, where it began
                is_at_first = kv.pull_if_local([key], ones([key]))
                (other if is_at_first else kv).localize([key])
            wait_until(lambda: not kv.contains(away).any())
            assert sum(node.stats()["keys_expired"] for node in cluster.nodes) >= 360


def test_a_table_has_its_own_greatest_age_and_others_must_agree() -> None:
    with Cluster(2, 10) as cluster:
        tables = [node.table("users", dim=1, max_age=AGE) for node in cluster.nodes]
        with pytest.raises(ValueError, match=r"with other options: capacity=1000000 .* max_age=0.4"):
            cluster.nodes[1].table("users", dim=1, max_age=AGE + 1)
        with cluster.nodes[1].worker() as kv:
            kv.table("users").push(spread(100), ones(spread(100)))
        wait_until(lambda: held(*tables) == 0)
        assert sum(table.stats()["keys_expired"] for table in tables) == 100


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"max_age": 0.05}, r"max_age is 0\.05; it must be at least 0\.1 seconds"),
        ({"max_age": 0}, r"max_age is 0; it must be at least 0\.1 seconds"),
        ({"max_age": 10, "num_keys": 7}, "any numbers, and num_keys is 7: give a capacity instead"),
    ],
)
def test_what_cannot_be_is_refused(options: dict[str, Any], message: str) -> None:
    check_refused(options, message)


def test_replicas_and_a_greatest_age_are_refused() -> None:
    with pytest.raises(ValueError, match="replicas is 1, and max_age lets keys go"):
        pyps.Server(num_nodes=2, capacity=10, replicas=1, max_age=10)
