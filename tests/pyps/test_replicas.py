"""Servers that keep replicas of their keys: what was acknowledged outlives a killed node, and calls only wait."""

from __future__ import annotations

import signal
import time

import pytest

import pyps
from tests.pyps.nodes import Actor, Cluster

KEYS = list(range(40))
QUICK = {"heartbeat": 0.1, "lost_after": 1.0}
LIMIT = 5.0  # seconds until the keys of a lost node go on
PUSHES = 500

pytestmark = pytest.mark.slow


def cluster(count: int, replicas: int = 1, **options: object) -> Cluster:
    shape = {"num_keys": len(KEYS), "num_workers": 100, "on_loss": "continue"}
    return Cluster(count, **{**shape, **QUICK, "replicas": replicas, **options})


def push(actor: Actor, times: int) -> None:
    """Have it push ones to all keys so many times, and not wait for that."""
    actor.write(f"[kv.push({KEYS}, values({KEYS})) for _ in range({times})] and None")


def check_done(actor: Actor) -> None:
    report = actor.read()
    assert "error" not in report, report
    assert report["seconds"] < LIMIT + 20


@pytest.mark.parametrize("victim", [0, 2])
@pytest.mark.parametrize("attached", [False, True])
def test_each_push_counts_once_though_a_node_is_killed(victim: int, attached: bool) -> None:
    with cluster(3) as nodes:
        others = [actor for rank, actor in enumerate(nodes.nodes) if rank != victim]
        pushers = [nodes.attach(rank) for rank in range(3) if rank != victim] if attached else others
        for actor in pushers:
            push(actor, PUSHES)
        time.sleep(0.1)
        nodes.nodes[victim].send_signal(signal.SIGKILL)
        for actor in pushers:
            check_done(actor)
        for actor in others:
            assert actor.value(f"pull({KEYS})") == [2 * PUSHES] * len(KEYS)
        for actor in reversed(pushers if attached else []):
            actor.end()


def test_what_the_lost_node_itself_was_told_is_there() -> None:
    with cluster(3) as nodes:
        for _ in range(20):
            assert nodes.nodes[2].value(f"kv.push({KEYS}, values({KEYS}))") is None
        nodes.nodes[2].send_signal(signal.SIGKILL)
        assert nodes.nodes[0].value(f"pull({KEYS})") == [20] * len(KEYS)


def test_one_node_after_the_other_may_be_lost() -> None:
    """Keys get new replicas at the nodes that are left, as long as there are any."""
    with cluster(4) as nodes:
        total = 0
        for victim in (3, 1, 2):
            assert nodes.nodes[0].value(f"kv.push({KEYS}, values({KEYS}))") is None
            total += 1
            nodes.nodes[victim].send_signal(signal.SIGKILL)
            assert nodes.nodes[0].value(f"pull({KEYS})") == [total] * len(KEYS)
            time.sleep(1)  # for the new replicas


def test_with_two_replicas_two_nodes_may_be_lost_at_once() -> None:
    with cluster(5, replicas=2) as nodes:
        assert nodes.nodes[4].value(f"kv.push({KEYS}, values({KEYS}))") is None
        for victim in (3, 4):
            nodes.nodes[victim].send_signal(signal.SIGKILL)
        assert nodes.nodes[0].value(f"pull({KEYS})") == [1] * len(KEYS)


@pytest.mark.parametrize("move", ["kv.localize", "kv.intent"])
def test_keys_that_have_moved_to_the_lost_node_come_back(move: str) -> None:
    with cluster(3) as nodes:
        a, b, c = nodes.nodes
        assert a.value(f"kv.push({KEYS}, values({KEYS}))") is None
        arguments = f"({KEYS})" if move == "kv.localize" else f"({KEYS}, 0, 1000)"
        assert c.value(f"{move}{arguments} and None") is None
        assert c.value("kv.wait_sync()") is None
        assert c.value(f"kv.push({KEYS}, values({KEYS}))") is None
        c.send_signal(signal.SIGKILL)
        assert b.value(f"kv.push({KEYS}, values({KEYS}))") is None
        assert a.value(f"pull({KEYS})") == [3] * len(KEYS)


def test_keys_that_were_never_written_have_their_first_values() -> None:
    with pyps.Server(len(KEYS), 3, dtype="int64") as alone, alone.worker() as kv:
        first = kv.pull(KEYS)[:, 0].tolist()
    with cluster(3) as nodes:
        nodes.nodes[2].send_signal(signal.SIGKILL)
        assert nodes.nodes[0].value(f"pull({KEYS})") == first


def test_replicas_that_cannot_be_are_refused() -> None:
    with pytest.raises(ValueError, match=r"replicas is 2; it must be in \[0, 1\]"):
        pyps.Server(10, num_nodes=2, replicas=2)
    with pytest.raises(ValueError, match="no replicas yet"):
        pyps.Server(num_nodes=2, capacity=10, replicas=1)
    with pytest.raises(ValueError, match="negative|must be in"):
        pyps.Server(10, num_nodes=2, replicas=-1)
