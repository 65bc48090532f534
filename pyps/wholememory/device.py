"""Tensors over the memory of several GPUs: a partition on each rank's GPU, all mapped into one range on every rank.

Each rank allocates its own partition and passes a descriptor of it to the others; each rank maps all partitions one
after another. The driver counts the uses of a partition, which is freed with the last rank that has it mapped.
"""

from __future__ import annotations

import os
import weakref
from typing import Any

import torch
from torch.utils.dlpack import from_dlpack

from pyps.wholememory import cuda, memory
from pyps.wholememory._dlpack import capsule_of
from pyps.wholememory._mapping import Mapping
from pyps.wholememory.cuda import Gpus
from pyps.wholememory.layout import Layout
from pyps.wholememory.library import call_leading, ready

_memories: weakref.WeakValueDictionary[int, DeviceMemory] = weakref.WeakValueDictionary()  # by address


class DeviceMemory:
    """A range of addresses with all partitions mapped into it; unmapped when the object goes."""

    def __init__(self, gpus: Gpus, partition: int, count: int) -> None:
        self.gpus = gpus
        self.partition = partition
        self.nbytes = partition * count
        self.address = 0
        self._mapped: list[int] = []

    def reserve(self) -> None:
        """Reserve the range of addresses."""
        alignment = partition_alignment(self.partition)
        self.address = int(self.gpus.call("cuMemAddressReserve", self.nbytes, alignment, 0, 0))

    def map(self, place: int, handle: Any) -> None:
        """Map a partition and release its handle; the mapping keeps the memory."""
        at = self.address + place * self.partition
        try:
            self.gpus.call("cuMemMap", at, self.partition, 0, handle, 0)
        finally:
            self.gpus.call("cuMemRelease", handle)
        self._mapped.append(at)

    def allow(self) -> None:
        """Allow all GPUs that this process sees to use the whole range."""
        self.gpus.allow(self.address, self.nbytes, range(self.gpus.count))

    def tensor(self, layout: Layout, device: int) -> torch.Tensor:
        """Return a tensor on a GPU in this memory; it keeps the memory mapped."""
        return _tensor(self.address, self.nbytes, self.gpus.kind, device, self, layout)

    def close(self) -> None:
        """Unmap everything, in the order that the driver requires."""
        for at in self._mapped:
            self.gpus.call("cuMemUnmap", at, self.partition)
        self._mapped.clear()
        if self.address:
            self.gpus.call("cuMemAddressFree", self.address, self.nbytes)
            self.address = 0

    def __del__(self) -> None:
        self.close()


def partition_alignment(partition: int) -> int:
    """Return the alignment of the range: that of a partition's size, but at most 2 MiB."""
    return min(partition & -partition, 2 << 20)


def partition_bytes(nbytes: int, ranks: int, granularity: int) -> int:
    """Return the bytes of each rank's partition: enough for all together, a multiple of the largest granularity."""
    return max(1, -(-nbytes // (ranks * granularity))) * granularity


def create_partitions(
    layout: Layout, members: tuple[int, ...], granularity: int, timeout: float
) -> torch.Tensor:
    """Allocate this rank's partition, exchange descriptors with the others, and return the tensor; collective.

    Raises
    ------
    MemoryError, RuntimeError
        A GPU has no room, or a call failed; raised on all ranks.
    """
    gpus = cuda.load()
    rank = ready().rank
    partition = partition_bytes(layout.nbytes, len(members), granularity)
    whole = DeviceMemory(gpus, partition, len(members))

    def finish() -> None:
        whole.allow()
        _zero(whole, members.index(rank))

    try:
        call_leading("create_tensor, its addresses,", members, timeout, whole.reserve)
        for place, owner in enumerate(members):
            others = tuple(member for member in members if member != owner)
            part = _Part(whole, place, owner == rank)
            name = f"create_tensor, the part of rank {owner},"
            call_leading(name, (owner, *others), timeout, lead=part.make, take=part.take)
        call_leading("create_tensor, its end,", members, timeout, finish)
    except BaseException:
        whole.close()
        raise
    _memories[whole.address] = whole
    return whole.tensor(layout, gpus.current)


class _Part:
    """One partition, which its rank allocates and all others map."""

    def __init__(self, whole: DeviceMemory, place: int, is_own: bool) -> None:
        self.whole = whole
        self.place = place
        self.is_own = is_own

    def make(self, _: list[dict[str, Any]]) -> tuple[dict[str, Any], list[int]]:
        """On the partition's rank: allocate it, map it, and return a descriptor of it."""
        gpus = self.whole.gpus
        handle = gpus.call("cuMemCreate", self.whole.partition, gpus.properties(gpus.current), 0)
        descriptor = int(gpus.call("cuMemExportToShareableHandle", handle, gpus.descriptor_type, 0))
        self.whole.map(self.place, handle)
        return {}, [descriptor]

    def take(self, _: dict[str, Any], descriptors: list[int]) -> None:
        """On the other ranks: map it."""
        gpus = self.whole.gpus
        try:
            if not self.is_own:
                handle = gpus.call("cuMemImportFromShareableHandle", descriptors[0], gpus.descriptor_type)
                self.whole.map(self.place, handle)
        finally:
            os.close(descriptors[0])


def _zero(whole: DeviceMemory, place: int) -> None:
    """Fill this rank's partition with zeros: new memory of a GPU may contain anything."""
    mine = Layout(torch.uint8, (whole.partition,), (1,), place * whole.partition)
    tensor = whole.tensor(mine, whole.gpus.current).zero_()
    if tensor.is_cuda:
        torch.cuda.synchronize(tensor.device)


def view_on_device(tensor: torch.Tensor, device: torch.device) -> torch.Tensor:
    """Return a tensor on a GPU over the same memory; see `get_tensor_view`."""
    gpus = cuda.load()
    number = gpus.current if device.index is None else device.index
    if not 0 <= number < gpus.count:
        raise ValueError(f"device is {device}; this process sees {gpus.count} GPUs, from cuda:0 on")
    layout = memory.layout_of(tensor)
    whole = _memories.get(tensor.untyped_storage().data_ptr())
    if whole is not None:
        return whole.tensor(layout, number)
    mapping = memory.find(tensor)
    if mapping is None:
        raise ValueError(f"the tensor on {tensor.device} does not lie in whole memory: see create_tensor")
    return HostView(gpus, mapping).tensor(layout, number)


class HostView:
    """Host memory that GPUs can use; unregistered when the object goes."""

    def __init__(self, gpus: Gpus, mapping: Mapping) -> None:
        self.gpus = gpus
        self.mapping = mapping
        portable, mapped = gpus.calls.CU_MEMHOSTREGISTER_PORTABLE, gpus.calls.CU_MEMHOSTREGISTER_DEVICEMAP
        gpus.call("cuMemHostRegister", mapping.address, mapping.nbytes, portable | mapped)
        self._registered = True
        self.address = int(gpus.call("cuMemHostGetDevicePointer", mapping.address, 0))

    def tensor(self, layout: Layout, device: int) -> torch.Tensor:
        """Return a tensor on a GPU in the host's memory."""
        return _tensor(self.address, self.mapping.nbytes, self.gpus.kind, device, self, layout)

    def __del__(self) -> None:
        if getattr(self, "_registered", False):
            self.gpus.call("cuMemHostUnregister", self.mapping.address)


def _tensor(address: int, nbytes: int, kind: int, device: int, owner: object, layout: Layout) -> torch.Tensor:
    """Return a tensor on a device over memory that `owner` keeps."""
    capsule = capsule_of(address, nbytes, kind, device, owner)
    storage = from_dlpack(capsule).untyped_storage()
    empty = torch.empty(0, dtype=layout.dtype, device=storage.device)
    return empty.set_(storage, layout.offset, layout.shape, layout.strides)
