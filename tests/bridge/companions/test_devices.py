"""What cutorch asks of torch beside its operators, on the CPU as the device and on GPUs where there are any."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import torch

from bridge.companions import devices

KINDS = ["cpu"] + (["cuda"] if torch.cuda.is_available() else [])


@pytest.fixture(params=KINDS)
def kind(request: pytest.FixtureRequest) -> Iterator[str]:
    """A kind of device; its generator is left as it was."""
    saved = devices.state(request.param, 0).clone()
    yield request.param
    devices.restore(request.param, 0, saved)


def test_there_is_a_device(kind: str) -> None:
    assert devices.count(kind) >= 1


def test_no_gpu_is_counted_where_torch_has_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    assert devices.count("cuda") == 0


def test_memory_is_part_of_all(kind: str) -> None:
    free, total = devices.memory(kind)
    assert 0 < free <= total == devices.properties(kind, 0)["totalGlobalMem"]


def test_a_seed_gives_torch_s_own_numbers(kind: str) -> None:
    devices.seed(kind, 0, 7)
    first = torch.rand(3, device=kind)
    torch.manual_seed(7)
    assert torch.equal(first, torch.rand(3, device=kind))


def test_the_seed_is_remembered(kind: str) -> None:
    assert devices.seed(kind, 0, 12) == devices.initial_seed(kind, 0) == 12


def test_a_seed_of_its_own_is_a_number_of_lua_s(kind: str) -> None:
    assert devices.seed(kind, 0) == devices.initial_seed(kind, 0) < 2**53


def test_a_state_comes_back(kind: str) -> None:
    saved = devices.state(kind, 0).clone()
    first = torch.rand(3, device=kind)
    devices.restore(kind, 0, saved)
    assert torch.equal(first, torch.rand(3, device=kind))


def test_integers_are_added_with_a_truncated_factor(kind: str) -> None:
    a = torch.tensor([1, 250], dtype=torch.uint8, device=kind)
    devices.add(a, a, torch.full_like(a, 4), 2.9)
    assert a.tolist() == [9, 2]


def test_streams_and_events_pass(kind: str) -> None:
    devices.use_stream(kind, 1)
    event = devices.record(kind)
    devices.use_stream(kind, 2)
    devices.wait_event(kind, event)
    devices.wait_stream(kind, 2, 1)
    devices.synchronize_stream(kind, 2)
    devices.finish(event)
    assert devices.passed(event)
    devices.use_stream(kind, 0)
    devices.synchronize(kind)


def test_a_device_reaches_its_own_memory(kind: str) -> None:
    devices.select(kind, 0)
    assert devices.peers(kind, 0, 0)


def test_the_version_is_a_number_as_cuda_counts(kind: str) -> None:
    assert devices.version(kind) >= 8000
