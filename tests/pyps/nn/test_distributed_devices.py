"""A dense model on a device, with its parameters at a server: see tests/pyps/devices.py for which."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
import torch
from torch import nn

import pyps
from tests.pyps.cluster import Cluster
from tests.pyps.devices import on_each
from tests.pyps.nn.dense import (
    MODES,
    SGD,
    State,
    assert_close,
    backward,
    batch,
    distributed,
    learnt_by_torch,
    network,
)
from tests.pyps.optimizers import CASES

STEPS = 4


def learn(model: nn.Module, step: int, device: torch.device, rank: int = 0, workers: int = 1) -> None:
    inputs, classes = (part[rank::workers].to(device) for part in batch(step))
    backward(nn.functional.nll_loss(model(inputs), classes))


def near(model: nn.Module) -> State:
    return {name: tensor.detach().to("cpu", copy=True) for name, tensor in model.state_dict().items()}


@on_each
@pytest.mark.parametrize("nodes", [1, 2])
@pytest.mark.parametrize("mode", MODES)
def test_it_learns_as_with_torch_on_the_cpu(mode: str, nodes: int, device: torch.device) -> None:
    ours, torchs = CASES["Adam, lr=0.01"]
    with (
        Cluster(nodes, 1) as cluster,
        cluster.nodes[0].worker() as kv,
        distributed(kv, network().to(device), optimizer=ours(), rank=0, workers=1, **MODES[mode]) as model,
    ):
        for step in range(STEPS):
            learn(model, step, device)
        assert all(tensor.device.type == device.type for tensor in model.state_dict().values())
        found = near(model)
    assert_close(found, learnt_by_torch(torchs, STEPS), 1e-5)


@on_each
def test_models_on_a_device_and_on_the_cpu_learn_together(device: torch.device) -> None:
    expected = learnt_by_torch(CASES["SGD, lr=0.1, momentum=0.9"][1], STEPS)
    ready = threading.Barrier(2)

    def train(kv: pyps.Worker, rank: int, at: torch.device) -> State:
        with distributed(
            kv,
            network(seed=rank).to(at),
            optimizer=CASES["SGD, lr=0.1, momentum=0.9"][0](),
            mode="sync",
            rank=rank,
            workers=2,
        ) as model:
            ready.wait(60)
            for step in range(STEPS):
                learn(model, step, at, rank, 2)
            return near(model)

    with pyps.Server(1) as server, server.worker() as first, server.worker() as second:
        with distributed(first, optimizer=CASES["SGD, lr=0.1, momentum=0.9"][0]()):
            pass  # the values to begin with
        with ThreadPoolExecutor(2) as threads:
            found = [
                threads.submit(train, first, 0, device),
                threads.submit(train, second, 1, torch.device("cpu")),
            ]
            for one in found:
                assert_close(one.result(60), expected, 1e-5)


@on_each
def test_a_state_of_the_cpu_is_loaded(device: torch.device) -> None:
    wanted = network(seed=5).state_dict()
    with pyps.Server(1) as server, server.worker() as kv, distributed(kv, network().to(device)) as model:
        model.load_state_dict(wanted)
        assert_close(near(model), wanted, 0)
        with server.worker() as other, distributed(other, network(seed=1)) as plain:
            assert_close(near(plain), wanted, 0)


@on_each
def test_gradients_add_up_on_the_device(device: torch.device) -> None:
    with (
        pyps.Server(1) as server,
        server.worker() as kv,
        distributed(kv, network().to(device), optimizer=SGD) as model,
    ):
        with model.no_sync():
            learn(model, 0, device)
        gradients = [parameter.grad for parameter in model.module.parameters()]
        assert all(one is not None and one.device.type == device.type for one in gradients)
        learn(model, 1, device)
        assert all(parameter.grad is None for parameter in model.module.parameters())


@on_each
def test_a_model_on_several_devices_is_refused(device: torch.device) -> None:
    if device.type == "cpu":
        model = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 2, device="meta"))
        message = r"parameter '1.weight' is on device meta, without elements: model.to_empty\("
    else:
        model = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 2).to(device))
        message = rf"parameter '1.weight' is on device {device.type}:0, and '0.weight' on cpu; they become one vector"
    with (
        pyps.Server(1) as server,
        server.worker() as kv,
        pytest.raises(ValueError, match=message),
    ):
        distributed(kv, model)
