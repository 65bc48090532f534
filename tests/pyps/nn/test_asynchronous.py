"""Backwards that return before their pushes have ended, and where rows are brought to."""

from __future__ import annotations

import json
import signal
import threading
from collections.abc import Iterator
from typing import Any

import pytest
import torch

import pyps
from pyps.nn import EmbeddingCollection, EmbeddingConfig
from tests.pyps.cluster import TIMEOUT, Cluster
from tests.pyps.nn.twins import DIM, NUM, rows_of, same, worker
from tests.pyps.nodes import Actor
from tests.waiting import wait_until

STEPS = 20


@pytest.mark.parametrize("slow", [False, True])
def test_the_next_lookup_sees_what_was_pushed(slow: bool) -> None:
    with Cluster(2, 1, slow=slow, transport="memory") as cluster, cluster.nodes[0].worker() as kv:
        module = pyps.nn.Embedding(NUM, DIM, kv, optimizer="sgd:lr=1", asynchronous=True)
        before = rows_of(module)
        for step in range(STEPS):
            rows = module(torch.arange(NUM))
            same(rows.detach(), before - step, 1e-5)
            rows.sum().backward()
        module.wait(TIMEOUT)
        same(rows_of(module), before - STEPS, 1e-5)


@pytest.mark.slow
def test_the_backward_does_not_wait_for_a_node_that_stands_still(other_node: Actor) -> None:
    with pyps.Server(1, 3, dtype="int64", num_nodes=2, cluster=5) as node:
        endpoints = [node.bind("tcp://127.0.0.1:*"), other_node.read()]
        other_node.write(json.dumps(endpoints))
        node.connect(endpoints)
        assert other_node.read() == "ready"
        with node.worker() as kv:
            module = pyps.nn.Embedding(NUM, DIM, kv, optimizer="sgd:lr=1", asynchronous=True)
            before = rows_of(module)
            loss = module(torch.arange(NUM)).sum()
            other_node.stop()
            loss.backward()
            with pytest.raises(pyps.WaitTimeoutError):
                module.wait(0.05)
            other_node.send_signal(signal.SIGCONT)
            module.wait(TIMEOUT)
            same(rows_of(module), before - 1, 1e-5)
        other_node.leave()


@pytest.fixture
def other_node() -> Iterator[Actor]:
    actor = Actor(num_nodes=2, rank=1, num_keys=1)
    yield actor
    actor.kill()


def test_the_end_of_the_worker_waits_for_pushes() -> None:
    with Cluster(2, 1, slow=True, transport="memory") as cluster:
        with cluster.nodes[0].worker() as kv:
            module = pyps.nn.Embedding(NUM, DIM, kv, optimizer="sgd:lr=1", asynchronous=True)
            before = rows_of(module)
            module(torch.arange(NUM)).sum().backward()
        with cluster.nodes[1].worker() as other:
            same(other.table("embedding").pull(torch.arange(NUM)), before - 1, 1e-5)


def collection(kv: pyps.Worker, **options: Any) -> EmbeddingCollection:
    words = {"words": EmbeddingConfig(NUM, DIM)}
    return EmbeddingCollection(words, kv, optimizer="sgd:lr=1", **options)


def embedding(kv: pyps.Worker, **options: Any) -> pyps.nn.Embedding:
    return pyps.nn.Embedding(NUM, DIM, kv, optimizer="sgd:lr=1", **options)


@pytest.mark.parametrize("make", [collection, embedding])
@pytest.mark.parametrize("how", ["localize", "intent"])
def test_rows_come_to_the_node_that_asks(make: Any, how: str) -> None:
    with worker(2) as kv:
        module = make(kv)
        ids = torch.arange(NUM).repeat(2)
        batch = {"words": ids} if make is collection else ids
        if how == "localize":
            module.localize(batch)
        else:
            module.intent(batch, kv.current_clock(), kv.current_clock() + 10)
        wait_until(lambda: module.kv.pull_if_local(torch.arange(NUM), torch.empty(NUM, DIM)))


def test_threads_have_a_worker_and_a_module_each() -> None:
    """On two nodes, whose rows they share: no step of any of them is lost."""
    with Cluster(2, 1) as cluster:
        errors: list[BaseException] = []

        def train(number: int) -> None:
            try:
                with cluster.nodes[number % 2].worker() as kv:
                    module = embedding(kv, asynchronous=number > 1, initializer="constant:value=0")
                    for _ in range(STEPS):
                        module(torch.arange(NUM)).sum().backward()
            except BaseException as error:  # it is raised in the test's thread
                errors.append(error)

        threads = [threading.Thread(target=train, args=(number,)) for number in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(TIMEOUT)
        assert errors == []
        with cluster.nodes[0].worker() as kv:
            module = embedding(kv, initializer="constant:value=0")
            assert rows_of(module).eq(-4 * STEPS).all()
