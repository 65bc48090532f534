"""What optimizers on the server make of gradients: the same as torch's, in every dtype and from every way to a key."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

import pyps
from tests.pyps.optimizers import CASES, Rows

KEYS, LENGTH = 12, 19  # some elements are left over behind the vectors
FORMATS = ["float16", "bfloat16"]


@pytest.fixture(params=["float32", "float64"])
def dtype(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def normal(random: np.random.Generator, count: int, dtype: str) -> np.ndarray[Any, Any]:
    return random.normal(size=(count, LENGTH)).astype(dtype)


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("kind", ["dense", "sparse", "repeated"])
def test_values_are_those_of_torch(case: str, kind: str, dtype: str) -> None:
    make, torchs = CASES[case]
    random = np.random.default_rng(1)
    first = normal(random, KEYS, dtype)
    expected = Rows(first, torchs)
    with pyps.Server(KEYS, LENGTH, dtype=dtype, optimizer=make()) as server, server.worker() as kv:
        kv.set(np.arange(KEYS), first)
        for _ in range(30):
            keys = random.permutation(KEYS)[: KEYS if kind == "dense" else 4]
            if kind == "repeated":
                keys = random.integers(KEYS, size=9)
            gradients = normal(random, len(keys), dtype)
            kv.push(keys, gradients)
            expected.push(keys.tolist(), gradients)
        limit = 1e-6 if dtype == "float32" else 1e-12
        np.testing.assert_allclose(kv.pull(np.arange(KEYS)), expected.values(), rtol=limit, atol=limit)


@pytest.mark.parametrize(
    ("name", "torchs", "keys_of_a_step", "options"),
    # SparseAdam counts the steps of all rows together, so here each row has all steps; it adds eps before the
    # correction of the means, so eps is small.
    [
        ("SGD", "SGD", "some", {}),
        ("Adagrad", "Adagrad", "some", {}),
        ("Adam", "SparseAdam", "all", {"eps": 1e-12}),
    ],
)
def test_a_push_is_a_step_with_sparse_gradients_in_torch(
    name: str, torchs: str, keys_of_a_step: str, options: dict[str, float]
) -> None:
    """An embedding of torch, whose gradient is sparse and has repeated keys."""
    random = np.random.default_rng(2)
    first = torch.tensor(normal(random, KEYS, "float32"))
    embedding = torch.nn.Embedding(KEYS, LENGTH, sparse=True, _weight=first.clone())
    expected = getattr(torch.optim, torchs)(embedding.parameters(), lr=0.05, **options)
    optimizer = getattr(pyps.optim, name)(lr=0.05, **options)
    with (
        torch.sparse.check_sparse_tensor_invariants(True),
        pyps.Server(KEYS, LENGTH, optimizer=optimizer) as server,
        server.worker() as kv,
    ):
        kv.set(torch.arange(KEYS), first)
        for _ in range(20):
            always = np.arange(KEYS if keys_of_a_step == "all" else 0)
            keys = torch.tensor(np.concatenate([always, random.integers(KEYS, size=6)]))
            gradients = torch.tensor(normal(random, len(keys), "float32"))
            expected.zero_grad()
            (embedding(keys) * gradients).sum().backward()  # type: ignore[no-untyped-call]
            expected.step()
            kv.push(keys, gradients)
        found = kv.pull(torch.arange(KEYS))
        torch.testing.assert_close(found, embedding.weight.detach(), rtol=1e-6, atol=1e-6)


def test_rowwise_adagrad_has_one_sum_for_a_value(dtype: str) -> None:
    random = np.random.default_rng(3)
    first, sums = normal(random, KEYS, dtype), np.full(KEYS, 0.5)
    expected = first.astype("float64")
    optimizer = pyps.optim.RowwiseAdagrad(0.1, weight_decay=0.01, initial_accumulator_value=0.5)
    with pyps.Server(KEYS, LENGTH, dtype=dtype, optimizer=optimizer) as server, server.worker() as kv:
        kv.set(np.arange(KEYS), first)
        for _ in range(20):
            keys = random.permutation(KEYS)[:5]
            gradients = normal(random, 5, dtype)
            kv.push(keys, gradients)
            whole = gradients + 0.01 * expected[keys]
            sums[keys] += (whole**2).mean(axis=1)
            expected[keys] -= 0.1 * whole / (np.sqrt(sums[keys]) + 1e-10)[:, None]
        limit = 1e-6 if dtype == "float32" else 1e-12
        np.testing.assert_allclose(kv.pull(np.arange(KEYS)), expected, rtol=limit, atol=limit)
        assert server.stats()["value_bytes"] == KEYS * (-(-LENGTH * first.itemsize // 8) * 8 + 8)


def test_ftrl_follows_the_paper(dtype: str) -> None:
    random = np.random.default_rng(4)
    alpha, beta, l1, l2 = 0.1, 1.0, 0.3, 0.2
    n, z = np.zeros((KEYS, LENGTH)), np.zeros((KEYS, LENGTH))
    weights = np.zeros((KEYS, LENGTH))
    optimizer = pyps.optim.FTRL(alpha, beta, l1, l2)
    with pyps.Server(KEYS, LENGTH, dtype=dtype, optimizer=optimizer) as server, server.worker() as kv:
        for _ in range(20):
            keys = random.permutation(KEYS)[:5]
            gradients = normal(random, 5, dtype)
            kv.push(keys, gradients)
            g = gradients.astype("float64")
            sigma = (np.sqrt(n[keys] + g**2) - np.sqrt(n[keys])) / alpha
            z[keys] += g - sigma * weights[keys]
            n[keys] += g**2
            shrunk = np.where(np.abs(z) <= l1, 0, z - np.sign(z) * l1)
            weights = -shrunk / ((beta + np.sqrt(n)) / alpha + l2)
        values = kv.pull(np.arange(KEYS))
        limit = 2e-6 if dtype == "float32" else 1e-12
        np.testing.assert_allclose(values, weights, rtol=limit, atol=limit)
        assert (values == 0).mean() > 0.05  # l1 makes zeros


def test_ftrl_starts_from_what_was_set() -> None:
    with (
        pyps.Server(1, 3, dtype="float64", optimizer=pyps.optim.FTRL(l1=0.5, l2=0.1)) as server,
        server.worker() as kv,
    ):
        kv.set([0], [2.0, -3.0, 0.0])
        kv.push([0], np.zeros(3))
        np.testing.assert_allclose(kv.pull([0])[0], [2.0, -3.0, 0.0], rtol=1e-12)
        kv.push([0], np.full(3, 1e-6))
        np.testing.assert_allclose(kv.pull([0])[0], [2.0, -3.0, 0.0], atol=1e-6)


@pytest.mark.parametrize("case", CASES)
def test_set_begins_a_key_anew(case: str) -> None:
    make, _ = CASES[case]
    gradient = np.ones((1, LENGTH), "float32")
    with pyps.Server(2, LENGTH, optimizer=make()) as server, server.worker() as kv:
        for _ in range(3):
            kv.push([0], gradient)
        kv.set([0], np.zeros(LENGTH, "float32"))
        for key in (0, 1):  # the other one has never had a step
            kv.push([key], gradient)
            kv.push([key], -2 * gradient)
        assert (kv.pull([0]) == kv.pull([1])).all()


def test_values_may_have_different_lengths() -> None:
    lengths = [3, 40, 3, 7]
    random = np.random.default_rng(5)
    keys = [1, 3, 1, 0, 3, 3]
    gradients = [random.normal(size=lengths[key]).astype("float32") for key in keys]
    with (
        pyps.Server(4, lengths, optimizer="adagrad:lr=1") as server,
        server.worker() as kv,
        pyps.Server(4, lengths, optimizer="adagrad:lr=1") as other,
        other.worker() as one_by_one,
    ):
        kv.push(keys, np.concatenate(gradients))
        for key in (0, 1, 3):
            one_by_one.push(
                [key], np.sum([g for k, g in zip(keys, gradients, strict=True) if k == key], axis=0)
            )
        everything = kv.pull(range(4))
        assert np.array_equal(everything, one_by_one.pull(range(4)))
        assert np.count_nonzero(everything) == 3 + 40 + 7


def test_keys_may_be_any_numbers() -> None:
    with pyps.Server(value_length=3, capacity=100, optimizer="sgd:lr=0.5") as server, server.worker() as kv:
        kv.push([10**15, -7, 10**15], np.ones((3, 3), "float32"))
        assert (kv.pull([10**15, -7, 8]) == [[-1], [-0.5], [0]]).all()
        kv.push([-7, 10**15], np.ones((2, 3), "float32"), asynchronous=True).wait()
        assert (kv.pull([10**15, -7]) == [[-1.5], [-1]]).all()


def test_keys_of_several_classes_have_their_lengths() -> None:
    """Keys that are any numbers, whose lengths their classes say; a key of each class comes twice."""
    short, long = pyps.classed_keys(0, 7), pyps.classed_keys(1, 7)
    with (
        pyps.Server(value_length=[2, 5], capacity=100, optimizer="adagrad:lr=1,eps=0") as server,
        server.worker() as kv,
    ):
        kv.push([long, short, long, short], np.ones(5 + 2 + 5 + 2, "float32"))
        kv.push([short], np.zeros(2, "float32"))
        assert (kv.pull([short, long]) == np.full(7, -1)).all()


@pytest.mark.parametrize("name", FORMATS)
def test_steps_below_the_last_place_have_their_effect_in_the_mean(name: str) -> None:
    """From 1 on, 4000 steps of 1/32 of the last place: rounding to the nearest would stay at 1."""
    place = 2.0**-10 if name == "float16" else 2.0**-7
    dtype, steps, length = getattr(torch, name), 4000, 64
    rate = place / 32
    with pyps.Server(1, length, dtype=name, optimizer=pyps.optim.SGD(rate)) as server, server.worker() as kv:
        kv.set([0], torch.ones(length, dtype=dtype))
        up = torch.full((1, length), -1.0, dtype=dtype)
        for _ in range(steps):
            kv.push(torch.tensor([0]), up)
        moved = kv.pull(torch.tensor([0])).to(torch.float64) - 1
        noise = place * (steps / 32 / length) ** 0.5  # of the mean over all elements
        assert moved.mean().item() == pytest.approx(steps * rate, abs=6 * noise)
        assert moved.std() > 0


@pytest.mark.parametrize("name", FORMATS)
def test_what_a_format_has_is_not_rounded(name: str) -> None:
    """All numbers of 16 bits: a step of nothing changes none, a NaN stays one."""
    numbers = torch.arange(-(2**15), 2**15, dtype=torch.int32).to(torch.int16).view(getattr(torch, name))
    with pyps.Server(64, 1024, dtype=name, optimizer="sgd:lr=1") as server, server.worker() as kv:
        keys = torch.arange(64)
        kv.set(keys, numbers)
        kv.push(keys, torch.zeros_like(numbers))
        finite = ~numbers.isinf()  # the decay of an infinite weight, 0 times it, is NaN
        found = kv.pull(keys).flatten()
        torch.testing.assert_close(found[finite], numbers[finite], rtol=0, atol=0, equal_nan=True)


@pytest.mark.parametrize("name", FORMATS)
def test_a_result_is_rounded_to_one_of_its_two_neighbours(name: str) -> None:
    dtype = getattr(torch, name)
    random = torch.Generator().manual_seed(6)
    exponents = torch.randint(-26, 17, (64, 1024), generator=random)
    wanted = torch.randn(64, 1024, generator=random) * 2.0**exponents
    nearest = wanted.to(dtype)
    with pyps.Server(64, 1024, dtype=name, optimizer="sgd:lr=0.3") as server, server.worker() as kv:
        keys = torch.arange(64)
        kv.push(keys, nearest)
        exact = -np.float32(0.3) * nearest.float().numpy()
        found = kv.pull(keys)
    below, above = _neighbours(torch.tensor(exact), dtype)
    assert ((found == below) | (found == above)).all()
    assert (found != torch.tensor(exact).to(dtype)).float().mean() > 0.1


def _neighbours(exact: torch.Tensor, dtype: torch.dtype) -> tuple[torch.Tensor, torch.Tensor]:
    nearest = exact.to(dtype)
    bits = nearest.view(torch.int16).to(torch.int32)
    larger = (bits + 1).to(torch.int16).view(dtype)
    smaller = (bits - 1).to(torch.int16).view(dtype)
    is_up = nearest.float().abs() > exact.abs()
    return torch.where(is_up, smaller, nearest), torch.where(is_up, nearest, larger)
