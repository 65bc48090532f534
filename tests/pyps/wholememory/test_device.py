"""Tensors over several GPUs: over a driver without a GPU, and by `make gpu` over the real one."""

from __future__ import annotations

import os

import pytest
import torch

from pyps import wholememory as wm
from tests.pyps.wholememory.crew import results, run

REAL = os.environ.get("MOONTIDE_GPU_TESTS") == "real"
FAKE_PROLOGUE = """
from tests.pyps.wholememory import fake_driver
driver = fake_driver.install(rank, size)
device = lambda number: 'cuda:%d' % number
"""
REAL_PROLOGUE = """
device = lambda number: 'cuda:%d' % (number % torch.cuda.device_count())
torch.cuda.set_device(device(rank))
"""
PROLOGUE = REAL_PROLOGUE if REAL else FAKE_PROLOGUE
EPILOGUE = "" if REAL else "\nimport gc; gc.collect()\nassert driver.in_use == 0, driver\n"
only_fake = pytest.mark.skipif(REAL, reason="asks the driver without a GPU")
CREATE = "a = wm.create_tensor([size << 20, 3], [], torch.float32, False, [])"


@pytest.mark.slow
@pytest.mark.parametrize("size", [1, 2, 4])
def test_what_a_rank_writes_all_ranks_read(size: int) -> None:
    source = f"""{PROLOGUE}
{CREATE}
assert not a.any()
wm.barrier()
a[rank << 20:(rank + 1) << 20] = rank + 1
if a.is_cuda: torch.cuda.synchronize()
wm.barrier()
result = [a[number << 20, 2].item() for number in range(size)], a.shape == (size << 20, 3), a.sum().item()
wm.barrier()
del a
{EPILOGUE}"""
    total = sum(range(1, size + 1)) * 3 * 2**20
    assert results(source, size) == [([float(n + 1) for n in range(size)], True, total)] * size


@pytest.mark.slow
def test_a_view_outlives_the_tensor_and_the_library() -> None:
    source = f"""{PROLOGUE}
{CREATE}
part = a[-1:]
del a
wm.barrier()
wm.finalize_lib()
part.fill_(7)
result = part.sum().item()
del part
{EPILOGUE}"""
    assert results(source) == [21, 21]


@pytest.mark.slow
def test_views_from_other_gpus_are_the_same_memory() -> None:
    source = f"""{PROLOGUE}
{CREATE}
other = wm.get_tensor_view(a[5:], torch.device(device(1)))
a[5] = 3
if a.is_cuda: torch.cuda.synchronize()
result = other[0].tolist(), other.data_ptr() == a[5:].data_ptr()
wm.barrier()
del a, other
{EPILOGUE}"""
    assert results(source) == [([3, 3, 3], True)] * 2


@pytest.mark.slow
def test_host_memory_is_seen_by_a_gpu() -> None:
    source = f"""{PROLOGUE}
a = wm.create_tensor([100, 3], [], torch.int32, True, [])
seen = wm.get_tensor_view(a[10:], device(rank))
a[10] = 4
result = seen[0].tolist()
wm.barrier()
del a, seen
{EPILOGUE}"""
    assert results(source) == [[4, 4, 4]] * 2


@only_fake
def test_the_driver_is_called_in_its_order() -> None:
    source = f"""{PROLOGUE}
{CREATE}
del a
result = driver.calls
"""
    own, other = ["create", "map", "release"], ["import", "map", "release"]
    end = ["access", "unmap", "unmap", "free"]
    assert results(source) == [["reserve", *own, *other, *end], ["reserve", *other, *own, *end]]


@pytest.mark.slow
@only_fake
def test_a_gpu_without_room_makes_all_ranks_raise_and_nothing_stays() -> None:
    source = f"""{PROLOGUE}
if rank == 1: driver.memory = 1 << 20
try:
    {CREATE}
except MemoryError as error:
    result = str(error)
wm.barrier()
{EPILOGUE}"""
    first, second = results(source)
    assert first == "rank 1: " + second
    assert "cuMemCreate failed on GPU 1 with CUDA_ERROR_OUT_OF_MEMORY: the GPU has no room" in second


@pytest.mark.slow
@only_fake
def test_a_call_that_fails_makes_all_ranks_raise_and_nothing_stays() -> None:
    source = f"""{PROLOGUE}
if rank == 0: driver.cuMemSetAccess = lambda *_: (fake_driver.INVALID,)
try:
    {CREATE}
except RuntimeError as error:
    result = str(error)
{EPILOGUE}"""
    first, second = results(source)
    assert "cuMemSetAccess failed on GPU 0 with CUDA_ERROR_INVALID_VALUE" in first
    assert second.startswith("rank 0")


@pytest.mark.parametrize("who", [0, 1])
def test_a_rank_that_is_killed_between_the_parts_is_named(who: int) -> None:
    source = f"""{PROLOGUE}
from pyps.wholememory import device as parts
former, made = parts.call_leading, []
def call(name, *rest, **parts_of_it):
    made.append(name)
    if rank == {who} and len(made) == 2: os.kill(os.getpid(), 9)
    return former(name, *rest, **parts_of_it)
parts.call_leading = call
{CREATE}
"""
    outcomes = run(source)
    assert outcomes[who].error == "killed"
    assert (outcomes[1 - who].error, f"rank {who} (process " in outcomes[1 - who].text) == ("RankLost", True)


@only_fake
def test_the_fake_driver_refuses_what_the_real_one_refuses() -> None:
    source = f"""{PROLOGUE}
gpus = __import__('pyps.wholememory.cuda').wholememory.cuda.load()
unit = fake_driver.GRANULARITY
refused = []
def refuse(name, *arguments):
    refused.append(int(getattr(driver, name)(*arguments)[0]))
prop = gpus.properties(rank)
refuse('cuMemCreate', unit - 1, prop, 0)
refuse('cuMemCreate', unit, gpus.properties(9), 0)
refuse('cuMemAddressReserve', unit + 1, 0, 0, 0)
_, handle = driver.cuMemCreate(unit, prop, 0)
_, at = driver.cuMemAddressReserve(2 * unit, unit, 0, 0)
refuse('cuMemMap', at + 2 * unit, unit, 0, handle, 0)
assert driver.cuMemMap(at, unit, 0, handle, 0)[0] == 0
refuse('cuMemMap', at, unit, 0, handle, 0)
refuse('cuMemSetAccess', at, 2 * unit, [], 0)
refuse('cuMemUnmap', at + unit, unit)
refuse('cuMemAddressFree', at, 2 * unit)
driver.cuMemRelease(handle)
refuse('cuMemRelease', handle)
driver.cuMemUnmap(at, unit)
driver.cuMemAddressFree(at, 2 * unit)
refuse('cuMemHostUnregister', at)
result = refused
"""
    assert results(source, 1) == [[1] * 9 + [713]]


@pytest.mark.skipif(torch.cuda.is_available(), reason="this machine has a GPU")
def test_without_a_gpu_the_error_says_the_way_out() -> None:
    outcomes = run("wm.create_tensor([3], [], torch.float32, False, [])")
    assert [o.error for o in outcomes] == ["RuntimeError"] * 2
    assert all("give use_host_memory=True, or install torch for CUDA" in o.text for o in outcomes)


def test_a_view_of_foreign_memory_is_refused() -> None:
    wm.init_lib()
    with pytest.raises(ValueError, match="does not lie in whole memory"):
        wm.get_tensor_view(torch.zeros(3), "cpu")
    wm.finalize_lib()
