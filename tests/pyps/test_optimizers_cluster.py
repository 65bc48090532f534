"""Optimizers on several nodes: each gradient counts once wherever keys are, and all nodes have the same settings."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

import pyps
from tests.pyps.cluster import TIMEOUT, Cluster

KEYS, LENGTH, WORKERS = 12, 5, 2
STEPS = 24
NODES = pytest.mark.parametrize("count", [2, 4])


def push_and_move(kv: pyps.Worker, number: int, *, rounds: int, constant: bool = False) -> list[int]:
    """Push whole numbers to random keys, which move and get replicas meanwhile; return each key's sum."""
    random = np.random.default_rng(number)
    sums = np.zeros(KEYS, np.int64)
    for _ in range(rounds):
        keys = random.choice(KEYS, 4, replace=False) if constant else random.integers(KEYS, size=6)
        gradients = np.ones(len(keys), np.int64) if constant else random.integers(-9, 10, size=len(keys))
        np.add.at(sums, keys, gradients)
        clock = kv.current_clock()
        kv.intent(random.integers(KEYS, size=3), clock + 1, clock + 1 + int(random.integers(1, 4)))
        kv.push(keys, np.repeat(gradients, LENGTH).astype(np.float64), asynchronous=bool(random.integers(2)))
        if random.integers(4) == 0:
            kv.localize(random.integers(KEYS, size=2), asynchronous=True)
        kv.advance_clock()
    kv.waitall()
    sums_list: list[int] = sums.tolist()
    return sums_list


def columns(numbers: Any) -> np.ndarray[Any, Any]:
    return np.repeat(np.asarray(numbers, np.float64), LENGTH).reshape(-1, LENGTH)


@NODES
@pytest.mark.parametrize("techniques", ["all", "replication_only", "relocation_only"])
def test_each_gradient_counts_once(count: int, techniques: str) -> None:
    """Steps of whole numbers have an exact sum, however they are merged."""
    with Cluster(
        count,
        KEYS,
        LENGTH,
        dtype="float64",
        optimizer="sgd:lr=2",
        techniques=techniques,
        server_threads=1 + count // 4,
    ) as cluster:
        pushed, replicas = 0, 0
        for _ in range(1 if techniques == "relocation_only" else 20):
            pushed = pushed + np.sum(cluster.run(push_and_move, workers=WORKERS, rounds=60), 0)
            assert cluster.settles_at(columns(-2 * pushed))
            replicas = sum(node.stats()["replicas_made"] for node in cluster.nodes)
            if replicas > 0:  # with all techniques keys move, and have replicas only now and then
                break
        assert sum(node.stats()["relocations_in"] for node in cluster.nodes) > 0
        assert (replicas > 0) == (techniques != "relocation_only")


@pytest.mark.slow
@NODES
@pytest.mark.parametrize(
    "optimizer", ["adagrad:lr=1,eps=0", "adam:lr=1,beta1=0.5", "sgd:lr=1,momentum=0.5", "ftrl"]
)
def test_state_moves_with_its_key(count: int, optimizer: str) -> None:
    """Gradients are alike, so the value tells how many steps it had, and its state must have had the same ones."""
    with Cluster(
        count, KEYS, LENGTH, dtype="float64", optimizer=optimizer, techniques="relocation_only"
    ) as cluster:
        pushed = np.sum(cluster.run(push_and_move, workers=WORKERS, rounds=60, constant=True), 0)
        with pyps.Server(1, LENGTH, dtype="float64", optimizer=optimizer) as one, one.worker() as kv:
            after = [kv.pull([0])[0]]
            for _ in range(max(pushed)):
                kv.push([0], np.ones(LENGTH))
                after.append(kv.pull([0])[0])
        assert cluster.settles_at(np.array([after[steps] for steps in pushed]))
        assert sum(node.stats()["relocations_in"] for node in cluster.nodes) > KEYS


@NODES
def test_a_replica_shows_a_push_when_the_owner_has_applied_it(count: int) -> None:
    with Cluster(
        count, KEYS, LENGTH, dtype="float64", optimizer="adagrad:lr=1,eps=0", techniques="replication_only"
    ) as cluster:
        with cluster.nodes[1].worker() as kv:
            kv.intent([0], 0, 1000)
            kv.wait_sync()
            assert cluster.nodes[1].stats()["replicas_held"] == 1
            kv.push([0], np.ones(LENGTH))
            seen = kv.pull([0])[0, 0]
            assert seen in (0.0, -1.0)  # the gradient itself would be 1
            kv.wait_sync()
            assert (kv.pull([0]) == -1).all()
        assert cluster.settles_at(columns([-1.0] + [0.0] * (KEYS - 1)))


@NODES
def test_repeated_keys_are_one_step_wherever_they_are(count: int) -> None:
    keys = [0, 1, 0, 2, 1, 0, 3]
    gradients = np.arange(len(keys) * LENGTH, dtype=np.float64).reshape(-1, LENGTH)
    with (
        Cluster(count, KEYS, LENGTH, dtype="float64", optimizer="adam:lr=1") as cluster,
        pyps.Server(KEYS, LENGTH, dtype="float64", optimizer="adam:lr=1") as alone,
    ):
        for node in (cluster.nodes[0], alone):
            with node.worker() as kv:
                for _ in range(3):
                    kv.push(keys, gradients)
                expected = kv.pull(np.arange(KEYS))
        assert cluster.settles_at(expected)


def test_set_begins_a_key_of_another_node_anew() -> None:
    with (
        Cluster(2, KEYS, LENGTH, dtype="float64", optimizer="adagrad:lr=1,eps=0") as cluster,
        cluster.nodes[0].worker() as kv,
    ):
        for _ in range(2):
            kv.set(np.arange(KEYS), np.zeros((KEYS, LENGTH)))
            kv.push(np.arange(KEYS), np.full((KEYS, LENGTH), 3.0))
        assert (kv.pull(np.arange(KEYS)) == -1).all()


def test_a_gradient_that_is_not_finite_is_sent_nowhere() -> None:
    with (
        Cluster(2, KEYS, LENGTH, dtype="float64", optimizer="sgd:lr=1,refuse_nan=1") as cluster,
        cluster.nodes[0].worker() as kv,
    ):
        gradients = np.ones((KEYS, LENGTH))
        gradients[7, 2] = np.inf
        with pytest.raises(ValueError, match="the gradient of key 7 at position 7"):
            kv.push(np.arange(KEYS), gradients)
        assert not kv.pull(np.arange(KEYS)).any()


def test_keys_of_any_numbers_have_their_optimizer_on_all_nodes() -> None:
    keys = [10**12 + 7, -5, 3, 10**12 + 7]
    with Cluster(2, value_length=LENGTH, capacity=100, dtype="float64", optimizer="sgd:lr=1") as cluster:
        for node in cluster.nodes:
            with node.worker() as kv:
                kv.push(keys, np.ones((4, LENGTH)))
                kv.localize(keys)
                kv.push(keys, np.ones((4, LENGTH)))
        with cluster.nodes[0].worker() as kv:
            assert kv.pull(keys)[:, 0].tolist() == [-8, -4, -4, -8]


def change_and_meet(kv: pyps.Worker, number: int, *, count: int) -> list[float]:
    """In turns one worker changes the learning rate; return what it is here after each barrier."""
    seen = []
    for step in range(8):
        if step % count == number:
            kv.node.tune(f"lr={step + 1},weight_decay={step / 10}")
        kv.barrier(TIMEOUT)
        seen.append(kv.node.optimizer_text())
        kv.barrier(TIMEOUT)
    return [float(text.partition("lr=")[2].split(",")[0]) for text in seen]


@NODES
def test_a_change_is_in_force_on_all_nodes_after_a_barrier(count: int) -> None:
    with Cluster(count, KEYS, LENGTH, optimizer="sgd:lr=0.5", num_workers=1) as cluster:
        for seen in cluster.run(change_and_meet, workers=1, count=count):
            assert seen == [1, 2, 3, 4, 5, 6, 7, 8]


def change_meet_and_push(kv: pyps.Worker, number: int, *, count: int) -> list[list[float]]:
    """In turns one worker changes the learning rate, then all push to all keys; return what was added, step by step."""
    keys, seen = np.arange(count), [np.zeros(count, np.float32)]
    for step in range(STEPS):
        if step % count == number:
            kv.node.tune(f"lr={step + 1}")
        kv.barrier(TIMEOUT)
        kv.push(keys, -np.ones((count, LENGTH), np.float32))
        kv.barrier(TIMEOUT)
        seen.append(kv.pull(keys)[:, 0])
        kv.barrier(TIMEOUT)
    added: list[list[float]] = np.diff(seen, axis=0).tolist()
    return added


@pytest.mark.parametrize("transport", ["tcp", "memory"])
@NODES
def test_a_push_after_a_barrier_does_not_overtake_a_change(count: int, transport: str) -> None:
    options = {"slow": True, "transport": transport, "num_workers": 1}
    with Cluster(count, KEYS, LENGTH, optimizer="sgd:lr=0.5", **options) as cluster:
        for added in cluster.run(change_meet_and_push, workers=1, count=count):
            assert added == [[count * (step + 1)] * count for step in range(STEPS)]


def become(nodes: Sequence[pyps.Server], text: str) -> bool:
    """Whether the settings of all nodes become the same, and these."""
    end = time.monotonic() + TIMEOUT / 2
    while time.monotonic() < end:
        texts = {node.optimizer_text() for node in nodes}
        if len(texts) == 1 and text in texts.pop():
            return True
        time.sleep(0.005)
    return False


@NODES
def test_a_change_comes_to_all_nodes_without_a_barrier(count: int) -> None:
    with Cluster(count, KEYS, LENGTH, optimizer="sgd:lr=0.5") as cluster:
        optimizer = cluster.nodes[-1].optimizer
        assert optimizer is not None
        optimizer.param_groups[0]["lr"] = 0.125
        assert become(cluster.nodes, "lr=0.125,")


def test_changes_of_all_nodes_at_once_end_in_one() -> None:
    with Cluster(4, KEYS, LENGTH, optimizer="sgd:lr=0.5") as cluster:
        for step in range(50):
            for node in cluster.nodes:
                node.tune(f"lr={step * 4 + node.rank}")
        assert become(cluster.nodes, "lr=")


def test_those_that_are_left_agree_when_the_host_is_lost() -> None:
    with Cluster(3, KEYS, LENGTH, optimizer="sgd:lr=0.5", on_loss="continue") as cluster:
        cluster.nodes[1].tune("lr=0.25")
        cluster.nodes[0].shutdown(timeout=0)
        cluster.nodes[2].tune("weight_decay=0.125")
        assert become(cluster.nodes[1:], "lr=0.25,weight_decay=0.125,")
