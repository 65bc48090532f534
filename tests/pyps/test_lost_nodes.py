"""What happens when a node of several is killed, stopped or shut down: who is told what, and how soon."""

from __future__ import annotations

import os
import pickle
import signal
import time
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import pyps
from tests.pyps.nodes import Actor, Cluster

LIMIT = 5.0  # seconds until everybody must know
QUICK = {"heartbeat": 0.1, "lost_after": 1.0}
CALLS = {"pull", "push", "set", "localize", "wait", "waitall", "barrier"}


def cluster(count: int, **options: Any) -> Cluster:
    return Cluster(count, num_keys=40, num_workers=100, **options)


def start_waiting(actors: list[Actor], key: int) -> None:
    """Have each begin every call that waits, for a key of a node that does not move."""
    for actor in actors:
        actor.write(f"everything([{key}])")
    time.sleep(0.3)


def check_all_lost(report: dict[str, Any], node: int, limit: float = LIMIT) -> None:
    reports = report["value"]
    assert set(reports) == CALLS
    for name, one in reports.items():
        assert one["error"] == "NodeLost", (name, one)
        assert one["node"] == node
        assert f"node {node} was lost" in one["text"]
        assert one["seconds"] < limit, name


@pytest.mark.slow
@pytest.mark.parametrize("count", [2, 4])
@pytest.mark.parametrize("victim", ["first", "last"])
def test_every_waiting_call_on_every_node_names_a_killed_node(count: int, victim: str) -> None:
    lost = 0 if victim == "first" else count - 1
    with cluster(count) as nodes:
        alive = [actor for rank, actor in enumerate(nodes.nodes) if rank != lost]
        alive.append(nodes.attach(1 - lost // (count - 1)))
        nodes.nodes[lost].stop()  # so that calls wait for it
        start_waiting(alive, lost)
        nodes.nodes[lost].send_signal(signal.SIGKILL)
        for actor in alive:
            check_all_lost(actor.read(), lost, 2.0)
        for actor in reversed(alive):
            actor.end()


@pytest.mark.long
@pytest.mark.parametrize("count", [2, 4])
def test_every_waiting_call_on_every_node_names_a_stopped_node(count: int) -> None:
    """With the timeouts that servers have by default."""
    with cluster(count) as nodes:
        alive = [*nodes.nodes[:-1], nodes.attach(0)]
        nodes.nodes[-1].stop()
        start_waiting(alive, count - 1)
        for actor in alive:
            check_all_lost(actor.read(), count - 1)
        for actor in reversed(alive):
            actor.end()


@pytest.mark.slow
def test_new_calls_fail_at_once_also_on_local_keys() -> None:
    with cluster(2) as nodes:
        nodes.nodes[1].send_signal(signal.SIGKILL)
        wait_until_lost(nodes.nodes[0])
        for source in (
            "pull([0])",
            "pull([1])",
            "kv.push([0], values([0]))",
            "kv.localize([1])",
            "node.worker()",
        ):
            report = nodes.nodes[0].do(source)
            assert (report["error"], report["node"]) == ("NodeLost", 1)
            assert report["seconds"] < 0.5


@pytest.mark.slow
def test_nodes_that_have_ended_by_a_loss_use_no_processor() -> None:
    with cluster(3) as nodes:
        nodes.nodes[2].send_signal(signal.SIGKILL)
        for actor in nodes.nodes[:2]:
            wait_until_lost(actor)
        time.sleep(0.3)
        before = nodes.nodes[0].do("time.process_time()")["value"]
        time.sleep(1.0)
        assert nodes.nodes[0].do("time.process_time()")["value"] - before < 0.05


@pytest.mark.slow
def test_a_killed_node_is_known_at_once_over_ipv6() -> None:
    with cluster(2, endpoint="tcp://[::1]:*", on_loss="continue") as nodes:
        nodes.nodes[1].send_signal(signal.SIGKILL)
        report = nodes.nodes[0].until("pull([1])", "NodeLost", 2.0)
        assert "its process has ended" in report["text"]


class Place(NamedTuple):
    """A node's, on this host."""

    command: list[str]
    endpoint: str


FORK = "__import__('os').fork() or time.sleep(60) or __import__('os')._exit(0)"


@pytest.mark.slow
@pytest.mark.parametrize("on_loss", ["fail", "continue"])
@pytest.mark.parametrize("endpoint", ["tcp://127.0.0.1:*", "tcp://[::1]:*", "ipc://{}/{}", "ipc://@{}/{}"])
def test_a_killed_node_is_known_at_once_though_its_child_lives_on(
    endpoint: str, on_loss: str, tmp_path: Path
) -> None:
    """Silence would tell after 20 s, and without a word of the host the last of two nodes has no majority."""
    options = {"heartbeat": 0.5, "lost_after": 20.0, "on_loss": on_loss}
    hosts = [Place([], endpoint.format(tmp_path, rank)) for rank in range(2)]
    with cluster(2, hosts=hosts, **options) as nodes:
        child = nodes.nodes[1].do(FORK)["value"]
        try:
            assert nodes.nodes[1].do("pull([0])")["value"] == [0]
            nodes.nodes[1].send_signal(signal.SIGKILL)
            report = nodes.nodes[0].until("pull([1])", "NodeLost", 5.0)
            assert "its process has ended" in report["text"]
            if on_loss == "continue":
                assert nodes.nodes[0].do("pull([0])")["value"] == [0]
        finally:
            os.kill(child, signal.SIGKILL)


def wait_until_lost(actor: Actor) -> dict[str, Any]:
    end = time.monotonic() + LIMIT
    while time.monotonic() < end:
        report = actor.do("pull([0])")
        if "error" in report:
            return dict(report)
        time.sleep(0.02)
    raise AssertionError("nobody was lost")


@pytest.mark.long
def test_a_node_that_was_stopped_too_long_is_told_so() -> None:
    with cluster(3, **QUICK) as nodes:
        stopped = nodes.nodes[2]
        stopped.stop()
        assert wait_until_lost(nodes.nodes[0])["node"] == 2
        assert wait_until_lost(nodes.nodes[1])["node"] == 2
        stopped.send_signal(signal.SIGCONT)
        report = wait_until_lost(stopped)
        assert report["node"] == 2
        assert "was declared lost by node" in report["text"]
        for actor in nodes.nodes:
            actor.end()


@pytest.mark.long
def test_a_short_stop_is_no_loss() -> None:
    with cluster(3) as nodes:
        nodes.nodes[2].stop()
        time.sleep(1.5)
        nodes.nodes[2].send_signal(signal.SIGCONT)
        time.sleep(2.5)
        for actor in nodes.nodes:
            assert actor.value("pull([0, 1, 2])") == [0, 0, 0]


@pytest.mark.long
def test_a_stopped_worker_that_holds_a_key_holds_up_this_key_alone() -> None:
    """What others ask of the key waits, longer than a worker may hold it. The node goes on."""
    with cluster(2, **QUICK, latch_timeout=0.5, value_length=100_000) as nodes:
        worker = nodes.attach(0)
        for _ in range(200):
            worker.write("all(kv.push([0], ones) is None for ones in [values([0])] for _ in range(2000))")
            time.sleep(0.02)
            worker.stop()
            nodes.nodes[1].write("kv.pull([0], values([0]), asynchronous=True).done()")
            nodes.nodes[1].read()
            time.sleep(0.05)
            held = "error" in nodes.nodes[1].do("kv.waitall(0.3)")
            if held:
                break
            worker.send_signal(signal.SIGCONT)
            worker.read()
        assert held, "the worker was never stopped where it holds the latch"
        end = time.monotonic() + 2.0
        while time.monotonic() < end:
            assert nodes.nodes[1].value("pull([2])") == [0]  # of the same node
            assert nodes.nodes[1].value("kv.localize([4]) or kv.push([4], values([4]))") is None
            assert nodes.nodes[0].value("kv.localize([4])") is None
        worker.send_signal(signal.SIGCONT)
        assert "error" not in nodes.nodes[1].do("kv.waitall(10)")
        assert worker.read()["value"] is True


@pytest.mark.slow
def test_a_node_that_shuts_down_alone_is_not_lost() -> None:
    with cluster(3) as nodes:
        nodes.nodes[2].value("node.shutdown(timeout=0)")
        nodes.nodes[2].end()
        time.sleep(0.5)
        assert nodes.nodes[0].value("pull([0, 3])") == [0, 0]
        report = nodes.nodes[1].do("pull([2])")
        assert (report["error"], report["node"]) == ("NodeLost", 2)
        assert "node 2 has shut down" in report["text"]
        for actor in nodes.nodes[:2]:
            assert actor.process.stdin is not None
            actor.process.stdin.close()
        for actor in nodes.nodes[:2]:
            assert actor.read() == "ended"


@pytest.mark.slow
def test_a_pull_that_was_refused_fills_no_buffer() -> None:
    """Its buffer may be used again at once, while another pull is on its way."""
    with cluster(3, heartbeat=1.0, lost_after=30.0) as nodes:
        first, stopped, leaving = nodes.nodes
        first.value("pull([1, 2])")
        stopped.stop()
        first.value("kv.pull([1], globals().setdefault('waiting', values([1])), asynchronous=True).done()")
        leaving.value("node.shutdown(timeout=0)")
        for _ in range(3):
            report = first.do("kv.pull([2], globals().setdefault('out', values([2])))")
            assert (report["error"], report["node"]) == ("NodeLost", 2)


@pytest.mark.slow
def test_nodes_that_shut_down_together_end_soon() -> None:
    with cluster(4) as nodes:
        start = time.monotonic()
        for actor in nodes.nodes:
            assert actor.process.stdin is not None
            actor.process.stdin.close()
        for actor in nodes.nodes:
            assert actor.read() == "ended"
            assert actor.process.wait(LIMIT) == 0
        assert time.monotonic() - start < LIMIT


@pytest.mark.long
def test_an_idle_node_sleeps() -> None:
    with cluster(2) as nodes:
        used = [cpu_seconds(actor) for actor in nodes.nodes]
        time.sleep(5)
        for actor, before in zip(nodes.nodes, used, strict=True):
            assert (cpu_seconds(actor) - before) / 5 < 0.01


def cpu_seconds(actor: Actor) -> float:
    fields = Path(f"/proc/{actor.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / 100


def test_the_exception_travels_between_processes() -> None:
    error = pickle.loads(pickle.dumps(pyps.NodeLost("node 3 was lost", node=3)))
    assert (str(error), error.node) == ("node 3 was lost", 3)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"heartbeat": 1.0, "lost_after": 2.0}, "lost_after is 2; it must be at least three times heartbeat"),
        ({"heartbeat": -1.0}, "it must be a number of seconds"),
        ({"lost_after": 0.0}, "must be above 0"),
        ({"on_loss": "ignore"}, "on_loss is 'ignore'; it must be one of fail, continue"),
    ],
)
def test_wrong_options_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        pyps.Server(10, 1, **options)
