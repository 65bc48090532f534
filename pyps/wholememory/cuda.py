"""The calls of CUDA's driver that map the memory of several GPUs into one range of addresses, through cuda-python.

`Gpus` uses the names and signatures of `cuda.bindings.driver`. Any object with the same names can replace it, for
example the tests' driver, which needs no GPU.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

CPU, CUDA = 1, 2  # kinds of devices in DLPack


@dataclass(frozen=True)
class Gpus:
    """A driver, the GPU of this process, and the kind of device that tensors in its memory have.

    Attributes
    ----------
    calls
        ``cuda.bindings.driver``, or an object with the same names.
    current : int
        The number of this process's GPU.
    count : int
        How many GPUs this process sees.
    kind : int
        DLPack's number for the kind of device.
    """

    calls: Any
    current: int
    count: int
    kind: int = CUDA

    def call(self, name: str, *arguments: Any) -> Any:
        """Make a call of the driver and return its results.

        Raises
        ------
        MemoryError
            The GPU has no room.
        RuntimeError
            The call failed otherwise.
        """
        status, *found = getattr(self.calls, name)(*arguments)
        if int(status) == 0:
            return found[0] if len(found) == 1 else found
        text = f"{name} failed on GPU {self.current} with {getattr(status, 'name', status)}"
        if int(status) == int(self.calls.CUresult.CUDA_ERROR_OUT_OF_MEMORY):
            raise MemoryError(f"{text}: the GPU has no room for its part of the tensor")
        raise RuntimeError(text)

    def properties(self, device: int) -> Any:
        """Return the properties of memory on a GPU whose handles can be passed on as file descriptors."""
        calls = self.calls
        wanted = calls.CUmemAllocationProp()
        wanted.type = calls.CUmemAllocationType.CU_MEM_ALLOCATION_TYPE_PINNED
        wanted.location.type = calls.CUmemLocationType.CU_MEM_LOCATION_TYPE_DEVICE
        wanted.location.id = device
        wanted.requestedHandleTypes = self.descriptor_type
        return wanted

    @property
    def descriptor_type(self) -> Any:
        """The kind of handle that is a file descriptor."""
        return self.calls.CUmemAllocationHandleType.CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR

    def granularity(self) -> int:
        """Return the size that partitions on this GPU must be multiples of, in bytes."""
        least = self.calls.CUmemAllocationGranularity_flags.CU_MEM_ALLOC_GRANULARITY_RECOMMENDED
        return int(self.call("cuMemGetAllocationGranularity", self.properties(self.current), least))

    def allow(self, address: int, nbytes: int, devices: Sequence[int]) -> None:
        """Let kernels of these GPUs read and write a mapped range."""
        rules = []
        for device in devices:
            rule = self.calls.CUmemAccessDesc()
            rule.location.type = self.calls.CUmemLocationType.CU_MEM_LOCATION_TYPE_DEVICE
            rule.location.id = device
            rule.flags = self.calls.CUmemAccess_flags.CU_MEM_ACCESS_FLAGS_PROT_READWRITE
            rules.append(rule)
        self.call("cuMemSetAccess", address, nbytes, rules, len(rules))


def load() -> Gpus:
    """Return this process's GPUs.

    Raises
    ------
    RuntimeError
        There is no GPU, or a package is missing.
    """
    import torch

    if not torch.cuda.is_available():
        raise RuntimeError(
            f"memory of GPUs needs one, and torch {torch.__version__} sees none: give use_host_memory=True, or install "
            "torch for CUDA on a machine with a GPU"
        )
    try:
        from cuda.bindings import driver
    except ImportError:
        raise RuntimeError("memory of GPUs needs cuda-python: pip install 'moontide[gpu]'") from None
    torch.cuda.synchronize()  # makes torch's context the current one
    return Gpus(driver, torch.cuda.current_device(), torch.cuda.device_count())
