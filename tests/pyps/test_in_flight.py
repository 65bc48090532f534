"""What a slow or stopped node costs the others: calls that wait, and memory that does not grow."""

from __future__ import annotations

import select
import signal
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pyps
from tests.pyps import nodes
from tests.pyps.cluster import Cluster

TIMEOUT = 20.0
WIDTH = 100
PAIR = 2 * (8 + WIDTH * 8)  # bytes of two keys and their values
MEBI = 1 << 20

Call = Callable[[pyps.Worker, list[int], Any], Any]
CALLS: dict[str, Call] = {
    "pull": lambda kv, keys, vals: kv.pull(keys, vals, asynchronous=True),
    "push": lambda kv, keys, vals: kv.push(keys, vals, asynchronous=True),
    "set": lambda kv, keys, vals: kv.set(keys, vals, asynchronous=True),
    "localize": lambda kv, keys, vals: kv.localize(keys, asynchronous=True),
    "intent": lambda kv, keys, vals: kv.intent(keys * (PAIR // 16), 0, 5),
}


def silenced(in_flight: int, width: int = WIDTH) -> Cluster:
    """A cluster whose network can be stopped."""
    return Cluster(2, 200, width, dtype="int64", slow=True, in_flight=in_flight)


@pytest.mark.slow
@pytest.mark.parametrize("name", CALLS)
def test_a_call_without_room_waits_for_earlier_ones(name: str) -> None:
    """Of a worker that reaches its own node through the network too, as in another process."""
    with (
        silenced(2 * PAIR) as cluster,
        pyps.attach(cluster.nodes[0].address) as node,
        node.worker() as kv,
        ThreadPoolExecutor(1) as pool,
    ):
        kv.pull([1], np.zeros(WIDTH, np.int64))
        done = []

        def work() -> None:
            for number in range(6):
                CALLS[name](kv, [4 * number + 1, 4 * number + 3], np.ones(2 * WIDTH, np.int64))
                done.append(number)

        with cluster.silent():
            working = pool.submit(work)
            time.sleep(0.3)
            assert done == [0, 1]
        working.result(TIMEOUT)
        kv.waitall(TIMEOUT)
        if name in ("push", "set"):
            out = np.zeros((12, WIDTH), np.int64)
            kv.pull(np.arange(1, 25, 2), out)
            assert (out == 1).all()


@pytest.mark.slow
def test_no_more_than_4096_operations_are_on_their_way() -> None:
    with silenced(0, 1) as cluster, cluster.nodes[0].worker() as kv, ThreadPoolExecutor(1) as pool:
        kv.pull([1], np.zeros(1, np.int64))
        one = np.ones(1, np.int64)
        with cluster.silent():
            for _ in range(4096):
                kv.push([1], one, asynchronous=True)
            last = pool.submit(kv.push, [1], one, asynchronous=True)
            time.sleep(0.2)
            assert not last.done()
        last.result(TIMEOUT)
        kv.waitall(TIMEOUT)
        out = np.zeros(1, np.int64)
        kv.pull([1], out)
        assert out[0] == 4097


@pytest.mark.slow
def test_an_operation_larger_than_the_bound_goes_alone() -> None:
    with silenced(100) as cluster, cluster.nodes[0].worker() as kv, ThreadPoolExecutor(1) as pool:
        keys, ones = np.arange(1, 100, 2), np.ones(50 * WIDTH, np.int64)
        kv.pull([1], np.zeros(WIDTH, np.int64))
        with cluster.silent():
            kv.push(keys, ones, asynchronous=True)
            second = pool.submit(kv.push, keys, ones, asynchronous=True)
            time.sleep(0.2)
            assert not second.done()
        second.result(TIMEOUT)
        kv.waitall(TIMEOUT)
        out = np.zeros(50 * WIDTH, np.int64)
        kv.pull(keys, out)
        assert (out == 2).all()


@pytest.mark.slow
def test_what_lives_here_waits_for_no_room() -> None:
    with silenced(PAIR) as cluster, cluster.nodes[0].worker() as kv:
        ones = np.ones(100 * WIDTH, np.int64)
        kv.pull([1], np.zeros(WIDTH, np.int64))
        with cluster.silent():
            kv.push([1, 3], ones[: 2 * WIDTH], asynchronous=True)
            assert kv.push([0], ones[:WIDTH], asynchronous=True) == -1
            assert kv.push(np.arange(0, 200, 2), ones, asynchronous=True) == -1
        kv.waitall(TIMEOUT)


@pytest.mark.slow
def test_finalize_ends_a_wait_for_room() -> None:
    with silenced(PAIR) as cluster, cluster.nodes[0].worker() as kv, ThreadPoolExecutor(1) as pool:
        kv.pull([1], np.zeros(WIDTH, np.int64))
        with cluster.silent():
            kv.push([1, 3], np.ones(2 * WIDTH, np.int64), asynchronous=True)
            waiting = pool.submit(kv.push, [5], np.ones(WIDTH, np.int64), asynchronous=True)
            time.sleep(0.2)
            kv.finalize(0)
            with pytest.raises(pyps.ClosedError):
                waiting.result(TIMEOUT)


def test_a_negative_bound_is_refused() -> None:
    with pytest.raises(ValueError, match="in_flight"):
        pyps.Server(10, 1, in_flight=-1)


@pytest.mark.slow
def test_a_wait_for_room_names_a_lost_node() -> None:
    with nodes.Cluster(2, num_keys=40, lost_after=60.0, in_flight=100) as cluster:
        here, there = cluster.nodes
        there.stop()
        here.write("[kv.push([1], values([1]), asynchronous=True) for _ in range(10)]")
        time.sleep(0.2)
        there.send_signal(signal.SIGKILL)
        report = here.read()
        assert (report["error"], report["node"]) == ("NodeLost", 1)
        assert report["seconds"] < 2


def private_bytes(actor: nodes.Actor) -> int:
    """Memory that a process has for itself, without the store, which is shared."""
    lines = Path(f"/proc/{actor.process.pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("RssAnon:"))


def most_private_bytes(actor: nodes.Actor, seconds: float) -> int:
    """Look at it for so long."""
    end = time.monotonic() + seconds
    most = 0
    while time.monotonic() < end:
        most = max(most, private_bytes(actor))
        time.sleep(0.02)
    return most


def has_answered(actor: nodes.Actor) -> bool:
    assert actor.process.stdout is not None
    return bool(select.select([actor.process.stdout], [], [], 0)[0])


@pytest.mark.slow
def test_pushes_to_a_stopped_node_wait_in_bounded_memory_and_all_arrive() -> None:
    """A hundred pushes of 2 MiB where 16 MiB may be on their way."""
    bound, margin, pushes = 16 * MEBI, 12 * MEBI, 100
    with nodes.Cluster(2, num_keys=256, value_length=2048, lost_after=60.0, in_flight=bound) as cluster:
        here, there = cluster.nodes
        here.value("globals().update(KEYS=list(range(1, 256, 2)), ONES=values(range(128)))")
        here.value("kv.push(KEYS, ONES)")
        before = private_bytes(here)
        there.stop()
        here.write(f"[kv.push(KEYS, ONES, asynchronous=True) for _ in range({pushes})] and None")
        grown = most_private_bytes(here, 1.5) - before
        assert not has_answered(here)
        assert bound / 2 < grown < bound + margin
        there.send_signal(signal.SIGCONT)
        assert "value" in here.read()
        here.value("kv.waitall()")
        assert set(there.value("pull(list(range(1, 256, 2)))")) == {pushes + 1}
        for actor in cluster.nodes:
            actor.leave()
        for actor in cluster.nodes:
            actor.end()


@pytest.mark.slow
@pytest.mark.parametrize("what", ["refreshes", "deltas"])
def test_replicas_at_or_of_a_stopped_node_cost_no_growing_memory(what: str) -> None:
    """Values of 2 MiB that change for 2 s, in which there are hundreds of rounds."""
    with nodes.Cluster(
        2, num_keys=256, value_length=2048, lost_after=60.0, techniques="replication_only"
    ) as cluster:
        here, there = cluster.nodes
        first = 0 if what == "refreshes" else 1  # whose keys
        replicator = there if what == "refreshes" else here
        keys = f"list(range({first}, 256, 2))"
        here.value(f"globals().update(KEYS={keys}, ONES=values({keys}))")
        replicator.value(f"kv.intent({keys}, 0, 100)")
        end = time.monotonic() + TIMEOUT
        while not replicator.value(f"kv.pull_if_local({keys}, values({keys}))"):
            assert time.monotonic() < end
        here.value("[kv.push(KEYS, ONES), kv.wait_sync()]")
        before = private_bytes(here)
        there.stop()
        here.write(
            "(lambda end: sum(kv.push(KEYS, ONES) is None for _ in iter(lambda: time.monotonic() < end, False)))"
            "(time.monotonic() + 2)"
        )
        grown = most_private_bytes(here, 2.2) - before
        there.send_signal(signal.SIGCONT)
        pushes = here.read()["value"]
        assert pushes > 100
        assert grown < 24 * MEBI
        here.value("kv.wait_sync()")
        there.value("kv.wait_sync()")
        assert set(there.value(f"pull({keys})")) == {pushes + 1}
        for actor in cluster.nodes:
            actor.leave()
        for actor in cluster.nodes:
            actor.end()
