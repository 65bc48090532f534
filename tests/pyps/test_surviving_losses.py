"""With on_loss="continue" the other nodes go on with the keys that live when a node is lost."""

from __future__ import annotations

import signal
import time
from typing import Any

import pytest

from tests.pyps.nodes import Cluster

pytestmark = pytest.mark.slow

LIMIT = 5.0
QUICK = {"heartbeat": 0.1, "lost_after": 1.0}
KEYS = 24


def cluster(count: int, **options: Any) -> Cluster:
    return Cluster(count, num_keys=KEYS, on_loss="continue", **QUICK, **options)


@pytest.mark.parametrize("count", [2, 4])
@pytest.mark.parametrize("victim", ["first", "last"])
def test_the_others_go_on_with_the_keys_that_live(count: int, victim: str) -> None:
    lost = 0 if victim == "first" else count - 1
    living = [key for key in range(KEYS) if key % count != lost]
    with cluster(count) as nodes:
        alive = [actor for rank, actor in enumerate(nodes.nodes) if rank != lost]
        for actor in alive:
            actor.value(f"kv.push({living}, values({living}))")
        nodes.nodes[lost].send_signal(signal.SIGKILL)
        for actor in alive:
            for _ in range(2):  # each time
                report = actor.until(f"pull([{lost}])", "NodeLost")
                assert report["node"] == lost
        for actor in alive:
            assert actor.value(f"pull({living})") == [len(alive)] * len(living)
            assert actor.do(f"kv.localize([{lost + count}])")["node"] == lost
        alive[0].value(f"kv.localize({living})")
        alive[-1].value(f"kv.push({living}, values({living}))")
        assert alive[0].value(f"pull({living})") == [len(alive) + 1] * len(living)


def test_keys_outlive_their_home() -> None:
    with cluster(3) as nodes:
        nodes.nodes[0].value("kv.localize([2, 5])")  # whose home is node 2
        nodes.nodes[0].value("kv.push([2, 5], values([2, 5], 7))")
        nodes.nodes[2].send_signal(signal.SIGKILL)
        nodes.nodes[1].until("pull([8])", "NodeLost")
        assert nodes.nodes[1].value("pull([2, 5])") == [7, 7]
        nodes.nodes[1].value("kv.localize([2, 5])")
        nodes.nodes[0].value("kv.push([2, 5], values([2, 5]))")
        assert nodes.nodes[1].value("pull([2, 5])") == [8, 8]


def test_a_call_that_waits_for_a_lost_node_raises_once() -> None:
    with cluster(3) as nodes:
        nodes.nodes[2].stop()
        nodes.nodes[0].write("everything([2], CALLS[:-1])")  # a barrier goes on without the lost node
        time.sleep(0.2)
        nodes.nodes[2].send_signal(signal.SIGKILL)
        for name, report in nodes.nodes[0].read()["value"].items():
            assert (report["error"], report["node"]) == ("NodeLost", 2), name
            assert report["seconds"] < LIMIT


def test_replicas_go_on() -> None:
    with cluster(3, techniques="replication_only") as nodes:
        for actor in nodes.nodes:
            actor.value("kv.intent([0, 1, 2], 0, 1000)")
        time.sleep(0.5)
        for actor in nodes.nodes:
            actor.value("kv.push([0, 1, 2], values([0, 1, 2]))")
        time.sleep(0.5)
        nodes.nodes[2].send_signal(signal.SIGKILL)
        for actor in nodes.nodes[:2]:
            actor.until("pull([2])", "NodeLost")  # its replica is no value
            actor.value("kv.push([0, 1], values([0, 1]))")
        for actor in nodes.nodes[:2]:
            end = time.monotonic() + LIMIT
            while actor.value("pull([0, 1])") != [5, 5]:
                assert time.monotonic() < end
                time.sleep(0.02)


def test_a_node_that_comes_back_cannot_write() -> None:
    with cluster(3) as nodes:
        nodes.nodes[2].value("kv.localize([0])")
        nodes.nodes[2].stop()
        for actor in nodes.nodes[:2]:
            actor.until("pull([2])", "NodeLost")
        nodes.nodes[2].send_signal(signal.SIGCONT)
        report = nodes.nodes[2].until("kv.push([1], values([1], 100))", "NodeLost")
        assert report["node"] == 2
        assert "was declared lost by node" in report["text"]
        assert nodes.nodes[0].value("pull([1, 3])") == [0, 0]
        assert nodes.nodes[1].do("pull([0])")["node"] == 2  # it went with the lost node


def test_the_smaller_side_ends() -> None:
    """Of four nodes two are stopped, then the other two: when these run again they are the smaller half."""
    with cluster(4) as nodes:
        for actor in nodes.nodes[2:]:
            actor.stop()
        nodes.nodes[0].until("pull([3])", "NodeLost")
        nodes.nodes[1].until("pull([2])", "NodeLost")
        assert nodes.nodes[1].value("pull([0, 1])") == [0, 0]
        for actor in nodes.nodes[2:]:
            actor.send_signal(signal.SIGCONT)
        for rank in (2, 3):
            report = nodes.nodes[rank].until("pull([0])", "NodeLost")
            assert report["node"] == rank


def test_nodes_are_lost_one_after_the_other() -> None:
    with cluster(4) as nodes:
        nodes.nodes[3].value("kv.localize([0, 1, 2])")
        for lost in range(3):
            nodes.nodes[lost].send_signal(signal.SIGKILL)
            nodes.nodes[3].until(f"pull([{lost + 4}])", "NodeLost")
            assert nodes.nodes[3].value("pull([0, 1, 2, 3])") == [0] * 4
        for lost in range(3):
            assert nodes.nodes[3].do(f"pull([{lost + 4}])")["node"] == lost
        nodes.nodes[3].end()
