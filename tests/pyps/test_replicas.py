"""Servers that keep replicas of their keys: what was acknowledged outlives a killed node, and calls only wait."""

from __future__ import annotations

import signal
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pyps
from tests import soak
from tests.pyps import replica_kills
from tests.pyps.nodes import Actor, Cluster

COUNT = 40
QUICK = {"heartbeat": 0.1, "lost_after": 1.0}
LIMIT = 5.0  # seconds until the keys of a lost node go on
PUSHES = 500

pytestmark = pytest.mark.long


@dataclass(frozen=True)
class Kind:
    """Which keys a cluster has, and `COUNT` of them."""

    options: dict[str, Any]
    keys: list[int]

    def cluster(self, count: int, replicas: int = 1, **options: Any) -> Cluster:
        shape = {**self.options, "num_workers": 100, "on_loss": "continue"}
        return Cluster(count, **{**shape, **QUICK, "replicas": replicas, **options})

    @property
    def push(self) -> str:
        return f"kv.push({self.keys}, values({self.keys}))"

    def ones(self, times: int) -> list[int]:
        return [times] * COUNT


RANGE = Kind({"num_keys": COUNT}, list(range(COUNT)))
ANY = Kind({"capacity": 1000}, [key * 10**15 - 7 for key in range(COUNT)])

KINDS = {
    "a range": RANGE,
    "any numbers": ANY,
    "two threads": Kind({"num_keys": COUNT, "server_threads": 2}, RANGE.keys),
    "two lengths": Kind({"capacity": 1000, "lengths": [3, 2]}, RANGE.keys),
}


@pytest.fixture(params=KINDS.values(), ids=KINDS)
def kind(request: pytest.FixtureRequest) -> Kind:
    found: Kind = request.param
    return found


def lose(nodes: Cluster, rank: int) -> None:
    nodes.nodes[rank].send_signal(signal.SIGKILL)


def check_done(actor: Actor) -> None:
    """Its calls came back without an error, and soon."""
    report = actor.read()
    assert "error" not in report, report
    assert report["seconds"] < LIMIT + 20


@pytest.mark.timeout(60 * soak.times(3))
def test_nodes_that_are_killed_at_any_moment_take_nothing_along() -> None:
    assert max(replica_kills.run(soak.times(3))) < LIMIT


@pytest.mark.parametrize("victim", [0, 2])
@pytest.mark.parametrize("attached", [False, True])
def test_each_push_counts_once_though_a_node_is_killed(kind: Kind, victim: int, attached: bool) -> None:
    with kind.cluster(3) as nodes:
        others = [actor for rank, actor in enumerate(nodes.nodes) if rank != victim]
        pushers = [nodes.attach(rank) for rank in range(3) if rank != victim] if attached else others
        for actor in pushers:
            actor.write(f"[{kind.push} for _ in range({PUSHES})] and None")
        time.sleep(0.1)
        lose(nodes, victim)
        for actor in pushers:
            check_done(actor)
        for actor in others:
            assert actor.value(f"pull({kind.keys})") == kind.ones(2 * PUSHES)
        for actor in reversed(pushers if attached else []):
            actor.end()


def test_what_the_lost_node_itself_was_told_is_there(kind: Kind) -> None:
    with kind.cluster(3) as nodes:
        for _ in range(20):
            assert nodes.nodes[2].value(kind.push) is None
        lose(nodes, 2)
        assert nodes.nodes[0].value(f"pull({kind.keys})") == kind.ones(20)


def test_one_node_after_the_other_may_be_lost(kind: Kind) -> None:
    """Keys get new replicas at the nodes that are left, as long as there are any."""
    with kind.cluster(4) as nodes:
        for total, victim in enumerate((3, 1, 2), 1):
            assert nodes.nodes[0].value(kind.push) is None
            lose(nodes, victim)
            assert nodes.nodes[0].value(f"pull({kind.keys})") == kind.ones(total)
            time.sleep(1)  # for the new replicas


def test_keys_are_taken_over_in_groups() -> None:
    """Of 400 and more, of which one follows when another is done."""
    keys = "np.arange(10_000)"
    with Cluster(3, num_keys=10_000, on_loss="continue", num_workers=100, replicas=1, **QUICK) as nodes:
        assert nodes.nodes[0].value(f"kv.push({keys}, values({keys}))") is None
        lose(nodes, 2)
        for total, actor in enumerate(nodes.nodes[:2], 1):
            assert actor.value(f"np.unique(pull({keys}))") == [total]
            assert actor.value(f"kv.push({keys}, values({keys}))") is None
        assert nodes.nodes[0].value(f"np.unique(pull({keys}))") == [3]


def test_a_key_moves_though_it_is_written_all_the_time() -> None:
    """A move waits for the copies of writes that came before it, not for those of later ones."""
    with RANGE.cluster(3) as nodes:
        writers = [nodes.attach(rank) for rank in (0, 1, 2)]
        for writer in writers:
            writer.write(
                "repeat(lambda _: [kv.push([0], values([0]), True) for _ in range(100)] and None, 4)"
            )
        time.sleep(0.5)
        started = time.monotonic()
        for turn in range(10):
            assert nodes.nodes[turn % 3].value("kv.localize([0])") is None
        assert time.monotonic() - started < 2  # they write until 3.5 s
        calls = 0
        for writer in writers:
            report = writer.read()["value"]
            assert report["errors"] == []
            calls += report["calls"]
        for writer in reversed(writers):
            assert writer.value("kv.waitall()") is None
            writer.end()
        assert nodes.nodes[0].value("pull([0])") == [100 * calls]


def test_two_at_once_are_both_named_with_what_helps(kind: Kind) -> None:
    """More than there are replicas: keys of which the second one had the copies are gone."""
    with kind.cluster(5) as nodes:
        assert nodes.nodes[4].value(kind.push) is None
        for victim in (3, 4):
            nodes.nodes[victim].stop()
        for victim in (3, 4):
            lose(nodes, victim)
        report = nodes.nodes[0].until(f"pull({kind.keys})", "NodeLost", limit=20)
        assert report["node"] in (3, 4)
        assert "nodes 3, 4 were lost before keys had new copies, and replicas is 1" in report["text"]
        assert "load the last checkpoint" in report["text"]


@pytest.mark.parametrize("pause", [0.0, 0.05])
def test_with_two_replicas_two_nodes_may_be_lost_at_once(kind: Kind, pause: float) -> None:
    """Or the second before the first one's keys have new copies."""
    with kind.cluster(5, replicas=2) as nodes:
        assert nodes.nodes[4].value(kind.push) is None
        for victim in (3, 4):
            time.sleep(pause)
            lose(nodes, victim)
        assert nodes.nodes[0].value(f"pull({kind.keys})") == kind.ones(1)


@pytest.mark.parametrize("move", ["localize", "intent"])
def test_keys_that_have_moved_to_the_lost_node_come_back(kind: Kind, move: str) -> None:
    with kind.cluster(3) as nodes:
        a, b, c = nodes.nodes
        assert a.value(kind.push) is None
        arguments = f"({kind.keys})" if move == "localize" else f"({kind.keys}, 0, 1000)"
        assert c.value(f"kv.{move}{arguments} and None") is None
        assert c.value("kv.wait_sync()") is None
        assert c.value(kind.push) is None
        lose(nodes, 2)
        assert b.value(kind.push) is None
        assert a.value(f"pull({kind.keys})") == kind.ones(3)


def test_keys_that_were_never_written_have_their_first_values(kind: Kind) -> None:
    with kind.cluster(3) as nodes:
        lose(nodes, 2)
        for actor in nodes.nodes[:2]:
            assert actor.value(f"pull({kind.keys})") == kind.ones(0)
        assert nodes.nodes[0].value(kind.push) is None
        assert nodes.nodes[1].value(f"pull({kind.keys})") == kind.ones(1)


def test_what_was_deleted_stays_deleted() -> None:
    gone, kept = ANY.keys[::2], ANY.keys[1::2]
    with ANY.cluster(3) as nodes:
        a, b, _ = nodes.nodes
        assert a.value(ANY.push) is None
        assert a.value(f"kv.delete({gone})") == len(gone)
        lose(nodes, 2)
        assert b.value(f"kv.contains({gone}).tolist()") == [False] * len(gone)
        assert b.value(f"kv.contains({kept}).tolist()") == [True] * len(kept)
        assert a.value(f"pull({kept})") == [1] * len(kept)
        assert b.value(f"kv.delete({kept})") == len(kept)
        assert a.value(f"kv.contains({ANY.keys}).tolist()") == [False] * COUNT
        assert a.value(f"pull({ANY.keys})") == ANY.ones(0)


@pytest.mark.parametrize("shape", ["num_keys=40", "capacity=1000"])
def test_a_table_has_replicas_of_its_optimizer_too(shape: str) -> None:
    keys = list(range(COUNT))
    options = 'dtype="float32", optimizer="adagrad:lr=0.1"'
    table = f'node.table("t", 2, {shape}, {options})'
    push = f'kv.table("t").push({keys}, np.ones((40, 2), np.float32))'
    with pyps.Server(COUNT, 2, optimizer="adagrad:lr=0.1") as server, server.worker() as kv:
        for _ in range(4):
            kv.push(keys, np.ones((COUNT, 2), np.float32))
        expected = kv.pull(keys)
    with RANGE.cluster(3) as nodes:
        a, b, c = nodes.nodes
        for actor in nodes.nodes:
            actor.write(f"{table} and None")
        for actor in nodes.nodes:
            check_done(actor)
        for actor in (a, c):
            assert actor.value(push) is None
        lose(nodes, 2)
        for actor in (b, a):
            assert actor.value(push) is None
        assert (np.array(b.value(f'kv.table("t").pull({keys}).tolist()'), np.float32) == expected).all()


@pytest.mark.parametrize("wants", [False, True])
def test_a_loaded_checkpoint_has_replicas(kind: Kind, wants: bool, tmp_path: Path) -> None:
    first = np.arange(3 * COUNT).reshape(COUNT, 3) + 1
    options = {**kind.options, "value_length": kind.options.get("lengths", 3)}
    options.pop("lengths", None)
    with pyps.Server(**options, dtype="int64") as server, server.worker() as kv:
        kv.push(kind.keys, first)
        pyps.checkpoint.save(tmp_path, server)
    with kind.cluster(3) as nodes:
        for actor in nodes.nodes:  # so that other nodes have replicas of keys, too
            if wants:
                assert actor.value(f"kv.intent({kind.keys}, 0, 1000) and None") is None
        for actor in nodes.nodes:
            actor.write(f"pyps.checkpoint.load({str(tmp_path)!r}, node) and None")
        for actor in nodes.nodes:
            check_done(actor)
        lose(nodes, 2)
        assert nodes.nodes[0].value(f"pull({kind.keys})") == first[:, 0].tolist()


def test_statistics_tell_of_copies_and_of_keys_that_lack_them() -> None:
    bytes_of_a_key = 3 * 8
    with RANGE.cluster(3) as nodes:
        a, b, _ = nodes.nodes
        assert a.value(RANGE.push) is None
        of_last = len(RANGE.keys[2::3])  # whose copies node 0 has
        until(a, [of_last, bytes_of_a_key * of_last, 0])
        lose(nodes, 2)
        assert a.value(f"pull({RANGE.keys})") == RANGE.ones(1)
        for actor, other in ((a, b), (b, a)):
            kept = other.value("node.stats()['keys_held']")
            until(actor, [kept, bytes_of_a_key * kept, 0])


def until(actor: Actor, expected: list[int]) -> None:
    """Wait until its node counts so many copies, bytes of them, and keys that lack copies."""
    end = time.monotonic() + 10
    source = "[node.stats()[name] for name in ('copies_held', 'copy_bytes', 'keys_lacking_copies')]"
    while (counted := actor.value(source)) != expected:
        assert time.monotonic() < end, counted
        time.sleep(0.05)


def test_a_node_alone_has_no_replicas() -> None:
    with pyps.Server(10, 2, replicas=1) as server, server.worker() as kv:
        kv.push([3], np.ones((1, 2), np.float32))
        assert kv.pull([3]).tolist() == [[1, 1]]


def test_replicas_that_cannot_be_are_refused() -> None:
    with pytest.raises(ValueError, match=r"replicas is 2; it must be in \[0, 1\]"):
        pyps.Server(10, num_nodes=2, replicas=2)
    with pytest.raises(ValueError, match="bring back what was let go"):
        pyps.Server(num_nodes=2, capacity=10, replicas=1, eviction="lru")
    with pytest.raises(ValueError, match=r"replicas is -1; it must be in"):
        pyps.Server(10, num_nodes=2, replicas=-1)
