"""One batch for several models of a process: split, apply, join."""

from __future__ import annotations

import threading
from contextlib import ExitStack
from typing import Any

import pytest
import torch
from torch import nn

import pyps
from pyps.nn import join, parallel_apply, split
from tests.pyps.nn.dense import backward, batch, distributed, learnt_by_torch, network, state_of

INPUTS = torch.arange(10.0).view(5, 2)
CLASSES = torch.arange(5)


def same(one: Any, other: Any) -> bool:
    """Whether two batches are equal and of one kind."""
    if isinstance(one, torch.Tensor):
        return torch.equal(one, other)
    if isinstance(one, dict):
        return list(one) == list(other) and all(same(one[name], other[name]) for name in one)
    return type(one) is type(other) and len(one) == len(other) and all(map(same, one, other))


@pytest.mark.parametrize("parts", [1, 2, 3, 5, 9])
@pytest.mark.parametrize(
    "whole",
    [INPUTS, (INPUTS, CLASSES), [INPUTS, (CLASSES, INPUTS)], {"inputs": INPUTS, "targets": CLASSES}],
    ids=["tensor", "tuple", "nested", "dict"],
)
def test_what_was_split_is_joined_again(whole: Any, parts: int) -> None:
    cut = split(whole, parts)
    assert len(cut) == min(parts, 5)
    assert same(join(cut), whole)


def test_parts_are_nearly_equal() -> None:
    assert [len(part) for part in split(INPUTS, 3)] == [2, 2, 1]


def test_losses_are_joined_side_by_side() -> None:
    assert join([torch.tensor(1.0), torch.tensor(2.0)]).tolist() == [1, 2]


def test_all_are_called_at_the_same_time() -> None:
    meeting = threading.Barrier(3)

    def function(value: int) -> int:
        meeting.wait(10)
        return 2 * value

    assert parallel_apply([function] * 3, [1, 2, 3]) == [2, 4, 6]


def test_inputs_become_arguments() -> None:
    def function(*arguments: int, **named: int) -> tuple[Any, ...]:
        return arguments, named

    inputs = [(1, 2), [3], {"value": 4}, 5]
    assert parallel_apply([function] * 4, inputs) == [
        ((1, 2), {}),
        ((3,), {}),
        ((), {"value": 4}),
        ((5,), {}),
    ]
    assert parallel_apply([function], []) == []


@pytest.mark.parametrize("grad", [True, False])
@pytest.mark.parametrize("autocast", [True, False])
def test_threads_are_as_the_caller(grad: bool, autocast: bool) -> None:
    def function(_: int) -> tuple[bool, bool]:
        return torch.is_grad_enabled(), torch.is_autocast_enabled("cpu")

    with torch.set_grad_enabled(grad), torch.autocast("cpu", torch.bfloat16, enabled=autocast):
        assert parallel_apply([function] * 2, [0, 1]) == [(grad, autocast)] * 2


def test_the_first_error_is_raised_when_all_have_ended() -> None:
    ended = []

    def function(value: int) -> None:
        if value:
            raise ZeroDivisionError(value)
        ended.append(value)

    with pytest.raises(ZeroDivisionError, match="1"):
        parallel_apply([function] * 3, [0, 1, 2])
    assert ended == [0]


@pytest.mark.parametrize(
    ("call", "kind", "error"),
    [
        (lambda: split(INPUTS, 0), ValueError, "parts is 0; it must be at least 1"),
        (lambda: split((INPUTS, CLASSES[:4]), 2), ValueError, "the tensors of a batch differ in their first"),
        (lambda: split((INPUTS, CLASSES[:4]), 5), ValueError, "the tensors of a batch differ in their first"),
        (lambda: split(torch.tensor(1), 2), ValueError, "a tensor without dimensions cannot be split"),
        (
            lambda: split("text", 2),
            TypeError,
            "a batch is made of tensors in tuples, lists and dicts, not of str",
        ),
        (lambda: parallel_apply([], [1]), ValueError, "there are 1 inputs for 0 functions: split into fewer"),
        (lambda: join([]), ValueError, "there are no outputs to join"),
        (
            lambda: join(["text"]),
            TypeError,
            "outputs are made of tensors in tuples, lists and dicts, not of str",
        ),
    ],
)
def test_what_does_not_fit(call: Any, kind: type[Exception], error: str) -> None:
    with pytest.raises(kind, match=error):
        call()


@pytest.mark.slow
def test_models_of_a_process_learn_from_one_batch(server: pyps.Server) -> None:
    """A backward through the joined outputs: each model pushes the gradients of its part."""
    expected = learnt_by_torch(lambda rows: torch.optim.SGD(rows, lr=0.1), 1)
    with ExitStack() as stack:
        workers = [stack.enter_context(server.worker()) for _ in range(2)]
        models = [stack.enter_context(distributed(kv)) for kv in workers]
        inputs, classes = batch(0)
        outputs = join(parallel_apply(models, split(inputs, 2)))
        backward(nn.functional.nll_loss(outputs, classes))
        found = state_of(models[0])
    assert all(torch.allclose(found[name], expected[name], atol=1e-6) for name in expected)


@pytest.mark.slow
def test_models_of_a_process_make_steps_in_common(server: pyps.Server) -> None:
    expected = learnt_by_torch(lambda rows: torch.optim.Adam(rows, lr=0.01), 3)

    def step(model: nn.Module) -> Any:
        def learn(inputs: torch.Tensor, classes: torch.Tensor) -> torch.Tensor:
            loss = nn.functional.nll_loss(model(inputs), classes)
            backward(loss)
            return loss.detach()

        return learn

    with ExitStack() as stack:
        workers = [stack.enter_context(server.worker()) for _ in range(2)]
        options = {"optimizer": "adam:lr=0.01", "mode": "sync", "workers": 2}
        models = parallel_apply(
            [lambda rank, kv=kv: distributed(kv, network(), rank=rank, **options) for kv in workers], [0, 1]
        )
        for model in models:
            stack.callback(model.close)
        for number in range(3):
            losses = join(parallel_apply([step(model) for model in models], split(batch(number), 2)))
            assert losses.shape == (2,)
        for model in models:
            found = state_of(model)
            assert all(torch.allclose(found[name], expected[name], atol=1e-6) for name in expected)
