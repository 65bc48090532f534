"""What a model at a server refuses, and what it says then."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import nn

import pyps
from tests.pyps.nn.dense import assert_close, backward, batch, distributed, learn, network, state_of

NAN = "sgd:lr=0.1,refuse_nan=1"


@pytest.mark.parametrize(
    ("other", "options", "error"),
    [
        (lambda: nn.Linear(6, 200), {}, "the model in table 'model' has 4 parameters, and this one 2"),
        (
            lambda: nn.Sequential(nn.Linear(6, 200), nn.Linear(200, 4)),
            {},
            "parameter 3 of the model in table 'model' has 600 elements, and '1.weight' of this one 800",
        ),
        (network, {"optimizer": "adam:lr=0.1"}, "table 'model' is there with other options: .*optimizer=sgd"),
        (lambda: network().double(), {}, "table 'model' is there with other options: .*dtype=float32"),
    ],
)
def test_another_model_under_the_same_name(
    other: Callable[[], nn.Module], options: dict[str, Any], error: str, server: pyps.Server
) -> None:
    with server.worker() as kv, distributed(kv) as model:
        before, another = state_of(model), other()
        others = state_of(another)
        with server.worker() as second, pytest.raises(ValueError, match=error):
            distributed(second, another, **options)
        model.pull()
        assert_close(state_of(model), before, 0)
        assert_close(another.state_dict(), others, 0)


@pytest.mark.parametrize(
    ("model", "options", "error"),
    [
        (nn.Tanh, {}, "the model has no parameters"),
        (lambda: nn.BatchNorm1d(0), {}, "the parameters of the model have no elements"),
        (lambda: nn.LazyLinear(3), {}, "parameter 'weight' has no size yet: call the model"),
        (
            lambda: nn.Linear(2, 2, device="meta"),
            {},
            "parameter 'weight' is on device meta, without elements: model.to_empty",
        ),
        (
            lambda: nn.Linear(2, 2, dtype=torch.complex64),
            {},
            "the parameters are torch.complex64; a server trains",
        ),
        (
            lambda: nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 2).double()),
            {},
            "parameter '1.weight' is torch.float64, and '0.weight' is torch.float32",
        ),
        (network, {"mode": "fast"}, "mode is 'fast'; it must be one of async, bounded, sync"),
        (network, {"mode": "bounded"}, "mode is 'bounded' and staleness None"),
        (network, {"staleness": 3}, "mode is 'async' and staleness 3"),
        (network, {"mode": "bounded", "staleness": -1}, "staleness is -1; it must be at least 0 steps"),
        (network, {"optimizer": None}, "there is no optimizer, and pushes would add the gradients"),
        (network, {"optimizer": "sdg:lr=1"}, "sdg"),
        (network, {"name": "a" * 60}, "name 'a+' has 60 characters; it may have 56"),
        (network, {"mode": "sync", "rank": 2, "workers": 2}, r"rank is 2; it must be in \[0, 2\)"),
    ],
)
def test_arguments_that_do_not_fit(
    model: Callable[[], nn.Module], options: dict[str, Any], error: str, server: pyps.Server
) -> None:
    net = model()
    with server.worker() as kv:
        with pytest.raises(ValueError, match=error):
            distributed(kv, net, **options)
        with distributed(kv) as works:  # nothing stands in the way of a model that fits
            learn(works, 0)


def test_a_worker_of_a_table(server: pyps.Server) -> None:
    server.table("users", dim=2)
    with (
        server.worker() as kv,
        pytest.raises(TypeError, match="kv is a worker of table 'users': pass one of"),
    ):
        distributed(kv.table("users"))


@pytest.mark.parametrize("mode", ["async", "sync"])
def test_a_gradient_that_is_no_number_is_named_and_not_applied(mode: str, server: pyps.Server) -> None:
    with server.worker() as kv:
        model = distributed(kv, optimizer=NAN, mode=mode)
        before = state_of(model)
        with pytest.raises(ValueError, match=r"the gradient of parameter '2\.(weight|bias)'"):
            backward((model(batch(0)[0]) * float("nan")).sum())
        model.pull()
        assert_close(state_of(model), before, 0)
        assert all(
            parameter.grad is None for parameter in model.module.parameters() if parameter.numel() < 700
        )
        if mode == "async":
            learn(model, 0)  # goes on
        else:
            with pytest.raises(pyps.Error, match="this worker of model 'model' failed before: make a new"):
                learn(model, 0)
        model.close(failed=True)


def test_a_gradient_that_is_to_be_differentiated_again(server: pyps.Server) -> None:
    with server.worker() as kv, distributed(kv) as model:
        loss = model(batch(0)[0]).square().mean()
        with pytest.raises(RuntimeError, match=r"parameter '2\.\w+' was computed with create_graph=True"):
            backward(loss, create_graph=True)


def test_gradients_of_inputs_can_be_differentiated_again(server: pyps.Server) -> None:
    """As in gradient penalties."""
    with server.worker() as kv, distributed(kv) as model:
        before, inputs = state_of(model), batch(0)[0].requires_grad_()
        (slopes,) = torch.autograd.grad(model(inputs).sum(), inputs, create_graph=True)
        backward(slopes.square().sum())
        assert not torch.equal(state_of(model)["0.weight"], before["0.weight"])


def test_a_graph_that_is_kept_makes_a_step_each_time(server: pyps.Server) -> None:
    with server.worker() as kv, distributed(kv, nn.Linear(1, 1, bias=False)) as model:
        before = state_of(model)["weight"]
        loss = model(torch.ones(1, 1)).sum()
        backward(loss, retain_graph=True)
        backward(loss)
        torch.testing.assert_close(state_of(model)["weight"], before - 0.2)


def test_sparse_gradients(server: pyps.Server) -> None:
    with server.worker() as kv, distributed(kv, nn.Embedding(5, 2, sparse=True)) as model:
        loss = model(torch.tensor([1, 2])).sum()
        with pytest.raises(TypeError, match="the gradient of parameter 'weight' is sparse"):
            backward(loss)


def test_a_module_at_two_tables(server: pyps.Server) -> None:
    net = network()
    with (
        server.worker() as kv,
        distributed(kv, net),
        distributed(kv, net, name="other") as model,
        pytest.raises(RuntimeError, match=r"parameter '2\.\w+' is that of another Distributed, too"),
    ):
        learn(model, 0)


@pytest.mark.parametrize(
    ("use", "error"),
    [
        (copy.deepcopy, "a Distributed has a place among workers: copy its module"),
        (pickle.dumps, "a Distributed belongs to its process: send its module"),
        (lambda model: model.double(), "move or convert the model before it is given to Distributed"),
        (lambda model: model.to("meta"), "move or convert the model before it is given to Distributed"),
    ],
)
def test_uses_that_would_go_wrong_later(
    use: Callable[[nn.Module], Any], error: str, server: pyps.Server
) -> None:
    with server.worker() as kv, distributed(kv) as model:
        with pytest.raises(TypeError, match=error):
            use(model)
        assert_close(copy.deepcopy(model.module).state_dict(), state_of(model), 0)


def test_a_state_that_would_replace_the_parameters(server: pyps.Server) -> None:
    with (
        server.worker() as kv,
        distributed(kv) as model,
        pytest.raises(ValueError, match="with assign=True the parameters would lie elsewhere"),
    ):
        model.load_state_dict(network().state_dict(), assign=True)


@pytest.mark.parametrize("mode", ["async", "sync"])
@pytest.mark.parametrize("when", ["forward", "backward"])
def test_a_server_that_was_closed(when: str, mode: str) -> None:
    server = pyps.Server(1)
    kv = server.worker()
    model = distributed(kv, mode=mode)
    output = model(batch(0)[0])
    if when == "forward":
        backward(output.mean())
    server.shutdown()
    with pytest.raises(pyps.ClosedError):
        backward(model(batch(0)[0]) if when == "forward" else output.mean())
    model.close(failed=True)


@pytest.mark.slow
def test_a_first_worker_that_ends_before_it_has_set_the_values(server: pyps.Server) -> None:
    """What it left is there: tables without values."""
    server.table("model.shapes", dim=1, dtype="int64", initializer="constant:value=-7")
    with server.worker() as kv:
        with pytest.raises(
            pyps.WaitTimeoutError, match=r"has not set its values; .*drop_table\('model'\) and drop"
        ):
            distributed(kv, timeout=0.2)
        server.drop_table("model")
        server.drop_table("model.shapes")
        with distributed(kv) as model:
            learn(model, 0)
