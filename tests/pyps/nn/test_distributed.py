"""A dense model at a server, with one worker: what a forward and a backward do."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

import pyps
from tests.pyps.nn.dense import (
    MODES,
    assert_close,
    backward,
    batch,
    distributed,
    learn,
    learnt_by_torch,
    network,
    state_of,
)
from tests.pyps.optimizers import CASES

STEPS = 4


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("optimizer", CASES)
def test_it_learns_as_with_torch(optimizer: str, mode: str, server: pyps.Server) -> None:
    ours, torchs = CASES[optimizer]
    with server.worker() as kv, distributed(kv, optimizer=ours(), **MODES[mode]) as model:
        for step in range(STEPS):
            learn(model, step)
    assert_close(model.module.state_dict(), learnt_by_torch(torchs, STEPS))


@pytest.mark.parametrize("dtype", [torch.float64, torch.float16, torch.bfloat16])
def test_parameters_of_other_types(dtype: torch.dtype, server: pyps.Server) -> None:
    with server.worker() as kv, distributed(kv, network().to(dtype)) as model:
        before = state_of(model)
        backward(model(batch(0)[0].to(dtype)).square().mean())
    after = model.module.state_dict()
    assert model.table.dtype.name == str(dtype).removeprefix("torch.")
    assert all(not torch.equal(after[name], before[name]) for name in after)


def test_a_backward_leaves_no_gradients(server: pyps.Server) -> None:
    with server.worker() as kv, distributed(kv) as model:
        learn(model, 0)
        assert [parameter.grad for parameter in model.parameters()] == [None] * 4


def test_the_parameters_stay_the_same_objects(server: pyps.Server) -> None:
    net = network()
    before = [id(parameter) for parameter in net.parameters()]
    with server.worker() as kv, distributed(kv, net):
        assert [id(parameter) for parameter in net.parameters()] == before


def test_the_first_forward_after_a_backward_pulls(server: pyps.Server) -> None:
    with (
        server.worker() as kv,
        distributed(kv) as model,
        server.worker() as other,
        distributed(other) as another,
    ):
        learn(model, 0)
        learn(another, 1)
        model(batch(0)[0])  # also sees what the other one pushed
        seen = copy.deepcopy(model.module.state_dict())
        learn(another, 2)
        model(batch(0)[0])  # no step of this worker since
        assert_close(model.module.state_dict(), seen, 0)
        model.pull()
        assert not torch.equal(model.module.state_dict()["0.bias"], seen["0.bias"])
        another.pull()
        assert_close(model.state_dict(), another.state_dict(), 0)


def test_a_forward_may_be_called_twice_before_a_backward(server: pyps.Server) -> None:
    with (
        server.worker() as kv,
        distributed(kv) as model,
        server.worker() as other,
        distributed(other) as another,
    ):
        learn(another, 0)
        one, two = (nn.functional.nll_loss(model(batch(step)[0]), batch(step)[1]) for step in (1, 2))
        learn(another, 3)
        backward(one + two)  # the values of both forwards are those of the first


def test_a_pull_between_forward_and_backward_is_an_error(server: pyps.Server) -> None:
    with server.worker() as kv, distributed(kv) as model:
        loss = model(batch(0)[0]).mean()
        model.pull()
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            backward(loss)


@pytest.mark.parametrize("mode", MODES)
def test_gradients_add_up_without_sync(mode: str, server: pyps.Server) -> None:
    expected = network()
    optimizer = torch.optim.SGD(expected.parameters(), lr=0.1)
    with server.worker() as kv, distributed(kv, **MODES[mode]) as model:
        for step in range(2):
            optimizer.zero_grad()
            for part in range(3):
                learn(expected, 3 * step + part)
            with model.no_sync():
                learn(model, 3 * step)
                learn(model, 3 * step + 1)
            learn(model, 3 * step + 2)
            optimizer.step()
    assert_close(model.module.state_dict(), expected.state_dict())


class Branches(nn.Module):
    """Of two layers each forward uses one; the weight of a third one is that of the first."""

    def __init__(self) -> None:
        super().__init__()
        self.left, self.right, self.tied = nn.Linear(4, 4), nn.Linear(4, 4), nn.Linear(4, 4, bias=False)
        self.tied.weight = self.left.weight

    def forward(self, inputs: torch.Tensor, *, left: bool) -> torch.Tensor:
        output: torch.Tensor = self.tied(self.left(inputs)) if left else self.right(inputs)
        return output


@pytest.mark.parametrize("mode", MODES)
def test_parameters_that_are_not_used_make_no_step(mode: str, server: pyps.Server) -> None:
    """With momentum a step without a gradient would change them."""
    model, inputs = Branches(), torch.linspace(-1, 1, 20).view(5, 4)
    expected = copy.deepcopy(model)
    optimizer = torch.optim.SGD(expected.parameters(), lr=0.1, momentum=0.9)
    with (
        server.worker() as kv,
        distributed(kv, model, optimizer="sgd:lr=0.1,momentum=0.9", **MODES[mode]) as at_server,
    ):
        for left in (True, False, False, True):
            optimizer.zero_grad()
            for one in (expected, at_server):
                backward(one(inputs, left=left).square().mean())
            optimizer.step()
    assert_close(model.state_dict(), expected.state_dict())


def test_frozen_parameters_are_never_pushed(server: pyps.Server) -> None:
    net = network()
    net[0].requires_grad_(requires_grad=False)
    with server.worker() as kv, distributed(kv, net) as model:
        before = state_of(model)
        learn(model, 0)
    after = net.state_dict()
    assert [name for name in after if torch.equal(after[name], before[name])] == ["0.weight", "0.bias"]


def test_parameters_without_elements(server: pyps.Server) -> None:
    net = nn.Sequential(nn.Linear(2, 2), nn.BatchNorm1d(0))
    expected = copy.deepcopy(net)
    optimizer = torch.optim.SGD(expected.parameters(), lr=0.1)
    with server.worker() as kv, distributed(kv, net) as model:
        for one in (model.module, expected):
            backward(one[0](torch.ones(1, 2)).sum() + one[1].weight.sum())  # type: ignore[index]
        optimizer.step()
    assert_close(net.state_dict(), expected.state_dict())


@pytest.mark.slow
def test_a_compiled_module_learns_the_same(server: pyps.Server) -> None:
    net = network()
    compiled = torch.compile(net, backend="eager")
    with server.worker() as kv, distributed(kv, compiled) as model:  # type: ignore[arg-type]
        for step in range(STEPS):
            learn(model, step)
    assert_close(net.state_dict(), learnt_by_torch(lambda rows: torch.optim.SGD(rows, lr=0.1), STEPS))


def test_a_scheduler_of_torch_sets_the_rate(server: pyps.Server) -> None:
    optimizer = pyps.optim.SGD(lr=0.1)
    with server.worker() as kv, distributed(kv, optimizer=optimizer) as model:
        scheduler = torch.optim.lr_scheduler.ExponentialLR(optimizer, 0.5)
        optimizer.step()
        scheduler.step()
        assert model.table.optimizer is not None
        assert model.table.optimizer_text().startswith("sgd:lr=0.05,")


def test_a_state_has_the_names_of_the_module(server: pyps.Server) -> None:
    net = network()
    with server.worker() as kv, distributed(kv, net) as model:
        learn(model, 0)
        state = state_of(model)
        assert list(state) == list(net.state_dict())
        outer = nn.ModuleDict({"net": model})
        assert list(outer.state_dict()) == [f"net.{name}" for name in state]
        outer.load_state_dict({name: torch.zeros_like(one) for name, one in outer.state_dict().items()})
        assert not any(one.any() for one in state_of(model).values())


def test_a_state_has_the_last_step(server: pyps.Server) -> None:
    with server.worker() as kv, distributed(kv) as model:
        learn(model, 0)
        state = state_of(model)
    assert_close(state, learnt_by_torch(lambda rows: torch.optim.SGD(rows, lr=0.1), 1))


def test_loading_a_state_sets_the_values_for_all(server: pyps.Server) -> None:
    with (
        server.worker() as kv,
        distributed(kv) as model,
        server.worker() as other,
        distributed(other) as another,
    ):
        state = network(seed=5).state_dict()
        model.load_state_dict(state)
        another.pull()
        assert_close(another.state_dict(), state, 0)
        assert_close(model.state_dict(), state, 0)


@pytest.mark.parametrize(
    ("change", "error"),
    [
        (lambda state: state.pop("2.bias"), "the state has no '2.bias'; with strict=False"),
        (
            lambda state: state.update({"2.bias": torch.zeros(7)}),
            r"'2.bias' has the shape \(7,\) in the state, and",
        ),
    ],
)
def test_a_state_that_does_not_fit_changes_nothing(change: Any, error: str, server: pyps.Server) -> None:
    with server.worker() as kv, distributed(kv) as model:
        before, state = state_of(model), network(seed=5).state_dict()
        change(state)
        with pytest.raises(RuntimeError, match=error):
            model.load_state_dict(state)
        model.pull()
        assert_close(model.state_dict(), before, 0)


def test_buffers_are_those_of_each_worker(server: pyps.Server) -> None:
    one, two = nn.BatchNorm1d(2), nn.BatchNorm1d(2)
    with (
        server.worker() as kv,
        distributed(kv, one) as model,
        server.worker() as other,
        distributed(other, two) as another,
    ):
        backward(model(torch.ones(3, 2)).sum())
        another.pull()
    assert one.state_dict()["running_mean"].tolist() == pytest.approx([0.1, 0.1])
    assert two.state_dict()["running_mean"].tolist() == [0, 0]


def test_after_its_end_a_module_is_as_others(server: pyps.Server) -> None:
    with server.worker() as kv:
        model = distributed(kv)
        learn(model, 0)
        model.close()
        model.close()
    assert_close(model.module.state_dict(), learnt_by_torch(lambda rows: torch.optim.SGD(rows, lr=0.1), 1))
    learn(model.module, 1)
    assert all(parameter.grad is not None for parameter in model.parameters())
    state = network(seed=5).state_dict()
    model.load_state_dict(state)
    assert_close(model.state_dict(), state, 0)


def test_a_checkpoint_of_the_server_has_the_model(tmp_path: Path) -> None:
    with pyps.Server(1) as server, server.worker() as kv, distributed(kv, optimizer="adam:lr=0.1") as model:
        learn(model, 0)
        state = state_of(model)
        saved = pyps.checkpoint.save(tmp_path, server)
        learn(model, 1)
        after = state_of(model)
    with pyps.Server(1) as server, server.worker() as kv:
        pyps.checkpoint.load(saved, server)
        with distributed(kv, network(seed=5), optimizer="adam:lr=0.1") as model:
            assert_close(state_of(model), state, 0)
            learn(model, 1)  # with the sums that Adam had
            assert_close(model.state_dict(), after)


def test_two_models_have_tables_of_their_own(server: pyps.Server) -> None:
    with (
        server.worker() as kv,
        distributed(kv) as one,
        distributed(kv, nn.Linear(2, 2), name="other", optimizer="adam:lr=1") as two,
    ):
        learn(one, 0)
        backward(two(torch.ones(1, 2)).sum())
        assert set(server.table_names()) >= {"model", "other"}
        assert one.table.optimizer_text() != two.table.optimizer_text()
