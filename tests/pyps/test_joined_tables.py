"""Named tables of clusters that nodes join, leave and are lost from: they go on everywhere, and new ones are made."""

from __future__ import annotations

import signal
import threading
import time
from typing import Any

import numpy as np
import pytest

import pyps
from tests.pyps.nodes import Actor
from tests.pyps.test_joining import cluster
from tests.pyps.test_leaving import LONGEST, leave
from tests.waiting import wait_until

pytestmark = pytest.mark.slow
long = pytest.mark.long

SHAPES = {"a range": "num_keys=3000", "any numbers": "capacity=20_000"}
KEYS = "np.arange(1000) * 3"
ONES = "np.ones((1000, 2), np.float32)"
USERS = 'kv.table("users")'


def declare(shape: str, name: str = "users", options: str = 'dim=2, optimizer="adagrad:lr=1"') -> str:
    return f"node.table({name!r}, {options}, {shape}) and None"


def push(name: str = "users") -> str:
    return f"kv.table({name!r}).push({KEYS}, {ONES})"


def values(actor: Actor, name: str = "users") -> Any:
    """Return the different values of all keys of a table, as a node pulls them."""
    return actor.value(f"np.unique(kv.table({name!r}).pull({KEYS})).tolist()")


def after(pushes: int) -> list[float]:
    """What adagrad makes of so many pushes of ones."""
    value = np.float32(0)
    for count in range(1, pushes + 1):
        value -= np.float32(1) / np.sqrt(np.float32(count))
    return [float(value)]


def held(actor: Actor, name: str = "users") -> int:
    return int(actor.value(f'node.table({name!r}).stats()["keys_held"]'))


@pytest.mark.parametrize("shape", SHAPES)
def test_a_node_that_joins_has_the_tables(shape: str) -> None:
    with cluster(2) as nodes:
        first, second = nodes.nodes
        first.value(declare(SHAPES[shape]))
        second.value(push())
        joined = nodes.join()
        assert values(joined) == after(1)
        joined.value(push())
        wait_until(lambda: held(joined) > 250)  # a third is its part of a range
        for actor in nodes.nodes:
            assert values(actor) == pytest.approx(after(2))
            assert actor.value("node.table_names()") == ["users"]
        assert joined.do(declare("capacity=7"))["error"] == "ValueError"  # as it was declared otherwise


@pytest.mark.parametrize("maker", [0, pytest.param(2, marks=long)])
def test_after_a_node_has_joined_tables_are_made_and_dropped_on_all(maker: int) -> None:
    with cluster(2) as nodes:
        nodes.join()
        nodes.nodes[maker].value(declare("capacity=5000"))
        for count, actor in enumerate(nodes.nodes):
            actor.value(push())
            assert values(actor) == pytest.approx(after(count + 1))
        nodes.nodes[2 - maker].value('node.drop_table("users")')
        for actor in nodes.nodes:
            assert actor.value("node.table_names()") == []


@long
def test_nodes_join_one_after_another_while_tables_are_made() -> None:
    """Each table is made by nodes of another number; in the end all have all."""
    with cluster(1) as nodes:
        for count in range(1, 5):
            joining, line = nodes.prepare()
            nodes.nodes[-2].write(declare("capacity=3000", f"t{count}"))
            joining.write(line)
            assert joining.read() == "ready"
            assert "value" in nodes.nodes[-2].read()
        names = [f"t{count}" for count in range(1, 5)]
        for name in names:
            for actor in nodes.nodes:
                actor.value(push(name))
        for name in names:
            for actor in nodes.nodes:
                assert values(actor, name) == pytest.approx(after(len(nodes.nodes)))


def test_pushes_to_a_table_go_on_while_a_node_joins() -> None:
    with cluster(2) as nodes:
        nodes.nodes[0].value(declare("capacity=5000", options="dim=2"))
        joined, line = nodes.prepare()
        for actor in nodes.nodes[:2]:
            actor.write(f"repeat(lambda number: {push()}, 2)")
        joined.write(line)
        assert joined.read() == "ready"
        joined.value(push())
        reports = [actor.read()["value"] for actor in nodes.nodes[:2]]
        assert [report["errors"] for report in reports] == [[], []]
        assert max(report["longest"] for report in reports) < LONGEST
        assert values(joined) == [1 + sum(report["calls"] for report in reports)]


@pytest.mark.parametrize(
    ("lost", "shape"),
    [
        pytest.param(lost, shape, marks=[] if (lost, shape) == (0, "any numbers") else long)
        for lost in (0, 1, 3)
        for shape in SHAPES
    ],
)
def test_when_a_node_is_killed_tables_go_on_and_new_ones_are_made(lost: int, shape: str) -> None:
    """Node 0 decides about tables until then; node 3 had joined."""
    with cluster(3) as nodes:
        nodes.nodes[0].value(declare(SHAPES[shape]))
        nodes.join()
        for actor in nodes.nodes:
            actor.value(push())
        wait_until(lambda: all(held(actor) > 0 for actor in nodes.nodes))
        wait_until(lambda: all(no_key_lacks_copies(actor) for actor in nodes.nodes))
        nodes.nodes[lost].send_signal(signal.SIGKILL)
        others = [actor for actor in nodes.nodes if actor is not nodes.nodes[lost]]
        for actor in others:
            actor.write(declare("capacity=5000", "later"))
        for actor in others:
            assert "value" in actor.read()
        for actor in others:
            actor.value(push("later"))
            assert values(actor) == pytest.approx(after(4))
        assert values(others[0], "later") == pytest.approx(after(3))
        another = nodes.join(sponsor=1 if lost == 0 else 0)
        for name, pushes in (("users", 4), ("later", 3)):
            assert values(another, name) == pytest.approx(after(pushes))
        another.value('node.drop_table("users")')
        for actor in (*others, another):
            assert actor.value("node.table_names()") == ["later"]


def no_key_lacks_copies(actor: Actor) -> bool:
    return bool(actor.value('node.table("users").stats()["keys_lacking_copies"] == 0'))


@pytest.mark.parametrize("leaver", [0, pytest.param(1, marks=long), pytest.param(2, marks=long)])
def test_a_node_leaves_and_new_tables_are_made(leaver: int) -> None:
    with cluster(2) as nodes:
        nodes.nodes[1].value(declare("num_keys=3000"))
        nodes.join()
        for actor in nodes.nodes:
            actor.value(push())
        assert "error" not in leave(nodes.nodes[leaver])
        others = [actor for rank, actor in enumerate(nodes.nodes) if rank != leaver]
        for actor in others:
            assert values(actor) == pytest.approx(after(3))
        others[1].value(declare("capacity=5000", "later"))
        others[0].value(push("later"))
        assert values(others[1], "later") == after(1)
        others[0].value('node.drop_table("users")')


@pytest.mark.parametrize("lost", [0, pytest.param(1, marks=long)])
def test_a_table_is_made_although_a_node_is_lost_meanwhile(lost: int) -> None:
    """The call waits until the others have agreed to go on, and makes the table with them."""
    with cluster(3) as nodes:
        stopped = nodes.nodes[lost]
        others = [actor for actor in nodes.nodes if actor is not stopped]
        stopped.stop()  # it makes no part, and if it is node 0 decides nothing
        for actor in others:
            actor.write(declare("capacity=5000"))
        time.sleep(0.2)
        stopped.send_signal(signal.SIGKILL)
        for actor in others:
            assert "value" in actor.read()
        for actor in others:
            actor.value(push())
        assert values(others[0]) == pytest.approx(after(2))


@long
def test_where_tables_are_made_and_dropped_again_and_again_nodes_come_and_go() -> None:
    with cluster(3) as nodes:
        again = (
            'repeat(lambda number: (node.table(f"t{number % 3}", dim=2, capacity=100), '
            'number % 2 and drop(f"t{number % 3}")) and None, 3)'
        )
        dropping = (
            "globals().update(drop=lambda name: name in node.table_names() and "
            "outcome(lambda: node.drop_table(name))) or None"
        )
        for actor in nodes.nodes[1:]:
            actor.value(dropping)
            actor.write(again)
        time.sleep(0.5)
        nodes.nodes[0].send_signal(signal.SIGKILL)
        reports = [actor.read()["value"] for actor in nodes.nodes[1:3]]
        for report in reports:
            assert report["calls"] > 3
            for text in report["errors"]:
                assert "was dropped" in text, text
        joined = nodes.join(sponsor=1)
        present = [*nodes.nodes[1:3], joined]
        names = nodes.nodes[1].value("sorted(node.table_names())")
        for actor in present:
            wait_until(lambda actor=actor: actor.value("sorted(node.table_names())") == names)
        for name in names:
            joined.value(f'kv.table("{name}").push([5], [[1, 1]])')
            assert nodes.nodes[1].value(f'kv.table("{name}").pull([5]).tolist()') == [[1, 1]]


def test_threads_of_one_process_open_tables_while_it_joins() -> None:
    options = {"value_length": 1, "num_keys": 10, "replicas": 1, "on_loss": "continue"}
    with pyps.init(**options, places=3) as first:
        with first.table("users", dim=2, capacity=100).worker() as users:
            users.push([7], [[1, 2]])
        with pyps.init(**options, join=first.invitation) as second:
            found: list[Any] = []

            def pull() -> None:
                with second.table("users").worker() as kv:
                    found.append(kv.pull([7]).tolist())

            threads = [threading.Thread(target=pull) for _ in range(4)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            assert found == [[[1.0, 2.0]]] * 4
