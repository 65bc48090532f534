"""Keys and values that are tensors of a device: see tests/pyps/devices.py for which."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch

import pyps
from tests.pyps.cluster import Cluster
from tests.pyps.devices import on_each

NUM, LENGTH = 40, 3
KEYS = [3, 25, 3, 38]


@pytest.fixture(params=[1, 2])
def kv(request: pytest.FixtureRequest) -> Iterator[pyps.Worker]:
    with (
        Cluster(request.param, NUM, value_length=LENGTH) as cluster,
        cluster.nodes[0].worker() as kv,
    ):
        kv.set(torch.arange(NUM), torch.arange(NUM * LENGTH, dtype=torch.float32))
        yield kv


def expected() -> torch.Tensor:
    return (torch.tensor(KEYS)[:, None] * LENGTH + torch.arange(LENGTH)).float()


@on_each
def test_values_come_where_the_keys_are(kv: pyps.Worker, device: torch.device) -> None:
    keys = torch.tensor(KEYS, device=device)
    values = kv.pull(keys)
    assert values.device == keys.device
    assert torch.equal(values.cpu(), expected())
    late: Any = kv.pull(keys, asynchronous=True)
    values = late.wait()
    assert values.device == keys.device
    assert torch.equal(values.cpu(), expected())


@on_each
@pytest.mark.parametrize("kind", [torch.int64, torch.int32, torch.uint8])
def test_keys_of_a_device_name_values_of_the_cpu(
    kv: pyps.Worker, kind: torch.dtype, device: torch.device
) -> None:
    values = torch.zeros(4, LENGTH)
    kv.pull(torch.tensor(KEYS, dtype=kind, device=device), values)
    assert torch.equal(values, expected())


OUTPUTS: dict[str, Callable[[torch.device], torch.Tensor]] = {
    "plain": lambda device: torch.full((4, LENGTH), -1.0, device=device),
    "flat": lambda device: torch.full((4 * LENGTH,), -1.0, device=device),
    "a part": lambda device: torch.full((6, LENGTH), -1.0, device=device)[1:5],
    "a column": lambda device: torch.full((4, LENGTH, 2), -1.0, device=device)[:, :, 1],
    "transposed": lambda device: torch.full((LENGTH, 4), -1.0, device=device).T,
}


@on_each
@pytest.mark.parametrize("asynchronous", [False, True])
@pytest.mark.parametrize("kind", OUTPUTS)
def test_values_are_pulled_into_a_tensor_of_the_device(
    kv: pyps.Worker, kind: str, asynchronous: bool, device: torch.device
) -> None:
    out = OUTPUTS[kind](device)
    whole = out._base if out._base is not None else out
    version = out._version
    kv.wait(kv.pull(KEYS, out, asynchronous)) if asynchronous else kv.pull(KEYS, out)
    assert torch.equal(out.cpu().reshape(4, LENGTH), expected())
    assert int((whole.cpu() == -1).sum()) == whole.numel() - out.numel()  # the others are as they were
    assert out._version > version


@on_each
@pytest.mark.parametrize("asynchronous", [False, True])
@pytest.mark.parametrize("kind", OUTPUTS)
def test_values_of_the_device_are_pushed_and_set(
    kv: pyps.Worker, kind: str, asynchronous: bool, device: torch.device
) -> None:
    values = OUTPUTS[kind](device).copy_(
        torch.arange(4.0 * LENGTH).reshape(OUTPUTS[kind](torch.device("cpu")).shape)
    )
    near = values.cpu().reshape(4, LENGTH)
    keys = torch.tensor(KEYS, device=device)
    before = kv.pull(KEYS)
    kv.wait(kv.push(keys, values, asynchronous)) if asynchronous else kv.push(keys, values)
    pushed = torch.from_numpy(kv.pull(KEYS) - before)
    assert torch.equal(pushed[1::2], near[1::2])
    assert torch.equal(pushed[0], near[0] + near[2])  # the key is there twice
    kv.wait(kv.set(keys, values, asynchronous)) if asynchronous else kv.set(keys, values)
    assert torch.equal(torch.from_numpy(kv.pull(KEYS))[1:], near[1:])


@on_each
def test_all_that_takes_keys_takes_those_of_a_device(kv: pyps.Worker, device: torch.device) -> None:
    keys = torch.tensor(KEYS, device=device)
    kv.localize(keys)
    kv.intent(keys, kv.current_clock(), kv.current_clock() + 1)
    found = kv.contains(keys)
    assert found.device == keys.device
    assert found.cpu().all()
    out = torch.zeros(4, LENGTH, device=device)
    assert kv.pull_if_local(keys, out)
    assert torch.equal(out.cpu(), expected())
    kv.staggered_push(keys, torch.ones(4, LENGTH, device=device), group=1)
    assert torch.equal(torch.from_numpy(kv.pull([25])), expected()[1:2] + 1)


@on_each
def test_samples_come_to_a_device(device: torch.device) -> None:
    with pyps.local(num_keys=NUM, value_length=LENGTH) as kv:
        kv.set(torch.arange(NUM), torch.arange(NUM * LENGTH, dtype=torch.float32))
        kv.node.enable_sampling_support("naive", True, "uniform", 0, NUM)
        sample = kv.prepare_sample(8, kv.current_clock())
        keys = torch.full((8,), -1, device=device)
        values = torch.zeros(8, LENGTH, device=device)
        kv.pull_sample(sample, keys, values)
        assert torch.equal(values[:, 0].cpu(), keys.cpu() * float(LENGTH))


@on_each
@pytest.mark.parametrize("dtype", ["float64", "float16", "bfloat16", "int64", "int32"])
def test_all_dtypes_go_there_and_back(dtype: str, device: torch.device) -> None:
    with pyps.local(num_keys=NUM, value_length=LENGTH, dtype=dtype) as kv:
        values = torch.arange(4 * LENGTH, device=device).view(4, LENGTH).to(getattr(torch, dtype))
        keys = torch.arange(4, device=device)
        kv.push(keys, values)
        assert torch.equal(kv.pull(keys).cpu(), values.cpu())


@on_each
def test_what_does_not_fit_is_refused(kv: pyps.Worker, device: torch.device) -> None:
    before = kv.pull(KEYS)

    def values(count: int = 12, dtype: torch.dtype = torch.float32) -> torch.Tensor:
        return torch.ones(count, dtype=dtype, device=device)

    def refuse(error: type[Exception], message: str, call: Callable[[], object]) -> None:
        with pytest.raises(error, match=message):
            call()

    refuse(ValueError, "the buffer has 5 elements", lambda: kv.push(KEYS, values(5)))
    refuse(ValueError, "the buffer has 5 elements", lambda: kv.pull(KEYS, values(5)))
    refuse(
        TypeError, "values is float64, but the server holds", lambda: kv.set(KEYS, values(12, torch.float64))
    )
    refuse(TypeError, "values is float16, but the server", lambda: kv.pull(KEYS, values(12, torch.float16)))
    refuse(TypeError, "keys must be integers, not float32", lambda: kv.pull(values()))
    refuse(ValueError, "key 40 at position 0 is outside", lambda: kv.pull(torch.tensor([NUM], device=device)))
    refuse(ValueError, "values requires grad", lambda: kv.pull(KEYS, values().requires_grad_()))
    refuse(ValueError, "overlaps itself", lambda: kv.pull(KEYS, values(1).expand(12)))
    assert (kv.pull(KEYS) == before).all()
