"""What values begin with: drawn from the seed and the key alone, whoever makes the value and whenever."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import numpy as np
import pytest
import torch

import pyps
from pyps.initializers import Constant, Initializer, Normal, Uniform
from tests.pyps.any_keys import spread
from tests.pyps.cluster import Cluster
from tests.python_path import python_path

LENGTH = 6
UNIFORM = Uniform(-0.5, 1.5, seed=7)


def begun(keys: Any, *, initializer: Initializer | str = UNIFORM, **options: Any) -> Any:
    """Return what keys begin with on a node of its own."""
    with (
        pyps.Server(value_length=LENGTH, initializer=initializer, **options) as server,
        server.worker() as kv,
    ):
        return kv.pull(keys)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(
    ("initializer", "mean", "std"),
    [(UNIFORM, 0.5, 2 / 12**0.5), (Normal(-3.0, 0.25), -3, 0.25), (Constant(2.5), 2.5, 0)],
    ids=str,
)
def test_elements_have_the_distribution(
    initializer: Initializer, mean: float, std: float, dtype: str
) -> None:
    first = begun(np.arange(20_000), num_keys=20_000, initializer=initializer, dtype=dtype).astype(np.float64)
    assert first.mean() == pytest.approx(mean, abs=5 * std / first.size**0.5 + 1e-12)
    assert first.std() == pytest.approx(std, rel=0.02)
    if initializer is UNIFORM:
        assert first.min() >= -0.5
        assert first.max() < 1.5
    if std:  # neither the elements of a key nor those of neighbours go together
        assert abs(np.corrcoef(first[1:].ravel(), first[:-1].ravel())[0, 1]) < 0.02
        assert abs(np.corrcoef(first[:, 1:].ravel(), first[:, :-1].ravel())[0, 1]) < 0.02
        assert len(np.unique(first)) > 0.95 * first.size


def test_another_seed_begins_otherwise() -> None:
    one, other = (begun(np.arange(100), num_keys=100, initializer=Uniform(seed=seed)) for seed in (1, 2))
    assert not (one == other).any()


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_sixteen_bits_hold_the_nearest(dtype: str) -> None:
    kind = getattr(torch, dtype)
    exact = torch.from_numpy(begun(np.arange(50), num_keys=50, dtype="float64"))
    with (
        pyps.Server(50, LENGTH, dtype=kind, initializer=UNIFORM) as server,
        server.worker() as kv,
    ):
        assert torch.equal(kv.pull(torch.arange(50)), exact.to(torch.float32).to(kind))


@pytest.mark.parametrize("dtype", ["int32", "int64"])
def test_whole_numbers_may_be_a_constant(dtype: str) -> None:
    assert (begun([0, 3], num_keys=4, dtype=dtype, initializer="constant:value=-4") == -4).all()


@pytest.mark.parametrize("keys", ["range", "any"])
@pytest.mark.parametrize(("count", "threads"), [(1, 3), (2, 1), (4, 3)])
def test_every_number_of_nodes_begins_alike(keys: str, count: int, threads: int) -> None:
    """Pulled, pushed to and localized for the first time, by all nodes at once."""
    names = np.arange(400) if keys == "range" else spread(400)
    space: dict[str, Any] = {"num_keys": 400} if keys == "range" else {"capacity": 2000}
    expected = begun(names, **space)

    def use(kv: pyps.Worker, number: int) -> Any:
        order = np.random.default_rng(number).permutation(400)
        kv.push(names[order[:50]], np.ones((50, LENGTH), np.float32))
        kv.localize(names[order[50:100]])
        kv.intent(names[order[100:150]], kv.current_clock(), kv.current_clock() + 100)
        pulled = kv.pull(names[order])
        return order[:50], np.abs(pulled - expected[order])[50:].max()

    with Cluster(count, value_length=LENGTH, initializer=UNIFORM, server_threads=threads, **space) as cluster:
        done = cluster.run(use, workers=1)
        sums = expected.copy()
        for pushed, beyond in done:
            sums[pushed] += 1
            assert beyond <= count + 1e-5  # what others pushed meanwhile
        with cluster.nodes[-1].worker() as kv:
            kv.wait_sync()
            np.testing.assert_allclose(kv.pull(names), sums, rtol=1e-6)


@pytest.mark.slow
def test_another_process_begins_alike() -> None:
    program = f"""
import pyps
from tests.pyps.any_keys import spread
with pyps.Server(value_length={LENGTH}, capacity=100, initializer="{UNIFORM.text}") as server, server.worker() as kv:
    print(kv.pull(spread(3)).tobytes().hex())
"""
    done = subprocess.run(
        [sys.executable, "-c", program],
        env={"PYTHONPATH": python_path()},
        capture_output=True,
        text=True,
        check=True,
        timeout=100,
    )
    assert bytes.fromhex(done.stdout) == begun(spread(3), capacity=100).tobytes()


def test_an_optimizer_steps_from_there() -> None:
    first = begun([5], num_keys=9)
    with (
        pyps.Server(9, LENGTH, initializer=UNIFORM, optimizer="adagrad:lr=0.5,eps=0") as server,
        server.worker() as kv,
    ):
        kv.push([5], np.full(LENGTH, 3, np.float32))
        np.testing.assert_allclose(kv.pull([5]), first - 0.5, rtol=1e-6)


def test_lengths_of_classes_begin_alike_as_far_as_they_go() -> None:
    keys = pyps.classed_keys(1, [8])
    with (
        pyps.Server(value_length=[2, 5], capacity=10, initializer=UNIFORM) as server,
        server.worker() as kv,
    ):
        long = kv.pull(keys).ravel()
    with (
        pyps.Server(value_length=[5, 2], capacity=10, initializer=UNIFORM) as server,
        server.worker() as kv,
    ):
        assert (kv.pull(keys).ravel() == long[:2]).all()


def test_a_server_says_what_values_begin_with() -> None:
    with pyps.Server(3, initializer=Normal(std=0.1)) as server, pyps.attach(server.address) as attached:
        assert server.initializer_text() == attached.initializer_text() == "normal:mean=0,std=0.1,seed=0"
    with pyps.Server(3) as server:
        assert server.initializer_text() == ""


@pytest.mark.parametrize(
    ("made", "error", "message"),
    [
        (lambda: Uniform(1, 0), ValueError, "low is 1 and high 0; low must not be above high"),
        (lambda: Uniform(-1e308, 1e308), ValueError, "nor so far below"),
        (lambda: Uniform(seed=-1), ValueError, r"seed is -1; it must be a whole number in \[0, 2\^53\]"),
        (lambda: Uniform(seed=1.5), ValueError, "seed is 1.5; it must be a whole number"),  # type: ignore[arg-type]
        (lambda: Normal(std=-1), ValueError, r"std is -1; it must be in \[0, inf\)"),
        (lambda: Normal(float("nan")), ValueError, "mean is nan; it must be a finite number"),
        (lambda: Constant("x"), TypeError, "value must be a number, not str"),  # type: ignore[arg-type]
        (lambda: pyps.Server(3, initializer="ones"), ValueError, "unknown; there are zeros, constant, uniform, normal"),
        (lambda: pyps.Server(3, initializer="zeros:value=1"), ValueError, "zeros has no value; it has no settings"),
        (lambda: pyps.Server(3, initializer="normal:sd=1"), ValueError, "normal has no sd; it has mean, std, seed"),
        (lambda: pyps.Server(3, initializer=3), TypeError, "one of pyps.initializers or its text"),  # type: ignore[arg-type]
        (lambda: pyps.Server(3, dtype="int32", initializer=Normal()), ValueError, "normal is not for int32"),
        (lambda: pyps.Server(3, dtype="int64", initializer=Constant(0.5)), ValueError, "0.5, which is not one"),
        (lambda: pyps.Server(3, dtype="int32", initializer=Constant(2**31)), ValueError, "not one of int32's"),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_named(made: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        made()


def test_zeros_are_no_initializer() -> None:
    assert (begun([1], num_keys=3, initializer="zeros") == 0).all()
    assert (begun([1], num_keys=3, initializer="") == 0).all()
