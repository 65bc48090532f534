"""A small network, its batches, and how it learns in one process with torch alone."""

from __future__ import annotations

import copy
from typing import Any, TypeVar

import torch
from torch import nn

import pyps
from tests.pyps.optimizers import Make

SAMPLES, FEATURES, CLASSES = 24, 6, 3
SGD = "sgd:lr=0.1"
TIMEOUT = 20.0
MODES: dict[str, dict[str, Any]] = {
    "async": {},
    "bounded": {"mode": "bounded", "staleness": 0},
    "sync": {"mode": "sync"},
}

State = dict[str, torch.Tensor]
Model = TypeVar("Model", bound=nn.Module)


def network(seed: int = 0) -> nn.Sequential:
    """Return a network of which a parameter has more elements than the longest value."""
    layers = nn.Linear(FEATURES, 200), nn.Tanh(), nn.Linear(200, CLASSES), nn.LogSoftmax(dim=1)
    return filled(nn.Sequential(*layers), seed)


def filled(model: Model, seed: int) -> Model:
    """Fill a model's parameters by a generator of its own, as threads share that of torch."""
    random = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.normal_(std=0.2, generator=random)
    return model


def batch(step: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the inputs and classes of a step."""
    random = torch.Generator().manual_seed(step)
    inputs = torch.randn(SAMPLES, FEATURES, generator=random)
    return inputs, inputs[:, :CLASSES].argmax(dim=1)


def learn(model: nn.Module, step: int, rank: int = 0, workers: int = 1) -> float:
    """Compute the gradients of a worker's share of a batch; return the loss."""
    inputs, classes = batch(step)
    loss = nn.functional.nll_loss(model(inputs[rank::workers]), classes[rank::workers])
    backward(loss)
    return loss.item()


def backward(loss: torch.Tensor, **options: bool) -> None:
    """Compute the gradients of a loss."""
    loss.backward(**options)  # type: ignore[no-untyped-call]


def mean_loss(model: nn.Module) -> float:
    """Return the loss on a batch that nothing learns from."""
    inputs, classes = batch(1 << 20)
    with torch.no_grad():
        return nn.functional.nll_loss(model(inputs), classes).item()


def learnt_by_torch(make: Make, steps: int) -> State:
    """Return what the network is after so many steps of an optimizer of torch."""
    model = network()
    optimizer = make(model.parameters())
    for step in range(steps):
        optimizer.zero_grad()
        learn(model, step)
        optimizer.step()
    return model.state_dict()


def distributed(kv: pyps.Worker, model: nn.Module | None = None, **options: Any) -> pyps.nn.Distributed:
    """Return the network at a server, which must be closed."""
    settings: dict[str, Any] = {"optimizer": SGD, "timeout": TIMEOUT, **options}
    return pyps.nn.Distributed(network() if model is None else model, kv, **settings)


def state_of(model: nn.Module) -> State:
    """Return a copy of its state, which later steps do not change."""
    return copy.deepcopy(model.state_dict())


def assert_close(found: State, wanted: State, limit: float = 1e-6) -> None:
    """Fail unless both have the same entries, which differ by no more than the limit."""
    assert list(found) == list(wanted)
    for name, tensor in wanted.items():
        assert torch.allclose(found[name], tensor, rtol=limit, atol=limit), (name, found[name], tensor)
