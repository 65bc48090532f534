"""Samples: prepared, pulled in parts, finished; and what is refused."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import torch

import pyps

SCHEMES = ["naive", "preloc", "pool", "local"]
NUM_KEYS = 50


def float_of(keys: Any, width: int = 3) -> np.ndarray[Any, Any]:
    """Return what the tests store: every element of a value is its key."""
    return np.repeat(np.asarray(keys), width).astype(np.float32)


@pytest.fixture(params=SCHEMES)
def scheme(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    return name


@pytest.fixture
def plain() -> Iterator[pyps.LocalWorker]:
    """Fifty keys of three float32, each with its number in it; no sampling yet."""
    with pyps.local(NUM_KEYS, 3) as worker:
        worker.set(np.arange(NUM_KEYS), float_of(np.arange(NUM_KEYS)))
        yield worker


@pytest.fixture
def kv(plain: pyps.LocalWorker, scheme: str) -> pyps.LocalWorker:
    """Distinct keys of 10 to 29."""
    enable(plain, scheme, False, "uniform", 10, 30)
    return plain


def enable(worker: pyps.Worker, *args: Any, **options: Any) -> None:
    assert isinstance(worker.node, pyps.Server)
    worker.node.enable_sampling_support(*args, **options)


def pulled(worker: pyps.Worker, sample: int, n: int) -> list[int]:
    """Pull keys of a sample, see that their values came too, and return them."""
    keys, vals = np.full(n, -1), np.zeros(3 * n, np.float32)
    worker.pull_sample(sample, keys, vals)
    assert vals.tolist() == float_of(keys).tolist()
    result: list[int] = keys.tolist()
    return result


def test_a_sample_has_keys_of_the_range_and_their_values(kv: pyps.Worker) -> None:
    keys = pulled(kv, kv.prepare_sample(20, kv.current_clock()), 20)
    assert sorted(keys) == list(range(10, 30))


def test_a_sample_may_be_pulled_in_parts(kv: pyps.Worker) -> None:
    sample = kv.prepare_sample(20, 0, 5)
    parts = [pulled(kv, sample, n) for n in (1, 0, 7, 12)]
    assert sorted(itertools.chain(*parts)) == list(range(10, 30))


def test_samples_may_be_pulled_in_any_order(kv: pyps.Worker) -> None:
    first, second = kv.prepare_sample(20, 0), kv.prepare_sample(20, 1)
    keys = [pulled(kv, sample, 10) for sample in (second, first, second, first)]
    assert sorted(keys[0] + keys[2]) == sorted(keys[1] + keys[3]) == list(range(10, 30))


def test_with_replacement_keys_come_again(plain: pyps.Worker, scheme: str) -> None:
    enable(plain, scheme, True, "uniform", 3, 5)
    keys = pulled(plain, plain.prepare_sample(1000, 0), 1000)
    assert set(keys) == {3, 4}


@pytest.mark.parametrize("distribution", ["uniform", "log-uniform", "weighted"])
def test_without_replacement_all_keys_can_be_drawn_at_once(
    plain: pyps.Worker, scheme: str, distribution: str
) -> None:
    weights = 10.0 ** -np.arange(NUM_KEYS) if distribution == "weighted" else None
    enable(plain, scheme, False, distribution, 0, NUM_KEYS, weights=weights)
    for n in (NUM_KEYS, NUM_KEYS - 1, 1, NUM_KEYS):
        assert len(set(pulled(plain, plain.prepare_sample(n, 0), n))) == n


@pytest.mark.parametrize("replacement", [True, False])
def test_a_key_of_weight_zero_is_never_drawn(plain: pyps.Worker, scheme: str, replacement: bool) -> None:
    enable(plain, scheme, replacement, "weighted", 10, 20, weights=[0, 1, 0, 0, 5, 0, 1e-30, 0, 0, 0])
    if not replacement:
        with pytest.raises(ValueError, match=r"4 distinct keys cannot be drawn: .* 3 keys can be drawn"):
            plain.prepare_sample(4, 0)
        assert sorted(pulled(plain, plain.prepare_sample(3, 0), 3)) == [11, 14, 16]
    else:
        assert set(pulled(plain, plain.prepare_sample(300, 0), 300)) == {11, 14}


@pytest.mark.parametrize("weights", [[1, 0, 3], torch.tensor([1.0, 0, 3]), np.array([[1, 0, 3]], np.int8)])
def test_weights_come_as_lists_arrays_and_tensors(plain: pyps.Worker, weights: Any) -> None:
    enable(plain, "naive", True, "weighted", 0, 3, weights=weights)
    assert set(pulled(plain, plain.prepare_sample(200, 0), 200)) == {0, 2}


@pytest.mark.parametrize("kind", ["numpy", "torch"])
def test_keys_and_values_may_be_strided(kv: pyps.Worker, kind: str) -> None:
    keys: Any = np.full((10, 2), -1)
    vals: Any = np.full((30, 2), -1, np.float32)
    if kind == "torch":
        keys, vals = torch.from_numpy(keys), torch.from_numpy(vals)
    kv.pull_sample(kv.prepare_sample(10, 0), keys[:, 0], vals[:, 0])
    assert (np.asarray(keys)[:, 0] >= 10).all()
    assert np.asarray(vals)[:, 0].tolist() == float_of(np.asarray(keys)[:, 0]).tolist()
    assert (np.asarray(keys)[:, 1] == -1).all()
    assert (np.asarray(vals)[:, 1] == -1).all()


@pytest.mark.parametrize("step", [1, 2])
def test_what_a_buffer_has_beyond_the_values_stays(kv: pyps.Worker, step: int) -> None:
    keys, vals = np.zeros(2, np.int64), np.full(20, 7, np.float32)
    kv.pull_sample(kv.prepare_sample(2, 0), keys, vals[::step])
    assert vals[::step].tolist() == [*float_of(keys), *[7] * (20 // step - 6)]


@pytest.mark.parametrize("kind", ["numpy", "torch"])
def test_asynchronous_pulls_fill_the_keys_at_once(kv: pyps.Worker, kind: str) -> None:
    keys: Any = np.zeros(4, np.int64)
    vals: Any = np.zeros(12, np.float32)
    if kind == "torch":
        keys, vals = torch.from_numpy(keys), torch.from_numpy(vals)
    timestamp = kv.pull_sample(kv.prepare_sample(4, 0), keys, vals, **{"async": True})
    assert min(keys) >= 10
    kv.wait(timestamp)
    assert np.asarray(vals).tolist() == float_of(keys).tolist()


def test_values_of_different_lengths_need_room(scheme: str) -> None:
    with pyps.local(3, [1, 2, 10]) as kv:
        enable(kv, scheme, True, "weighted", 0, 3, weights=[0, 0, 1])
        sample = kv.prepare_sample(2, 0)
        keys = np.full(2, -1)
        with pytest.raises(ValueError, match=r"room for 19 elements, .* the 2 drawn keys have 20"):
            kv.pull_sample(sample, keys, np.zeros(19, np.float32))
        assert keys.tolist() == [-1, -1]
        kv.pull_sample(sample, keys, np.zeros(20, np.float32))
        assert keys.tolist() == [2, 2]


def test_a_refused_pull_takes_nothing(scheme: str) -> None:
    samples = []
    for refused in (False, True):
        with pyps.local(NUM_KEYS, 3) as kv:
            kv.set(np.arange(NUM_KEYS), float_of(np.arange(NUM_KEYS)))
            enable(kv, scheme, False, "log-uniform", 0, NUM_KEYS, seed=5)
            sample = kv.prepare_sample(10, 0)
            if refused:
                with pytest.raises(ValueError, match="room for 2 elements"):
                    kv.pull_sample(sample, np.zeros(10, np.int64), np.zeros(2, np.float32))
                with pytest.raises(ValueError, match="11 keys of sample 1 cannot be pulled; it has 10 left"):
                    kv.pull_sample(sample, np.zeros(11, np.int64), np.zeros(33, np.float32))
            samples.append(pulled(kv, sample, 10))
    assert samples[0] == samples[1]


def test_a_sample_that_was_pulled_is_finished(kv: pyps.Worker) -> None:
    sample = kv.prepare_sample(2, 0)
    pulled(kv, sample, 2)
    with pytest.raises(ValueError, match=f"sample {sample} is finished"):
        pulled(kv, sample, 1)
    kv.finish_sample(sample)


def test_a_finished_sample_cannot_be_pulled(kv: pyps.Worker) -> None:
    sample = kv.prepare_sample(2, 0)
    pulled(kv, sample, 1)
    kv.finish_sample(sample)
    kv.finish_sample(sample)
    with pytest.raises(ValueError, match=f"sample {sample} is finished"):
        pulled(kv, sample, 1)


@pytest.mark.parametrize("sample", [0, -1, 7, 2**63 - 1])
def test_an_unknown_sample_is_refused(kv: pyps.Worker, sample: int) -> None:
    kv.prepare_sample(2, 0)
    with pytest.raises(ValueError, match=f"sample {sample} was not prepared"):
        pulled(kv, sample, 1)
    with pytest.raises(ValueError, match=f"sample {sample} was not prepared"):
        kv.finish_sample(sample)


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ((0, 0), ValueError, "a sample cannot have 0 keys"),
        ((-1, 0), ValueError, "a sample cannot have -1 keys"),
        ((2**40, 0), ValueError, "a sample cannot have"),
        ((2**70, 0), ValueError, "at most"),
        ((21, 0), ValueError, "21 distinct keys cannot be drawn: .* and 20 keys can be drawn"),
        ((1, -1), ValueError, "starts at clock -1"),
        ((1, 3, 3), ValueError, "ends at clock 3, not after its start at 3"),
        ((1.5, 0), TypeError, "n must be an integer"),
        ((1, "0"), TypeError, "start must be an integer"),
    ],
)
def test_bad_samples_are_refused(
    kv: pyps.Worker, arguments: Any, error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        kv.prepare_sample(*arguments)


@pytest.mark.parametrize(
    ("keys", "vals", "error", "message"),
    [
        (np.zeros(1, np.int32), np.zeros(3, np.float32), TypeError, "keys is int32; drawn keys are int64"),
        (torch.zeros(1), np.zeros(3, np.float32), TypeError, "keys is float32; drawn keys are int64"),
        ([0], np.zeros(3, np.float32), TypeError, "keys must be a numpy array or a torch tensor"),
        (np.broadcast_to(np.zeros(1, np.int64), 1), np.zeros(3, np.float32), ValueError, "keys is read-only"),
        (np.zeros(1, np.int64), np.zeros(3), TypeError, "values is float64"),
        (np.zeros(1, np.int64), [0, 0, 0], TypeError, "values must be a numpy array or a torch tensor"),
        (np.zeros(1, np.int64), np.zeros(2, np.float32), ValueError, "room for 2 elements"),
    ],
)
def test_buffers_that_do_not_fit_are_refused(
    kv: pyps.Worker, keys: Any, vals: Any, error: type[Exception], message: str
) -> None:
    sample = kv.prepare_sample(1, 0)
    with pytest.raises(error, match=message):
        kv.pull_sample(sample, keys, vals)
    pulled(kv, sample, 1)


def test_keys_and_values_may_not_share_memory(kv: pyps.Worker) -> None:
    memory = np.zeros(10, np.int64)
    sample = kv.prepare_sample(1, 0)
    with pytest.raises(ValueError, match="overlaps the one for the keys"):
        kv.pull_sample(sample, memory[:1], memory.view(np.float32))


def test_sampling_has_to_be_enabled(plain: pyps.Worker) -> None:
    with pytest.raises(RuntimeError, match="sampling is not enabled on this node"):
        plain.prepare_sample(1, 0)


def test_sampling_is_enabled_once(kv: pyps.Worker, scheme: str) -> None:
    with pytest.raises(RuntimeError, match="sampling is enabled already"):
        enable(kv, scheme, False, "uniform", 10, 30)
    assert len(pulled(kv, kv.prepare_sample(3, 0), 3)) == 3


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        (
            ("best", True, "uniform", 0, 10),
            {},
            "no sampling scheme 'best'; there are: naive, preloc, pool, local",
        ),
        (
            ("naive", True, "x" * 999, 0, 10),
            {},
            "no distribution 'x*'; there are: uniform, log-uniform, weighted",
        ),
        (("naive", True, "uniform", -1, 10), {}, r"from \[-1, 10\): it must be a range within \[0, 50\)"),
        (("naive", True, "uniform", 0, 51), {}, r"from \[0, 51\): it must be a range within \[0, 50\)"),
        (("naive", True, "uniform", 5, 5), {}, r"from \[5, 5\)"),
        (("naive", True, "uniform", 0, 10), {"weights": [1] * 10}, "only 'weighted' has some"),
        (("naive", True, "weighted", 0, 10), {}, "0 weights were given for the 10 keys"),
        (("naive", True, "weighted", 0, 10), {"weights": [1] * 9}, "9 weights were given for the 10 keys"),
        (("naive", True, "weighted", 4, 6), {"weights": [1, np.nan]}, "weight 2 of 2 is nan"),
        (("naive", True, "weighted", 4, 6), {"weights": [np.inf, 1]}, "weight 1 of 2 is inf"),
        (("naive", True, "weighted", 4, 6), {"weights": [1, -0.5]}, "weight 2 of 2 is -0.5"),
        (("naive", True, "weighted", 4, 6), {"weights": [0, 0]}, "all weights are 0"),
        (("pool", True, "uniform", 0, 10), {"pool_size": 0}, "must be above 0"),
        (("pool", True, "uniform", 0, 10), {"pool_uses": -3}, "pool_uses is -3"),
    ],
)
def test_bad_settings_are_refused(plain: pyps.Worker, arguments: Any, options: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        enable(plain, *arguments, **options)
    with pytest.raises(RuntimeError, match="not enabled"):
        plain.prepare_sample(1, 0)
    enable(plain, "naive", True, "uniform", 0, 10)


@pytest.mark.parametrize("weights", [["a", "b"], [1j, 2]])
def test_weights_that_are_no_numbers_are_refused(plain: pyps.Worker, weights: Any) -> None:
    with pytest.raises(TypeError, match="weights must be numbers"):
        enable(plain, "naive", True, "weighted", 0, 2, weights=weights)


def test_weights_beyond_the_memory_limit_are_refused() -> None:
    with pyps.Server(100_000, 1, memory_limit=2_000_000) as server:
        with pytest.raises(MemoryError, match="raise memory_limit"):
            server.enable_sampling_support("naive", True, "weighted", 0, 100_000, weights=np.ones(100_000))
        server.enable_sampling_support("naive", True, "uniform", 0, 100_000)


def draws(seed: int | None, scheme: str = "naive", workers: int = 2) -> list[list[int]]:
    """Return what the workers of a new server draw one after another."""
    with pyps.Server(10**6, 1) as server:
        server.enable_sampling_support(scheme, True, "uniform", 0, 10**6, seed=seed)
        result = []
        for _ in range(workers):
            with server.worker() as kv:
                keys = np.zeros(20, np.int64)
                kv.pull_sample(kv.prepare_sample(20, 0), keys, np.zeros(20, np.float32))
                result.append(keys.tolist())
        return result


def test_a_seed_makes_draws_repeatable(scheme: str) -> None:
    assert draws(3, scheme) == draws(3, scheme)


@pytest.mark.slow
def test_other_seeds_and_other_workers_draw_other_keys() -> None:
    everything = draws(3) + draws(4) + draws(0) + draws(None) + draws(None) + draws(-1)
    assert len({tuple(keys) for keys in everything}) == len(everything)


def test_a_finalized_worker_draws_no_samples(kv: pyps.Worker) -> None:
    kv.prepare_sample(1, 0)
    kv.finalize()
    for use in (
        lambda: kv.prepare_sample(1, 0),
        lambda: kv.pull_sample(1, np.zeros(1, np.int64), np.zeros(3, np.float32)),
        lambda: kv.finish_sample(1),
    ):
        with pytest.raises(pyps.ClosedError):
            use()
