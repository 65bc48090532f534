"""`pyps.adapm`: its techniques, clocks and samples; test_originals.py has what it shares with `pyps.lapse`."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import pytest
import torch

from pyps import adapm
from tests.pyps.test_originals import TIMEOUT, Start, environment, fresh, lengths, start

__all__ = ["environment", "fresh", "start"]  # fixtures


@pytest.mark.parametrize("techniques", ["", "all", "replication_only", "relocation_only"])
def test_adapm_has_techniques_and_channels(start: Start, techniques: str) -> None:
    adapm.setup(20, 1, techniques, 4)
    (server,) = start(1, lambda: adapm.Server(1))
    adapm.Worker(0, server).finalize()


def test_an_unknown_technique_is_refused() -> None:
    with pytest.raises(ValueError, match="use_techniques is 'both'; it must be one of all, replication_only"):
        adapm.setup(20, 1, use_techniques="both")


@pytest.mark.parametrize("scheme", ["naive", "preloc", "pool", "local"])
def test_adapm_samples(start: Start, scheme: str) -> None:
    adapm.setup(20, 1)
    first, second = start(2, lambda: adapm.Server(lengths()))
    for server in (first, second):
        server.enable_sampling_support(
            scheme=scheme, with_replacement=True, distribution="uniform", min=6, max=20
        )
    with adapm.Worker(0, first) as kv, adapm.Worker(0, second) as other:
        other.set(np.arange(6, 20), np.repeat(np.arange(6, 20, dtype=np.float32), 2))
        sample = kv.prepare_sample(K=30, start=kv.current_clock())
        keys, values = torch.zeros(30, dtype=torch.int64), torch.zeros(30, 2)
        kv.wait(kv.pull_sample(sample, keys, values, True))
        assert (keys >= 6).all()
        assert (keys < 20).all()
        assert (values == keys[:, None]).all()
        sample = kv.prepare_sample(4, 1, 3)
        keys, values = np.zeros(4, np.int64), np.zeros(8, np.float32)
        kv.pull_sample(sample, keys, values)
        assert values.tolist() == np.repeat(keys, 2).tolist()


def test_adapm_refuses_bad_samples(start: Start) -> None:
    adapm.setup(20, 1)
    (server,) = start(1, lambda: adapm.Server(lengths()))
    keys, values = np.zeros(4, np.int64), np.zeros(8, np.float32)
    with adapm.Worker(0, server) as kv:
        with pytest.raises(RuntimeError, match="enable_sampling"):
            kv.prepare_sample(4, 0)
        with pytest.raises(ValueError, match="'random'"):
            server.enable_sampling_support("random", True, "uniform", 0, 20)
        with pytest.raises(ValueError, match="'normal'"):
            server.enable_sampling_support("naive", True, "normal", 0, 20)
        server.enable_sampling_support("naive", True, "uniform", 5, 6)
        sample = kv.prepare_sample(4, 0)
        with pytest.raises(ValueError, match="elements"):
            kv.pull_sample(sample, keys, values)
        assert (keys == 0).all()
        with pytest.raises(ValueError, match="sample"):
            kv.pull_sample(99, keys, values)


def test_an_intent_returns_a_timestamp_to_wait_for(start: Start) -> None:
    adapm.setup(20, 1)
    first, _ = start(2, lambda: adapm.Server(1))
    with adapm.Worker(0, first) as kv:
        kv.wait(kv.intent(torch.tensor([1, 3]), kv.current_clock() + 1))
        kv.advance_clock()
        out = np.zeros(2, np.float32)
        end = time.monotonic() + TIMEOUT / 2
        while not kv.pull_if_local([1, 3], out) and time.monotonic() < end:
            time.sleep(0.001)
        assert kv.pull_if_local([1, 3], out)


def test_a_pulled_sample_of_another_node_has_a_timestamp(start: Start) -> None:
    adapm.setup(20, 1)
    first, second = start(2, lambda: adapm.Server(1))
    for server in (first, second):
        server.enable_sampling_support("naive", True, "uniform", 1, 2)
    keys, values = np.zeros(3, np.int64), np.zeros(3, np.float32)
    with adapm.Worker(0, first) as kv, adapm.Worker(0, second) as owner:
        owner.set([1], [4])
        pulled = kv.pull_sample(kv.prepare_sample(3, 0), keys, values)
        assert pulled >= 0
        assert kv.is_finished(pulled)
        assert values.tolist() == [4, 4, 4]
        assert owner.pull_sample(owner.prepare_sample(3, 0), keys, values) == -1


@pytest.mark.slow
def test_advance_clock_returns_nothing_in_adapm(start: Start) -> None:
    adapm.setup(20, 1)
    (server,) = start(1, lambda: adapm.Server(1))
    with adapm.Worker(0, server) as kv:
        results: list[Any] = [kv.advance_clock(), kv.advance_clock()]  # type: ignore[func-returns-value]
        assert results == [None, None]
        assert kv.current_clock() == 2


@pytest.mark.slow
@pytest.mark.parametrize("uses", [1, 16])
def test_adapm_uses_each_draw_of_a_pool_once_or_as_often_as_its_option_says(start: Start, uses: int) -> None:
    """Of 2,000 draws among a million keys hardly two are equal."""
    adapm.setup(1_000_000, 1, options={} if uses == 1 else {"sampling.reuse": uses})
    (server,) = start(1, lambda: adapm.Server(1))
    server.enable_sampling_support("pool", True, "uniform", 0, 1_000_000)
    drawn = np.zeros((40, 50), np.int64)
    with adapm.Worker(0, server) as kv:
        for keys in drawn:
            kv.pull_sample(kv.prepare_sample(50, kv.current_clock()), keys, np.zeros(50, np.float32))
            kv.advance_clock()
    different = len(np.unique(drawn))
    assert different > 1950 if uses == 1 else different < 1000
