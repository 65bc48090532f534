"""Nodes that join a cluster that works: keys move to them, no call fails, and nothing is lost."""

from __future__ import annotations

import signal
import time
from typing import Any

import pytest

from tests.pyps import joins
from tests.pyps.nodes import Actor, Cluster
from tests.pyps.test_leaving import KEYS, LONGEST, QUICK, SHAPES, begin_to_push, check_pushes, leave, totals
from tests.waiting import wait_until

PLACES = 5
pytestmark = pytest.mark.slow


def cluster(count: int, **options: Any) -> Cluster:
    shape = {"num_keys": 4000, "replicas": 1, "places": PLACES, **QUICK, **options}
    if "capacity" in options:
        del shape["num_keys"]
    return Cluster(count, **shape)


def wait_for_keys(actor: Actor, least: int) -> None:
    """Wait until so many keys live on a node."""
    wait_until(lambda: actor.value("node.stats()['keys_held']") >= least)


def wait_for_members(actors: list[Actor], expected: list[int]) -> None:
    """Wait until all have heard of the epoch: the node that joins may be the first."""
    for actor in actors:
        wait_until(lambda actor=actor: actor.value("node.members") == expected)


@pytest.mark.parametrize(
    "shape",
    [
        pytest.param(shape, id=name, marks=[pytest.mark.long] if name.startswith("two") else [])
        for name, shape in SHAPES.items()
    ],
)
def test_others_push_on_while_a_node_joins(shape: dict[str, Any]) -> None:
    with cluster(2, **shape) as nodes:
        first, second = nodes.nodes
        third, line = nodes.prepare()
        for actor in (first, second):
            begin_to_push(actor, 900)
        third.write(line)
        assert third.read() == "ready"
        begin_to_push(third, 500)
        longest = max(check_pushes(actor) for actor in (first, second, third))
        wait_for_keys(third, len(KEYS) // 5)
        assert totals(third) == totals(first) == [2 * 900 + 500]
        assert longest < LONGEST


@pytest.mark.long
def test_two_go_on_without_a_long_wait_while_a_third_joins() -> None:
    found = joins.join_one(20_000, 4.0)
    assert found.calls > 0
    assert found.longest < LONGEST


def test_nodes_join_one_after_another_and_leave_again() -> None:
    with cluster(1) as nodes:
        (first,) = nodes.nodes
        begin_to_push(first, 1)
        check_pushes(first)
        for count in range(2, PLACES + 1):
            joined = nodes.join()
            wait_for_members(nodes.nodes, list(range(count)))
            begin_to_push(joined, 1)
            check_pushes(joined)
        assert first.value("node.free_places()") == []
        for actor in nodes.nodes:
            assert actor.value("(node.first_refusal(), node.stats()['nodes_lost'])") == ["", 0]
        for actor in nodes.nodes[:3]:
            assert "value" in leave(actor)
        last = nodes.nodes[-1]
        wait_for_members(nodes.nodes[3:], [3, 4])
        assert totals(last) == [PLACES]


def test_two_that_join_at_once_are_both_let_in() -> None:
    with cluster(2) as nodes:
        begin_to_push(nodes.nodes[0], 1)
        check_pushes(nodes.nodes[0])
        joining = [nodes.prepare(rank) for rank in (2, 4)]
        for actor, line in joining:
            actor.write(line)
        assert [actor.read() for actor, _ in joining] == ["ready", "ready"]
        wait_for_members(nodes.nodes, [0, 1, 2, 4])
        assert totals(joining[1][0]) == [1]


@pytest.mark.parametrize(
    "lost", [0, pytest.param(1, marks=pytest.mark.long), pytest.param(2, marks=pytest.mark.long)]
)
def test_a_member_is_killed_while_a_node_joins(lost: int) -> None:
    """The joiner is let in all the same, and every push that was acknowledged is there."""
    with cluster(3) as nodes:
        others = [actor for actor in nodes.nodes if actor is not nodes.nodes[lost]]
        joined, line = nodes.prepare()
        for actor in others:
            begin_to_push(actor, 300)
        joined.write(line)
        time.sleep(0.1 * lost)
        nodes.nodes[lost].send_signal(signal.SIGKILL)
        assert joined.read() == "ready"
        for actor in others:
            check_pushes(actor)
        assert totals(joined) == totals(others[0]) == [2 * 300]
        wait_for_members([joined, *others], [rank for rank in range(4) if rank != lost])


def test_a_node_that_has_joined_is_killed() -> None:
    with cluster(2) as nodes:
        joined = nodes.join()
        for actor in nodes.nodes[:2]:
            begin_to_push(actor, 300)
        wait_for_keys(joined, 1000)
        joined.send_signal(signal.SIGKILL)
        for actor in nodes.nodes[:2]:
            check_pushes(actor)
        assert totals(nodes.nodes[0]) == [2 * 300]
        another = nodes.join()  # takes another number
        assert another.value("node.rank") == 3
        assert totals(another) == [2 * 300]


def test_a_node_that_is_killed_before_it_is_let_in_stops_nobody() -> None:
    with cluster(2) as nodes:
        begin_to_push(nodes.nodes[0], 1)
        check_pushes(nodes.nodes[0])
        killed, line = nodes.prepare()
        nodes.nodes[1].stop()  # so it is not let in
        killed.write(line)
        time.sleep(0.3)
        killed.send_signal(signal.SIGKILL)
        nodes.nodes[1].send_signal(signal.SIGCONT)
        begin_to_push(nodes.nodes[0], 20)
        assert check_pushes(nodes.nodes[0]) < 3 * LONGEST
        assert nodes.join().value("node.rank") == 3
        assert totals(nodes.nodes[1]) == [21]


def test_a_stopped_node_does_not_go_on_beside_one_that_was_let_in_meanwhile() -> None:
    """When it runs again, the only other node of which it knows has ended."""
    with cluster(2) as nodes:
        first, second = nodes.nodes
        second.stop()
        wait_for_members([first], [0])
        joined = nodes.join()
        first.send_signal(signal.SIGKILL)
        wait_for_members([joined], [2])
        second.send_signal(signal.SIGCONT)
        wait_until(lambda: "too few" in second.do("pull([0])").get("text", ""))


def test_attached_processes_and_barriers_know_of_a_node_that_joins() -> None:
    with cluster(2) as nodes:
        attached = nodes.attach(0)
        attached.value("kv.push([3], values([3]))")
        joined = nodes.join()
        there = nodes.attach(2)
        there.value("kv.push([3], values([3]))")
        assert attached.value("pull([3])") == there.value("pull([3])") == [2]
        wait_for_members([there, attached], [0, 1, 2])
        for actor in (*nodes.nodes, attached, there):
            actor.write("kv.barrier()")
        for actor in (*nodes.nodes, attached, there):
            assert "value" in actor.read()
        assert joined.value("node.rank") == 2
