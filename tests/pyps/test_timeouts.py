"""`timeout=` of operations: what it bounds, what holds afterwards, and which earlier operations are waited for."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import pyps
from tests.pyps import nodes
from tests.pyps.cluster import Cluster

TIMEOUT = 20.0
WIDTH = 3
LIMIT = 0.3  # seconds

Call = Callable[[pyps.Worker, list[int], Any, float], Any]
CALLS: dict[str, Call] = {
    "pull": lambda kv, keys, vals, timeout: kv.pull(keys, vals, timeout=timeout),
    "push": lambda kv, keys, vals, timeout: kv.push(keys, vals, timeout=timeout),
    "set": lambda kv, keys, vals, timeout: kv.set(keys, vals, timeout=timeout),
    "localize": lambda kv, keys, vals, timeout: kv.localize(keys, timeout=timeout),
    "intent": lambda kv, keys, vals, timeout: kv.intent(keys * 20, 0, 5, timeout=timeout),
}
SENT = ["pull", "push", "set", "localize"]


@pytest.fixture
def stopped() -> Iterator[nodes.Cluster]:
    """Three nodes, of which the last one, with keys 2, 5, 8, stands still."""
    with nodes.Cluster(3, num_keys=30, lost_after=60.0) as cluster:
        cluster.nodes[2].stop()
        yield cluster


def go_on(cluster: nodes.Cluster) -> None:
    cluster.nodes[2].send_signal(signal.SIGCONT)


@pytest.mark.slow
@pytest.mark.parametrize("operation", SENT)
def test_an_answer_that_does_not_come_ends_the_call(stopped: nodes.Cluster, operation: str) -> None:
    vals = "" if operation == "localize" else ", values([2])"
    report = stopped.nodes[0].do(f"kv.{operation}([2]{vals}, timeout={LIMIT})")
    assert report["error"] == "WaitTimeoutError"
    assert f"the {operation} of 1 keys was sent" in report["text"]
    assert report["text"].endswith(f"(timeout: {LIMIT} s)")
    assert report["seconds"] >= LIMIT


@pytest.mark.slow
@pytest.mark.parametrize("limit", [1e-6, 0.01, 0.06])
def test_a_timeout_may_be_shorter_than_the_looks_for_signals(stopped: nodes.Cluster, limit: float) -> None:
    report = stopped.nodes[0].do(f"kv.pull([2], timeout={limit})")
    assert (report["error"], report["text"].endswith(f"(timeout: {limit:g} s)")) == ("WaitTimeoutError", True)


@pytest.mark.slow
def test_after_a_timeout_nothing_writes_to_the_buffer(stopped: nodes.Cluster) -> None:
    here = stopped.nodes[0]
    here.value("globals().update(OUT=values([2], 7)) or kv.set([1], values([1], 5))")
    assert here.do(f"kv.pull([2], OUT, timeout={LIMIT})")["error"] == "WaitTimeoutError"
    go_on(stopped)
    here.value("kv.waitall()")
    assert here.value("OUT[:, 0].tolist()") == [7]


@pytest.mark.slow
def test_a_push_that_was_sent_is_done_in_the_end(stopped: nodes.Cluster) -> None:
    here = stopped.nodes[0]
    assert "was sent" in here.do(f"kv.push([2], values([2]), timeout={LIMIT})")["text"]
    go_on(stopped)
    assert here.value("pull([2])") == [1]


@pytest.mark.slow
@pytest.mark.parametrize("operation", ["push", "set", "pull"])
def test_an_operation_that_waits_for_its_turn_was_not_sent(stopped: nodes.Cluster, operation: str) -> None:
    here = stopped.nodes[0]
    first = "set" if operation == "pull" else "pull"
    here.value(f"kv.{first}([2], values([2]), asynchronous=True) and None")
    text = here.do(f"kv.{operation}([0, 2], values([0, 2], 9), timeout={LIMIT})")["text"]
    assert text.startswith("nothing was sent: earlier operations on the same keys have not finished in time")
    go_on(stopped)
    here.value("kv.waitall()")
    assert here.value("pull([0, 2])") == [0, int(first == "set")]


@pytest.mark.slow
def test_an_asynchronous_call_that_waits_for_its_turn_is_bounded_too(stopped: nodes.Cluster) -> None:
    here = stopped.nodes[0]
    here.value("kv.pull([2], values([2]), asynchronous=True) and None")
    report = here.do(f"kv.push([2], values([2]), asynchronous=True, timeout={LIMIT})")
    assert report["error"] == "WaitTimeoutError"
    assert "nothing was sent" in report["text"]


@pytest.mark.slow
def test_an_asynchronous_call_is_not_ended_by_its_timeout_once_it_is_sent(stopped: nodes.Cluster) -> None:
    here = stopped.nodes[0]
    here.value("globals().update(PULLED=kv.pull([2], asynchronous=True, timeout=1e-3))")
    assert "was sent" in here.do(f"PULLED.wait({LIMIT})")["text"]
    go_on(stopped)
    assert here.value("PULLED.wait()") == [[0] * WIDTH]


@pytest.mark.slow
def test_a_push_from_a_buffer_that_is_being_filled_was_not_sent(stopped: nodes.Cluster) -> None:
    here = stopped.nodes[0]
    here.value("globals().update(OUT=values([2])) or kv.pull([2], OUT, asynchronous=True) and None")
    text = here.do(f"kv.push([1], OUT, timeout={LIMIT})")["text"]
    assert text.startswith("nothing was sent: an earlier pull into the same buffer has not finished in time")


@pytest.mark.slow
@pytest.mark.parametrize("operation", CALLS)
def test_a_call_without_room_was_not_sent(operation: str) -> None:
    """Of a worker that reaches its own node through the network too, as in another process."""
    vals = np.ones((1, WIDTH), np.int64)
    with (
        Cluster(2, 20, WIDTH, dtype="int64", slow=True, in_flight=50) as cluster,
        pyps.attach(cluster.nodes[0].address) as node,
        node.worker() as kv,
    ):
        kv.pull([1], vals.copy())
        with cluster.silent():
            if operation == "intent":
                kv.intent([1] * 20, 0, 5)
            else:
                kv.pull([1], vals.copy(), asynchronous=True)
            with pytest.raises(pyps.WaitTimeoutError, match=r"nothing was sent: .*timeout: 0.3 s"):
                CALLS[operation](kv, [3], vals, LIMIT)
        kv.waitall(TIMEOUT)
        assert kv.pull([3]).tolist() == [[0] * WIDTH]


@pytest.mark.slow
def test_a_sample_that_cannot_be_pulled_in_time_may_be_pulled_later() -> None:
    with Cluster(2, 20, WIDTH, dtype="int64", slow=True, in_flight=50) as cluster:
        for node in cluster.nodes:
            node.enable_sampling_support("naive", True, "uniform", 0, 20, seed=1)
        with cluster.nodes[0].worker() as kv:
            keys, vals = np.zeros(8, np.int64), np.zeros((8, WIDTH), np.int64)
            kv.pull([1])
            sample = kv.prepare_sample(8, 0, timeout=TIMEOUT)
            with cluster.silent():
                kv.pull([1], asynchronous=True)
                with pytest.raises(pyps.WaitTimeoutError, match="nothing was sent"):
                    kv.pull_sample(sample, keys, vals, timeout=LIMIT)
            kv.pull_sample(sample, keys, vals, timeout=TIMEOUT)
            assert (keys % 2 == 1).any()


@pytest.mark.parametrize("timeout", [-1, float("nan"), float("inf")])
@pytest.mark.parametrize("operation", CALLS)
def test_impossible_timeouts_are_refused(operation: str, timeout: float) -> None:
    with pyps.local(10, WIDTH, dtype="int64") as kv:
        with pytest.raises(ValueError, match="timeout is"):
            CALLS[operation](kv, [1], np.ones((1, WIDTH), np.int64), timeout)
        with pytest.raises(TypeError, match="timeout must be a number of seconds, not str"):
            CALLS[operation](kv, [1], np.ones((1, WIDTH), np.int64), "1")  # type: ignore[arg-type]
        assert kv.pull([1]).tolist() == [[0] * WIDTH]


ROUNDS = 40


@pytest.mark.slow
@pytest.mark.parametrize("operation", ["push", "set"])
def test_an_operation_waits_for_those_on_its_keys_alone(stopped: nodes.Cluster, operation: str) -> None:
    """A pull of the stopped node's key does not hold back what waits for the pull of another's."""
    here = stopped.nodes[0]
    here.value("kv.pull([2], values([2]), asynchronous=True) and None")
    report = here.do(
        f"[(kv.pull([1], values([1]), asynchronous=True), kv.{operation}([1], values([1]), timeout=5)) and None"
        f" for _ in range({ROUNDS})]"
    )
    assert report["value"] == [None] * ROUNDS
    assert here.value("pull([1])") == [ROUNDS if operation == "push" else 1]


@pytest.mark.slow
def test_a_key_that_was_answered_is_free_though_its_operation_is_not(stopped: nodes.Cluster) -> None:
    here = stopped.nodes[0]
    here.value(
        "kv.pull([1, 2], values([1, 2]), asynchronous=True) and kv.push([1], values([1]), timeout=20) and None"
    )
    assert here.do("kv.waitall(0.1)")["error"] == "WaitTimeoutError"
