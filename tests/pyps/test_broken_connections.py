"""What happens when a TCP connection breaks while the nodes at both its ends live: messages may be lost with it."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from typing import Any

import pytest

from tests.pyps.hostile import dealer, node_name, worker_name
from tests.pyps.nodes import Cluster
from tests.pyps.wires import Wires

pytestmark = pytest.mark.slow

LIMIT = 5.0  # seconds until everybody must know
QUICK = {"heartbeat": 0.1, "lost_after": 1.0}
KEYS = 24
CALLS = ["pull", "push", "set", "localize", "wait", "waitall", "barrier"]


@pytest.fixture
def wires() -> Iterator[Wires]:
    with Wires() as wires:
        yield wires


def cluster(count: int, wires: Wires, **options: Any) -> Cluster:
    return Cluster(count, between=wires.between, num_keys=KEYS, num_workers=100, **options)


@pytest.mark.parametrize("count", [pytest.param(2, marks=pytest.mark.long), 3])
@pytest.mark.parametrize("ways", [[(0, 1), (1, 0)], [(0, 1)], [(1, 0)]], ids=["both", "there", "back"])
def test_every_waiting_call_names_the_other_end(
    wires: Wires, count: int, ways: list[tuple[int, int]]
) -> None:
    with cluster(count, wires) as nodes:
        attached = nodes.attach(0)
        for one, other in ways:
            wires.hold(one, other)
        waiting = [(nodes.nodes[0], 1), (attached, 1), (nodes.nodes[1], 0)]
        for actor, key in waiting:
            actor.write(f"everything([{key}], {CALLS if (1 - key, key) in ways else ['barrier']})")
        for actor in nodes.nodes[2:]:
            actor.write("everything([2], ['barrier'])")
        for one, other in ways:
            wires.wait_until_held(one, other)
        time.sleep(
            1
        )  # how many messages there are depends on whether the key was called for before it was pulled
        for one, other in ways:
            wires.reset(one, other)
        for actor, other in waiting:
            for name, report in actor.read()["value"].items():
                assert (report.get("error"), report.get("node")) == ("NodeLost", other), (name, report)
                assert "broke" in report["text"]
                assert report["seconds"] < LIMIT
        for actor in nodes.nodes[2:]:
            report = actor.read()["value"]["barrier"]
            assert report["error"] == "NodeLost"
            assert report["node"] in (0, 1)


def test_everybody_learns_of_a_broken_connection_that_nobody_waits_for(wires: Wires) -> None:
    with cluster(3, wires) as nodes:
        wires.reset(2, 1, "N")
        for actor, others in zip(nodes.nodes, ({1, 2}, {2}, {1}), strict=True):
            assert actor.until("pull([0])", "NodeLost")["node"] in others


@pytest.mark.parametrize("kind", ["thread", "process"])
def test_a_worker_whose_connection_breaks_raises_and_goes_on(wires: Wires, kind: str) -> None:
    with cluster(2, wires, **QUICK) as nodes:
        actor = nodes.nodes[0] if kind == "thread" else nodes.attach(0)
        actor.value("pull([1])")
        wires.hold(0, 1, "W")
        for call in ("pull", "push", "set", "wait", "waitall"):
            actor.write(f"call(kv, {call!r}, [1])")
            wires.wait_until_held(0, 1)
            wires.reset(0, 1, "W")
            report = actor.read()
            assert (report["error"], report["node"]) == ("NodeLost", 1), call
            assert "this worker's connection to node 1 broke" in report["text"]
            assert report["seconds"] < LIMIT
            assert actor.until("pull([1])", None)["value"] == [0]  # what was held up has not been done
            wires.hold(0, 1, "W")
        wires.reset(0, 1, "W")
        nodes.nodes[1].value("kv.push([0, 1], values([0, 1], 5))")
        assert actor.value("pull([0, 1])") == [5, 5]


def test_nodes_that_are_reached_by_name_are_told_apart(wires: Wires) -> None:
    """ZeroMQ names a connection that it makes again by the address that it found."""

    def by_name(endpoints: Sequence[str]) -> list[list[str]]:
        return [[way.replace("127.0.0.1", "localhost") for way in ways] for ways in wires.between(endpoints)]

    with Cluster(3, between=by_name, num_keys=KEYS, num_workers=100, **QUICK) as nodes:
        actor = nodes.nodes[0]
        actor.value("pull([1, 2])")
        for lost in (2, 1, 2):
            wires.hold(0, lost, "W")
            actor.write(f"call(kv, 'pull', [{lost}])")
            wires.wait_until_held(0, lost)
            wires.reset(0, lost, "W")
            report = actor.read()
            assert (report["error"], report["node"]) == ("NodeLost", lost)
            assert actor.until(f"pull([{lost}])", None)["value"] == [0]


def test_asking_whether_an_operation_is_done_tells_that_it_is_lost(wires: Wires) -> None:
    with cluster(2, wires, **QUICK) as nodes:
        actor = nodes.nodes[0]
        actor.value("pull([1])")
        wires.hold(0, 1, "W")
        actor.value("globals().update(out=values([1]))")
        actor.value("globals().update(op=kv.pull([1], out, asynchronous=True)) or kv.is_finished(op)")
        wires.wait_until_held(0, 1)
        wires.reset(0, 1, "W")
        report = actor.until("kv.is_finished(op)", "NodeLost")
        assert report["node"] == 1
        assert actor.value("kv.waitall()") is None


@pytest.mark.parametrize("call", ["kv.localize([1])", "kv.wait_sync()"])
def test_what_waits_for_the_own_node_raises_when_that_connection_breaks(wires: Wires, call: str) -> None:
    with cluster(2, wires, **QUICK) as nodes:
        actor = nodes.attach(0)
        actor.value("pull([1])")
        wires.hold(0, 0, "W")
        actor.write(call)
        wires.wait_until_held(0, 0)
        wires.reset(0, 0, "W")
        report = actor.read()
        assert (report["error"], report["node"]) == ("NodeLost", 0)
        assert report["seconds"] < LIMIT
        actor.until(call, None)
        assert nodes.nodes[1].value("pull([0, 1])") == [0, 0]


def test_a_connection_that_carries_nothing_any_more_counts_as_broken(wires: Wires) -> None:
    with cluster(2, wires, **QUICK) as nodes:
        wires.hold(0, 1, "N")
        report = nodes.nodes[0].do("kv.localize([1])")
        assert (report["error"], report["node"]) == ("NodeLost", 1)
        assert "broke" in report["text"]
        assert report["seconds"] < LIMIT
        assert nodes.nodes[1].until("pull([0])", "NodeLost")["node"] == 0


@pytest.mark.long
@pytest.mark.parametrize("kind", ["node", "worker"])
def test_who_takes_a_living_ones_name_breaks_its_connection(kind: str) -> None:
    """Without CURVE any name is believed; ZeroMQ reads no more of the connection that had it, and says nothing."""
    endpoints: list[str] = []

    def note(found: list[str]) -> list[list[str]]:
        endpoints.extend(found)
        return [found, found]

    with Cluster(2, between=note, num_keys=KEYS, **QUICK) as nodes:
        actor = nodes.nodes[1]
        name = node_name(1, 5) if kind == "node" else worker_name(1, actor.value("kv.id"), 5)
        with dealer(endpoints[0], name) as stranger:
            stranger.send(b"")
            nodes.nodes[0].until("1 / (node.stats()['refused'] == 0)", "ZeroDivisionError")
            report = actor.do("kv.localize([0])" if kind == "node" else "pull([0])")
            assert (report["error"], report["node"]) == ("NodeLost", 0)
            assert "broke" in report["text"]
            assert report["seconds"] < LIMIT


def test_workers_of_the_nodes_process_reach_it_without_the_network(wires: Wires) -> None:
    with cluster(2, wires, **QUICK) as nodes:
        actor, attached = nodes.nodes[0], nodes.attach(0)
        wires.hold(0, 0, "W")
        actor.value("kv.localize([1])")
        actor.value("kv.wait_sync()")
        assert attached.do("kv.wait_sync(timeout=0.5)")["error"] == "WaitTimeoutError"


@pytest.mark.parametrize("letters", ["W", "V"])
def test_connections_with_nothing_under_way_lose_nothing(wires: Wires, letters: str) -> None:
    """Of workers, and the links of nodes, which carry nothing about keys."""
    with cluster(2, wires) as nodes:
        nodes.nodes[0].value("pull([1])")
        for _ in range(3):
            wires.reset(0, 1, letters)
            time.sleep(0.5)
            nodes.nodes[0].value("kv.push([0, 1], values([0, 1]))")
        time.sleep(1.0)
        assert nodes.nodes[1].value("pull([0, 1])") == [3, 3]


@pytest.mark.parametrize("ways", [[(0, 2), (2, 0)], [(1, 2)], [(2, 1)], [(1, 0)]])
def test_one_of_the_two_goes_and_the_others_go_on(wires: Wires, ways: list[tuple[int, int]]) -> None:
    """And no key has two owners: what a node pushes that is in is seen by all that are in."""
    ends = set(ways[0])
    with cluster(3, wires, on_loss="continue", **QUICK) as nodes:
        for actor in nodes.nodes:
            actor.value(f"kv.push(list(range({KEYS})), values(list(range({KEYS}))))")
        for one, other in ways:
            wires.hold(one, other, "N")
        nodes.nodes[ways[0][0]].write(f"kv.localize([{ways[0][1]}])")
        wires.wait_until_held(*ways[0])
        for one, other in ways:
            wires.reset(one, other, "N")
        nodes.nodes[ways[0][0]].read()
        gone = out_of(nodes, ends)
        others = [actor for rank, actor in enumerate(nodes.nodes) if rank != gone]
        living = [key for key in range(KEYS) if key % 3 != gone]
        for actor in others:
            for key in (gone, gone + 3):
                assert actor.until(f"pull([{key}])", "NodeLost")["node"] == gone
        alive = [key for key in living if "value" in others[0].do(f"pull([{key}])")]
        assert len(alive) >= len(living) - 1  # a key that was on its way over the connection may be lost
        before = others[0].value(f"pull({alive})")
        for actor in others:
            actor.value(f"kv.push({alive}, values({alive}))")
        for actor in others:
            assert actor.value(f"pull({alive})") == [value + 2 for value in before]
        report = nodes.nodes[gone].do("kv.push([0, 1, 2], values([0, 1, 2]))")
        assert (report["error"], report["node"]) == ("NodeLost", gone)


def out_of(nodes: Cluster, ends: set[int]) -> int:
    """Wait until one of these nodes is no member any more; return which."""
    end = time.monotonic() + LIMIT
    while time.monotonic() < end:
        for rank in ends:
            if "no member any more" in nodes.nodes[rank].do(f"pull([{rank}])").get("text", ""):
                return rank
        time.sleep(0.05)
    raise AssertionError("both are members")


@pytest.mark.parametrize("on_loss", ["fail", "continue"])
def test_a_planned_end_is_no_broken_connection(wires: Wires, on_loss: str) -> None:
    with cluster(3, wires, on_loss=on_loss, **QUICK) as nodes:
        nodes.nodes[2].value("node.shutdown(timeout=0)")
        nodes.nodes[2].end()
        time.sleep(1.0)
        for actor in nodes.nodes[:2]:
            report = actor.do("pull([2])")
            assert (report["error"], report["node"]) == ("NodeLost", 2)
            first_heard_of_another = on_loss == "continue" and "node 2 was lost, says node" in report["text"]
            assert first_heard_of_another or "node 2 has shut down" in report["text"]
        if on_loss == "continue":
            assert nodes.nodes[0].value("pull([0, 1])") == [0, 0]


@pytest.mark.parametrize("on_loss", ["fail", "continue"])
def test_who_does_not_hear_that_all_end_together_ends_all_the_same(wires: Wires, on_loss: str) -> None:
    """It sees others go before it knows that all have come to their end; nobody is harmed by that."""
    with cluster(3, wires, on_loss=on_loss) as nodes:
        wires.hold(0, 2, "N")
        for actor in nodes.nodes:
            actor.leave()
        began = time.monotonic()
        for actor in nodes.nodes:
            assert actor.read() == "ended"
            assert actor.process.wait(LIMIT) == 0
        assert time.monotonic() - began < LIMIT
