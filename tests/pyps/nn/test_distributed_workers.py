"""Several workers of a model at a server: in threads and processes, on one and on two nodes."""

from __future__ import annotations

import re
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
import torch
from torch import nn

import pyps
from tests.pyps.cluster import Cluster, WorkerProcesses
from tests.pyps.nn.dense import (
    assert_close,
    backward,
    distributed,
    filled,
    learn,
    learnt_by_torch,
    mean_loss,
    network,
    state_of,
)
from tests.pyps.optimizers import CASES
from tests.waiting import wait_until

STEPS = 5
WORKERS = 2  # of each node


def together(kv: pyps.Worker, number: int, *, count: int, **options: Any) -> dict[str, Any]:
    """Train as one of several; return the state in the end, as lists."""
    torch.set_num_threads(1)
    with distributed(kv, network(seed=number), rank=number, workers=count, **options) as model:
        for step in range(STEPS):
            learn(model, step, number, count)
        state = state_of(model)
    return {name: tensor.tolist() for name, tensor in state.items()}


def tensors(state: dict[str, Any]) -> dict[str, torch.Tensor]:
    return {name: torch.tensor(values) for name, values in state.items()}


@pytest.mark.slow
@pytest.mark.parametrize("nodes", [1, 2])
@pytest.mark.parametrize("optimizer", ["SGD, lr=0.1, momentum=0.9", "Adam, lr=0.01"])
def test_steps_in_common_are_those_of_one_process(optimizer: str, nodes: int) -> None:
    ours, torchs = CASES[optimizer]
    expected = learnt_by_torch(torchs, STEPS)
    workers = WORKERS * nodes
    with Cluster(nodes, 1) as cluster:
        with cluster.nodes[0].worker() as kv, distributed(kv, optimizer=ours()):
            pass  # the values to begin with
        found = cluster.run(together, workers=WORKERS, count=workers, optimizer=ours().text, mode="sync")
    for state in found:
        assert_close(tensors(state), expected)


@pytest.mark.long
@pytest.mark.parametrize("mode", [{"mode": "async"}, {"mode": "bounded", "staleness": 2}, {"mode": "sync"}])
def test_processes_on_two_nodes_learn_together(
    mode: dict[str, Any], worker_processes: WorkerProcesses
) -> None:
    with (
        Cluster(2, 1, processes=worker_processes) as cluster,
        cluster.nodes[1].worker() as kv,
        distributed(kv) as model,
    ):
        before = mean_loss(model)
        cluster.run(together, workers=WORKERS, count=2 * WORKERS, **mode)
        model.pull()
        after = mean_loss(model)
    assert after < 0.9 * before


def test_all_take_the_values_of_the_first() -> None:
    """Whichever it is; all come at the same time."""
    first = [state_of(network(seed)) for seed in range(4)]
    with Cluster(2, 1) as cluster:
        found = [tensors(one) for one in cluster.run(values_of, workers=WORKERS)]
    assert any(all(torch.equal(one[name], found[0][name]) for name in one) for one in first)
    for one in found[1:]:
        assert_close(one, found[0], 0)


def values_of(kv: pyps.Worker, number: int) -> dict[str, Any]:
    with distributed(kv, network(seed=number)) as model:
        return {name: tensor.tolist() for name, tensor in state_of(model).items()}


class Branch(nn.Module):
    """Uses one of two layers, by the rank."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(3, 3), nn.Linear(3, 3), nn.Linear(3, 3)])
        filled(self, 0)

    def forward(self, inputs: torch.Tensor, layer: int) -> torch.Tensor:
        output: torch.Tensor = self.layers[layer](inputs)
        return output


def test_a_parameter_that_some_use_has_zeros_of_the_others(server: pyps.Server) -> None:
    """As with find_unused_parameters of torch's DistributedDataParallel."""
    inputs, first = torch.ones(2, 3), state_of(Branch())

    def work(rank: int) -> dict[str, torch.Tensor]:
        with (
            server.worker() as kv,
            distributed(kv, Branch(), mode="sync", rank=rank, workers=2) as model,
        ):
            backward(model(inputs, rank).sum())
            return state_of(model)

    for state in at_once(work, work):
        for layer, gradient in ((0, 2.0), (1, 2.0), (2, 0.0)):
            name = f"layers.{layer}.bias"
            torch.testing.assert_close(state[name], first[name] - 0.1 * gradient / 2)


def at_once(*works: Any) -> list[Any]:
    """Call each with its rank, in threads."""
    with ThreadPoolExecutor(len(works)) as pool:
        futures = [pool.submit(work, rank) for rank, work in enumerate(works)]
        return [future.result(50) for future in futures]


@pytest.mark.slow
@pytest.mark.parametrize("staleness", [0, 1, 3])
def test_nobody_is_further_ahead_than_the_bound(staleness: int, server: pyps.Server) -> None:
    """The slow one makes a step only when the fast one can make no more."""
    forwards, stopped = [0, 0], threading.Event()

    def fast(rank: int) -> None:
        with server.worker() as kv, bounded(kv, rank, staleness) as model:
            for step in range(10):
                learn(model, step)
                forwards[rank] += 1
        stopped.set()

    def slow(rank: int) -> None:
        with server.worker() as kv, bounded(kv, rank, staleness) as model:
            for step in range(10):
                wait_until(lambda step=step: forwards[0] >= min(step + staleness + 1, 10))  # type: ignore[misc]
                time.sleep(0.02)  # time to go too far
                assert forwards[0] == min(step + staleness + 1, 10)
                learn(model, step)
                forwards[rank] += 1

    at_once(fast, slow)
    assert stopped.is_set()


def bounded(kv: pyps.Worker, rank: int, staleness: int, **options: Any) -> pyps.nn.Distributed:
    return distributed(kv, mode="bounded", staleness=staleness, rank=rank, workers=2, **options)


def test_a_bound_does_not_hold_for_one_that_has_left(server: pyps.Server) -> None:
    def work(rank: int) -> None:
        with server.worker() as kv, bounded(kv, rank, 1) as model:
            for step in range(2 if rank else 20):
                learn(model, step)

    at_once(work, work)


def test_steps_in_common_need_all_workers(server: pyps.Server) -> None:
    def work(rank: int) -> str:
        with server.worker() as kv:
            model = distributed(kv, mode="sync", rank=rank, workers=2)
            try:
                for step in range(2 + 2 * rank):
                    learn(model, step)
            except pyps.Error as error:
                return str(error)
            finally:
                model.close()
            return ""

    short, long = at_once(work, work)
    assert short == ""
    assert long.startswith(
        "rank 0 of model 'model' left, and all workers have to make the same number of steps"
    )


MODES = [{"mode": "sync"}, {"mode": "bounded", "staleness": 0}]


@pytest.mark.parametrize("mode", MODES, ids=lambda mode: mode["mode"])
def test_when_one_fails_all_raise_an_error(mode: dict[str, Any], server: pyps.Server) -> None:
    def work(rank: int) -> str:
        try:
            with server.worker() as kv, distributed(kv, rank=rank, workers=3, **mode) as model:
                for step in range(20):
                    if (rank, step) == (1, 3):
                        raise ZeroDivisionError("in the data")
                    learn(model, step)
        except (pyps.Error, ZeroDivisionError) as error:
            return str(error)
        return "nothing"

    begin = time.monotonic()
    first, second, third = at_once(work, work, work)
    assert second == "in the data"
    for said in (first, third):
        assert re.fullmatch(
            r"ranks? [\d, ]*1[\d, ]* of model 'model' failed: see the error there", said
        ) or said == (f"rank {0 if said is third else 2} of model 'model' failed: see the error there")
    assert time.monotonic() - begin < 10


@pytest.mark.parametrize("mode", MODES, ids=lambda mode: mode["mode"])
def test_gradients_that_are_no_numbers_are_an_error_for_all(
    mode: dict[str, Any], server: pyps.Server
) -> None:
    def work(rank: int) -> str:
        try:
            with (
                server.worker() as kv,
                distributed(kv, rank=rank, workers=2, optimizer="sgd:lr=0.1,refuse_nan=1", **mode) as model,
            ):
                for step in range(4):
                    backward((model(torch.ones(1, 6)) * (float("nan") if rank and step else 1)).sum())
        except (pyps.Error, ValueError) as error:
            return str(error)
        return "nothing"

    first, second = at_once(work, work)
    assert second.startswith("the gradient of parameter '2.")
    assert first == "rank 1 of model 'model' failed: see the error there"


@pytest.mark.slow
def test_those_that_do_not_come_are_named(server: pyps.Server) -> None:
    with (
        server.worker() as kv,
        pytest.raises(
            pyps.WaitTimeoutError, match="ranks 1, 2 of the 3 workers of model 'model' did not come within"
        ),
    ):
        distributed(kv, mode="sync", rank=0, workers=3, timeout=0.2)
    with (
        server.worker() as kv,
        pytest.raises(
            pyps.WaitTimeoutError, match="not all of the 3 workers of model 'model' came, that of rank 0"
        ),
    ):
        distributed(kv, mode="sync", rank=1, workers=3, timeout=0.2)


@pytest.mark.slow
def test_one_that_is_late_is_named(server: pyps.Server) -> None:
    last = threading.Event()

    def late(rank: int) -> None:
        with server.worker() as kv, bounded(kv, rank, 0) as model:
            last.wait(20)
            learn(model, 0)

    def early(rank: int) -> str:
        with server.worker() as kv:
            model = bounded(kv, rank, 0, timeout=0.3)
            learn(model, 0)
            with pytest.raises(pyps.WaitTimeoutError) as error:
                learn(model, 1)
            last.set()
            model.close()
            return str(error.value)

    _, said = at_once(late, early)
    assert said == "rank 0 of model 'model' did not come as far as the others wait for within 0.3 s"


def test_more_workers_than_were_said(server: pyps.Server) -> None:
    with (
        server.worker() as kv,
        distributed(kv, mode="sync"),
        server.worker() as other,
        pytest.raises(
            ValueError, match="model 'model' has more workers on this node than the 1 that were said"
        ),
    ):
        distributed(other, mode="sync")


def test_a_session_begins_anew_after_another_one(server: pyps.Server) -> None:
    def work(rank: int) -> None:
        with server.worker() as kv:
            for _ in range(3):
                with distributed(kv, mode="sync", rank=rank, workers=2) as model:
                    learn(model, 0, rank, 2)

    at_once(work, work)
