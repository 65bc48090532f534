"""CUDA's driver without a GPU: the calls that map memory, which check what the real one checks.

The memory is the host's, handles are memory files. Sizes that are no multiples of the granularity, calls in a wrong
order, addresses that are not mapped and access that was not given are refused with the driver's own codes.
"""

from __future__ import annotations

import ctypes
import mmap
import os
from dataclasses import dataclass, field
from enum import IntEnum
from types import SimpleNamespace
from typing import Any

from pyps.wholememory import cuda

GRANULARITY = 2 << 20
LIBC = ctypes.CDLL(None, use_errno=True)
LIBC.mmap.restype = ctypes.c_void_p
LIBC.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, *(ctypes.c_int,) * 3, ctypes.c_long]
LIBC.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
LIBC.mprotect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
NONE, FIXED = 0, 0x10


class CUresult(IntEnum):
    CUDA_SUCCESS = 0
    CUDA_ERROR_INVALID_VALUE = 1
    CUDA_ERROR_OUT_OF_MEMORY = 2
    CUDA_ERROR_INVALID_DEVICE = 101
    CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED = 712
    CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED = 713


OK, INVALID = CUresult.CUDA_SUCCESS, CUresult.CUDA_ERROR_INVALID_VALUE


class CUmemAllocationType(IntEnum):
    CU_MEM_ALLOCATION_TYPE_PINNED = 1


class CUmemLocationType(IntEnum):
    CU_MEM_LOCATION_TYPE_DEVICE = 1


class CUmemAllocationHandleType(IntEnum):
    CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR = 1


class CUmemAllocationGranularity_flags(IntEnum):
    CU_MEM_ALLOC_GRANULARITY_RECOMMENDED = 1


class CUmemAccess_flags(IntEnum):
    CU_MEM_ACCESS_FLAGS_PROT_READWRITE = 3


@dataclass
class CUmemAllocationProp:
    type: int = 0
    location: SimpleNamespace = field(default_factory=lambda: SimpleNamespace(type=0, id=-1))
    requestedHandleTypes: int = 0


@dataclass
class CUmemAccessDesc:
    location: SimpleNamespace = field(default_factory=lambda: SimpleNamespace(type=0, id=-1))
    flags: int = 0


@dataclass
class Driver:
    """The driver of one process with so many GPUs, each with so much memory."""

    devices: int
    memory: int = 1 << 30
    handles: dict[int, tuple[int, int]] = field(default_factory=dict)  # a descriptor and the size
    ranges: dict[int, int] = field(default_factory=dict)
    mapped: dict[int, tuple[int, int]] = field(default_factory=dict)  # the size and a descriptor
    accessible: set[int] = field(default_factory=set)  # mapped places that GPUs may use
    registered: dict[int, int] = field(default_factory=dict)
    calls: list[str] = field(default_factory=list)
    last: int = 100

    CUresult = CUresult
    CUmemAllocationType = CUmemAllocationType
    CUmemLocationType = CUmemLocationType
    CUmemAllocationHandleType = CUmemAllocationHandleType
    CUmemAllocationGranularity_flags = CUmemAllocationGranularity_flags
    CUmemAccess_flags = CUmemAccess_flags
    CUmemAllocationProp = CUmemAllocationProp
    CUmemAccessDesc = CUmemAccessDesc
    CU_MEMHOSTREGISTER_PORTABLE = 1
    CU_MEMHOSTREGISTER_DEVICEMAP = 2

    def _is_device(self, prop: Any) -> bool:
        return prop.type == 1 and prop.location.type == 1 and 0 <= prop.location.id < self.devices

    def cuMemGetAllocationGranularity(self, prop: Any, option: int) -> tuple[Any, ...]:
        return (OK, GRANULARITY) if self._is_device(prop) and option == 1 else (INVALID, 0)

    def cuMemCreate(self, size: int, prop: Any, flags: int) -> tuple[Any, ...]:
        self.calls.append("create")
        if (
            not self._is_device(prop)
            or prop.requestedHandleTypes != 1
            or flags
            or size % GRANULARITY
            or not size
        ):
            return INVALID, None
        if size > self.memory:
            return CUresult.CUDA_ERROR_OUT_OF_MEMORY, None
        descriptor = os.memfd_create("fake-gpu")
        os.ftruncate(descriptor, size)
        os.pwrite(descriptor, b"\xff" * 4096, 0)  # what was there before
        return OK, self._handle(descriptor, size)

    def _handle(self, descriptor: int, size: int) -> int:
        self.last += 1
        self.handles[self.last] = descriptor, size
        return self.last

    def cuMemExportToShareableHandle(self, handle: int, kind: int, flags: int) -> tuple[Any, ...]:
        if handle not in self.handles or kind != 1 or flags:
            return INVALID, None
        return OK, os.dup(self.handles[handle][0])

    def cuMemImportFromShareableHandle(self, descriptor: int, kind: int) -> tuple[Any, ...]:
        self.calls.append("import")
        if kind != 1:
            return INVALID, None
        return OK, self._handle(os.dup(descriptor), os.fstat(descriptor).st_size)

    def cuMemAddressReserve(self, size: int, alignment: int, at: int, flags: int) -> tuple[Any, ...]:
        self.calls.append("reserve")
        if size % GRANULARITY or not size or alignment & (alignment - 1) or at or flags:
            return INVALID, 0
        kind = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS
        address = LIBC.mmap(None, size, NONE, kind, -1, 0)
        self.ranges[address] = size
        return OK, address

    def cuMemMap(self, at: int, size: int, offset: int, handle: int, flags: int) -> tuple[Any, ...]:
        self.calls.append("map")
        if offset or flags or size % GRANULARITY or self.handles.get(handle, (0, 0))[1] != size:
            return (INVALID,)
        inside = any(first <= at and at + size <= first + length for first, length in self.ranges.items())
        if not inside or any(at < first + n and first < at + size for first, (n, _) in self.mapped.items()):
            return (INVALID,)
        descriptor = os.dup(self.handles[handle][0])
        LIBC.mmap(at, size, NONE, mmap.MAP_SHARED | FIXED, descriptor, 0)
        self.mapped[at] = size, descriptor
        return (OK,)

    def cuMemSetAccess(self, at: int, size: int, rules: list[Any], count: int) -> tuple[Any, ...]:
        self.calls.append("access")
        if count != len(rules) or any(r.flags != 3 or not 0 <= r.location.id < self.devices for r in rules):
            return (INVALID,)
        parts = {first: n for first, (n, _) in self.mapped.items() if at <= first < at + size}
        if sum(parts.values()) != size:  # all of it must be mapped
            return (INVALID,)
        LIBC.mprotect(at, size, mmap.PROT_READ | mmap.PROT_WRITE)
        self.accessible |= set(parts)
        return (OK,)

    def cuMemUnmap(self, at: int, size: int) -> tuple[Any, ...]:
        self.calls.append("unmap")
        if self.mapped.get(at, (0, 0))[0] != size:
            return (INVALID,)
        LIBC.mmap(at, size, NONE, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | FIXED, -1, 0)
        os.close(self.mapped.pop(at)[1])
        self.accessible.discard(at)
        return (OK,)

    def cuMemAddressFree(self, at: int, size: int) -> tuple[Any, ...]:
        self.calls.append("free")
        if self.ranges.get(at) != size or any(at <= first < at + size for first in self.mapped):
            return (INVALID,)
        LIBC.munmap(at, size)
        del self.ranges[at]
        return (OK,)

    def cuMemRelease(self, handle: int) -> tuple[Any, ...]:
        self.calls.append("release")
        if handle not in self.handles:
            return (INVALID,)
        os.close(self.handles.pop(handle)[0])
        return (OK,)

    def cuMemHostRegister(self, at: int, size: int, flags: int) -> tuple[Any, ...]:
        if flags != 3 or at % mmap.PAGESIZE:
            return (INVALID,)
        if at in self.registered:
            return (CUresult.CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED,)
        self.registered[at] = size
        return (OK,)

    def cuMemHostGetDevicePointer(self, at: int, flags: int) -> tuple[Any, ...]:
        return (OK, at) if at in self.registered and not flags else (INVALID, 0)

    def cuMemHostUnregister(self, at: int) -> tuple[Any, ...]:
        if self.registered.pop(at, None) is None:
            return (CUresult.CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED,)
        return (OK,)

    @property
    def in_use(self) -> int:
        """How many handles, ranges, mappings and registrations there are."""
        return len(self.handles) + len(self.ranges) + len(self.mapped) + len(self.registered)


def install(rank: int, devices: int, **options: int) -> Driver:
    """Give this process so many GPUs, of which its own has the rank's number."""
    driver = Driver(devices, **options)
    gpus = cuda.Gpus(driver, rank, devices, cuda.CPU)
    cuda.load = lambda: gpus
    return driver
