"""Tensors of the host's memory: the same for all ranks, of every type and shape, as long as anybody holds them."""

from __future__ import annotations

import gc
import os
import tempfile
from pathlib import Path

import pytest
import torch

from pyps import wholememory as wm
from pyps.errors import AttachError
from pyps.wholememory import memory, room
from pyps.wholememory.layout import DTYPES
from tests.pyps.wholememory.crew import results, run


def can_be_filled(dtype: torch.dtype) -> bool:
    """Of some types torch has the bits, and no operation."""
    try:
        torch.empty(1, dtype=dtype).fill_(1).to(torch.complex64)
    except (RuntimeError, TypeError):  # NotImplementedError is one
        return False
    return True


@pytest.mark.parametrize("size", [2, 4])
def test_what_a_rank_writes_all_ranks_read(size: int) -> None:
    source = """
a = wm.create_tensor([size, 3], [], torch.float32, True, [])
a[rank] = rank + 1
wm.barrier()
result = (wm.get_rank(), wm.get_size(), a.tolist())
wm.finalize_lib()
"""
    expected = [[rank + 1.0] * 3 for rank in range(size)]
    assert results(source, size) == [(rank, size, expected) for rank in range(size)]


@pytest.mark.filterwarnings("ignore:ComplexHalf", "ignore:.*quantized")
@pytest.mark.parametrize("name", sorted(DTYPES))
def test_every_dtype_of_torch(one_rank: None, name: str) -> None:
    dtype = DTYPES[name]
    a = wm.create_tensor([4, 5], [], dtype, True, [])
    assert (type(a), a.dtype, a.shape, a.stride()) == (torch.Tensor, dtype, (4, 5), (5, 1))
    again = wm.open_tensor(wm.name_of(a))
    assert (again.dtype, again.shape, again.data_ptr()) == (dtype, (4, 5), a.data_ptr())
    assert len(a.untyped_storage()) >= 20 * dtype.itemsize
    assert not any(a.untyped_storage().tolist())
    if can_be_filled(dtype):
        a.fill_(1)
        assert again.to(torch.complex64).sum() == 20


@pytest.mark.parametrize(
    ("shape", "strides", "contiguous"),
    [
        ([], [], True),
        ([0], [], True),
        ([3, 0, 2], [], True),
        ([2, 3, 4, 5], [], True),
        ([4, 3], [1, 4], False),
        ([4, 3], [8, 2], False),
        ([1, 3], [0, 1], True),
        ([1] * 60 + [2], [], True),
    ],
)
def test_every_shape_and_strides(
    one_rank: None, shape: list[int], strides: list[int], contiguous: bool
) -> None:
    a = wm.create_tensor(shape, strides, torch.int64, True, [])
    assert list(a.shape) == shape
    assert not strides or list(a.stride()) == strides
    assert a.is_contiguous() is contiguous
    a.copy_(torch.arange(a.numel()).view(shape))
    assert a.flatten().tolist() == list(range(a.numel()))


def test_operations_in_place_and_numpy_see_the_same_memory(one_rank: None) -> None:
    a = wm.create_tensor([10, 4], [], torch.float32, True, [])
    a.add_(1).mul_(3)[2:4].zero_()
    view = wm.get_tensor_view(a, torch.device("cpu"))
    view[0, 0] = 7
    assert a.numpy()[0].tolist() == [7, 3, 3, 3]
    assert a.numpy().ctypes.data == a.data_ptr() == view.data_ptr()
    a.requires_grad_()
    (a * a).sum().backward()
    assert a.grad is not None
    assert torch.equal(a.grad, 2 * a.detach())


def test_a_tensor_takes_memory_where_it_is_touched(one_rank: None) -> None:
    a = wm.create_tensor([1 << 30], [], torch.uint8, True, [])
    before = Path(f"/proc/self/fd/{memory_fd(a)}").stat().st_blocks * 512
    a[123456789] = 1
    after = Path(f"/proc/self/fd/{memory_fd(a)}").stat().st_blocks * 512
    assert before <= 8192
    assert 0 < after - before <= 2 << 20


def memory_fd(tensor: torch.Tensor) -> int:
    mapping = memory.find(tensor)
    assert mapping is not None
    return mapping.fd


@pytest.mark.slow
def test_a_view_outlives_its_tensor_and_the_library() -> None:
    wm.init_lib()
    wm.mp_init(0, 1)
    a = wm.create_tensor([100, 10], [], torch.float64, True, [])
    name = wm.name_of(a)
    part = a[90:, 3]
    array = a.numpy()[50]
    del a
    wm.finalize_lib()
    gc.collect()
    part.fill_(5)
    array[:] = 6
    assert (part.sum().item(), array.sum().item()) == (50, 60)
    assert wm.open_tensor(name)[95, 3] == 5
    del part
    assert wm.open_tensor(name)[50].sum() == 60
    del array
    with pytest.raises(AttachError, match="no process of this user holds"):
        wm.open_tensor(name)


def test_memory_is_gone_when_the_last_rank_drops_it() -> None:
    source = """
a = wm.create_tensor([1000], [], torch.float32, True, [])
result = wm.name_of(a)
"""
    first, second = results(source)
    assert first == second
    assert list(room.memory_files(first)) == []


def test_a_slice_in_a_queue_is_the_same_memory_in_the_other_rank() -> None:
    source = """
from multiprocessing.connection import Client, Listener
from multiprocessing import reduction
a = wm.create_tensor([6, 4], [], torch.float32, True, [])
name = wm.name_of(a)
if rank == 0:
    a.copy_(torch.arange(24.).view(6, 4))
    part = torch.nn.Parameter(a[1:3].t())
    buffer = reduction.ForkingPickler.dumps(part)
    with open(given, 'wb') as file: file.write(buffer)
    del a
    wm.barrier()
    wm.barrier()
    result = part[0, 0].item()
else:
    del a
    wm.barrier()
    part = reduction.ForkingPickler.loads(open(given, 'rb').read())
    seen = type(part).__name__, part.tolist()
    part.data[0, 0] = 99
    result = seen
    wm.barrier()
"""
    with tempfile.TemporaryDirectory() as place:
        first, second = results(source, given=[f"{place}/x"] * 2)
    assert second == ("Parameter", [[4, 8], [5, 9], [6, 10], [7, 11]])
    assert first == 99


def test_a_group_of_some_ranks_has_a_tensor_of_its_own() -> None:
    source = """
if rank != 1:
    a = wm.create_tensor([3], [], torch.int32, True, [2, 0])
    a[rank] = rank + 1
    wm.barrier([0, 2])
    result = a.tolist()
everyone = wm.create_tensor([2], [], torch.int32, True, [])
wm.barrier()
"""
    assert results(source, 3) == [[1, 0, 3], None, [1, 0, 3]]


@pytest.mark.slow
def test_memory_is_there_once_whatever_the_number_of_processes() -> None:
    source = """
a = wm.create_tensor([16 << 20], [], torch.float32, True, [])
if rank == 0: a.fill_(1)
wm.barrier()
total = a.sum().item()
wm.barrier()
from pathlib import Path
blocks = [b for b in Path('/proc/self/smaps').read_text().split('VmFlags')  if 'wholememory-' in b]
result = total, sum(int(line.split()[1]) for b in blocks for line in b.splitlines() if line.startswith('Pss:'))
wm.barrier()
"""
    found = results(source, 4)
    assert {total for total, _ in found} == {16 << 20}
    assert 0.99 < sum(pss for _, pss in found) * 1024 / (64 << 20) < 1.02


def test_a_process_that_is_no_rank_opens_it_by_name(one_rank: None) -> None:
    a = wm.create_tensor([3], [], torch.float32, True, [])
    a.fill_(2)
    source = "t = wm.open_tensor(given); t += 1; result = t.tolist()"
    assert results(source, 1, given=[wm.name_of(a)], begin=False) == [[3, 3, 3]]
    assert a.tolist() == [3, 3, 3]


def test_another_users_process_cannot_open_it(one_rank: None) -> None:
    a = wm.create_tensor([3], [], torch.float32, True, [])
    source = """
os.setgroups([]); os.setgid(65534); os.setuid(65534)
try:
    os.open('/proc/{}/fd/{}'.format(*given[1:]), os.O_RDWR)
except OSError as error:
    result = type(error).__name__
    wm.open_tensor(given[0])
"""
    if os.geteuid():
        pytest.skip("only root can become another user")
    [outcome] = run(source, 1, given=[(wm.name_of(a), os.getpid(), memory_fd(a))], begin=False)
    assert (outcome.error, "no process of this user" in outcome.text) == ("AttachError", True)


def test_nobody_can_make_the_memory_shorter(one_rank: None) -> None:
    a = wm.create_tensor([1 << 20], [], torch.uint8, True, [])
    fd = os.open(f"/proc/self/fd/{memory_fd(a)}", os.O_RDWR)
    size = os.fstat(fd).st_size
    for other in (0, size - 1, size + 1):
        with pytest.raises(PermissionError):
            os.ftruncate(fd, other)
    os.close(fd)
    assert a.fill_(1).sum() == 1 << 20


@pytest.mark.slow
def test_many_tensors_are_made_and_dropped(one_rank: None) -> None:
    gc.collect()  # what earlier tests left to be collected must not go meanwhile
    before = len(list(Path("/proc/self/fd").iterdir()))
    for number in range(200):
        a = wm.create_tensor([1 << 20], [], torch.float32, True, [])
        a[number] = 1
        del a
    assert len(list(Path("/proc/self/fd").iterdir())) == before
