"""Nodes that leave a cluster that goes on: their keys move to the others, no call fails, and nothing is lost."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest

import pyps
from tests.pyps import cluster as in_this_process
from tests.pyps.nodes import Actor, Cluster
from tests.python_path import python_path

QUICK: dict[str, Any] = {"heartbeat": 0.1, "lost_after": 1.0}
LONGEST = 1.0  # seconds that a call of another node may take meanwhile
KEYS = range(0, 4000, 7)
SHAPES: dict[str, dict[str, Any]] = {
    "a range": {"num_keys": 4000},
    "any numbers": {"capacity": 8000},
    "two threads": {"num_keys": 4000, "server_threads": 2},
    "two lengths": {"capacity": 8000, "lengths": [3, 2]},
}
PUSH = "kv.push(KEYS, values(KEYS))"


def cluster(count: int, **options: Any) -> Cluster:
    shape = {"num_keys": 4000, "num_workers": 100, "replicas": 1, **QUICK, **options}
    if "capacity" in options:
        del shape["num_keys"]
    return Cluster(count, **shape)


@contextmanager
def here(count: int, **options: Any) -> Iterator[list[pyps.Server]]:
    """Give the nodes of a cluster in this process."""
    shape = {"num_keys": 1000, "value_length": 4, "replicas": 1, **QUICK, **options}
    if "capacity" in options:
        del shape["num_keys"]
    with in_this_process.Cluster(count, **shape) as nodes:
        yield nodes.nodes
        for node in nodes.nodes:
            node.shutdown(0)


def with_keys(source: str) -> str:
    return source.replace("KEYS", f"np.array(list({KEYS}))")


def begin_to_push(actor: Actor, count: int) -> None:
    actor.write(with_keys(f"[outcome(lambda: {PUSH}) for _ in range({count})]"))


def check_pushes(actor: Actor) -> float:
    """Return how long the longest one took; none failed."""
    reports = actor.read()["value"]
    assert [report for report in reports if "error" in report] == []
    return max(report["seconds"] for report in reports)


def leave(actor: Actor, timeout: float = 20.0) -> dict[str, Any]:
    report: dict[str, Any] = actor.do(f"(kv.finalize(), node.leave({timeout}))[1]")
    return report


def totals(actor: Actor) -> Any:
    return actor.value(with_keys("np.unique(pull(KEYS))"))


@pytest.mark.slow
@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
@pytest.mark.parametrize("leaver", [0, 2])
def test_others_push_on_while_a_node_leaves(shape: dict[str, Any], leaver: int) -> None:
    with cluster(3, **shape) as nodes:
        assert nodes.nodes[leaver].value(with_keys(PUSH)) is None
        others = [actor for rank, actor in enumerate(nodes.nodes) if rank != leaver]
        for actor in others:
            begin_to_push(actor, 300)
        time.sleep(0.1)
        assert "error" not in leave(nodes.nodes[leaver])
        for actor in others:
            assert check_pushes(actor) < LONGEST
        for actor in others:
            assert totals(actor) == [601]
            assert actor.value("node.stats()['keys_lacking_copies']") == 0
        others[1].send_signal(signal.SIGKILL)  # each key has a copy at the other one
        assert totals(others[0]) == [601]


@pytest.mark.parametrize("replicas", [1, 2])
def test_two_leave_at_once(replicas: int) -> None:
    with cluster(4, replicas=replicas) as nodes:
        for actor in nodes.nodes:
            assert actor.value(with_keys(PUSH)) is None
        begin_to_push(nodes.nodes[1], 300)
        for actor in (nodes.nodes[0], nodes.nodes[3]):
            actor.write("(kv.finalize(), node.leave(20))[1]")
        for actor in (nodes.nodes[0], nodes.nodes[3]):
            assert "error" not in actor.read()
        assert check_pushes(nodes.nodes[1]) < LONGEST
        assert totals(nodes.nodes[2]) == [304]


@pytest.mark.long
@pytest.mark.parametrize("moment", [0.0, 0.002, 0.005, 0.01, 0.02, 0.05])
def test_another_node_may_be_lost_meanwhile(moment: float) -> None:
    with cluster(4) as nodes:
        for actor in nodes.nodes:
            assert actor.value(with_keys(PUSH)) is None
        others = nodes.nodes[:2]
        for actor in others:
            begin_to_push(actor, 300)
        nodes.nodes[3].write("(kv.finalize(), node.leave(20))[1]")
        time.sleep(moment)
        nodes.nodes[2].send_signal(signal.SIGKILL)
        assert "error" not in nodes.nodes[3].read()
        for actor in others:
            check_pushes(actor)
        assert totals(nodes.nodes[1]) == [604]


def test_a_node_that_only_others_use_leaves_with_keys_that_had_replicas() -> None:
    with cluster(3) as nodes:
        first, second, third = nodes.nodes
        for actor in nodes.nodes:
            assert actor.value(with_keys(PUSH)) is None
            assert actor.value(with_keys("kv.intent(KEYS, 0, 100)")) is None
        for actor in nodes.nodes:
            assert actor.value("kv.wait_sync()") is None
        assert "error" not in leave(second)
        for actor in (first, third):
            assert actor.value(with_keys(PUSH)) is None
        for actor in (first, third):
            assert actor.value("kv.wait_sync()") is None
        assert totals(first) == totals(third) == [5]


def test_what_an_optimizer_keeps_moves_along() -> None:
    options = {"capacity": 1000, "optimizer": "adagrad:lr=0.5", "dtype": "float32"}
    with here(3, **options) as nodes, nodes[0].worker() as kv:
        keys, gradients = np.arange(500), np.ones((500, 4), np.float32)
        alone = pyps.local(value_length=4, **options)
        with alone:
            for left in (None, nodes[2], None):
                if left is not None:
                    left.leave(20)
                for worker in (kv, alone):
                    worker.push(keys, gradients)
            np.testing.assert_array_equal(kv.pull(keys), alone.pull(keys))


def test_named_tables_leave_too() -> None:
    with here(3, num_keys=10) as nodes:
        tables = [node.table("users", dim=4) for node in nodes]
        with tables[0].worker() as users, tables[2].worker() as elsewhere:
            keys = np.arange(1000) * 10**15
            elsewhere.push(keys, np.ones((1000, 4), np.float32))
            nodes[2].leave(20)
            users.push(keys, np.ones((1000, 4), np.float32))
            assert np.unique(users.pull(keys)) == [2]
            with pytest.raises(pyps.ClosedError):
                elsewhere.pull(keys)


def test_all_may_leave_one_after_the_other_but_the_last() -> None:
    with here(3) as nodes:
        with nodes[0].worker() as kv:
            kv.push(np.arange(100), np.ones((100, 4), np.float32))
        nodes[0].leave(20)
        nodes[1].leave(20)
        with pytest.raises(RuntimeError, match="no other node is left"):
            nodes[2].leave(20)
        with nodes[2].worker() as kv:
            assert np.unique(kv.pull(np.arange(100))) == [1]


def test_if_all_leave_at_once_one_is_told_that_nobody_is_left() -> None:
    with here(3) as nodes:
        errors: list[Exception | None] = [None] * 3

        def leave_with(rank: int) -> None:
            try:
                nodes[rank].leave(20)
            except RuntimeError as error:
                errors[rank] = error

        threads = [threading.Thread(target=leave_with, args=(rank,)) for rank in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert any(errors)


def test_without_replicas_it_is_refused() -> None:
    with (
        here(2, replicas=0, on_loss="continue") as nodes,
        pytest.raises(ValueError, match="replicas=1"),
    ):
        nodes[1].leave()


def test_a_node_alone_cannot_leave() -> None:
    with pyps.Server(10, replicas=1) as node, pytest.raises(RuntimeError, match="no other node is left"):
        node.leave()


def test_an_attached_process_cannot_let_the_node_leave() -> None:
    with here(2) as nodes:
        code = f"import pyps; pyps.attach({nodes[1].address!r}).hand_over()"
        run = subprocess.run(
            [sys.executable, "-c", code],
            check=False,
            env={"PYTHONPATH": python_path()},
            capture_output=True,
            text=True,
            timeout=60,
        )
        assert "by the process that created it" in run.stderr


def test_if_another_node_does_not_answer_the_call_ends_in_time_and_can_be_repeated() -> None:
    with cluster(3, lost_after=30.0, heartbeat=1.0) as nodes:
        assert nodes.nodes[0].value(with_keys(PUSH)) is None
        nodes.nodes[1].stop()
        report = leave(nodes.nodes[2], 0.5)
        assert report["error"] == "WaitTimeoutError"
        assert "keys are still here" in report["text"]
        assert report["seconds"] < 5
        nodes.nodes[1].send_signal(signal.SIGCONT)
        assert "error" not in leave(nodes.nodes[2])
        assert totals(nodes.nodes[1]) == [1]


def test_where_others_have_no_room_it_stays_and_can_try_again() -> None:
    with here(2, capacity=1000) as nodes, nodes[0].worker() as kv:
        keys = range(2000)
        for key in keys:
            try:
                kv.push([key], np.ones((1, 4), np.float32))
            except MemoryError:
                continue
        with pytest.raises(MemoryError, match="no room"):
            nodes[1].leave(20)
        there = [key for key in keys if kv.contains([key])[0]]
        assert np.unique(kv.pull(there)) == [1]
        kv.delete(there[: len(there) // 2])
        nodes[1].leave(20)
        assert np.unique(kv.pull(there[len(there) // 2 :])) == [1]
