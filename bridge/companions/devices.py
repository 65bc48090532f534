"""Devices of torch for the cutorch package of Torch7: what is not an operator of torch's.

`kind` is "cuda", or "cpu": the CPU as the one device, on which the device's code is checked where there is no GPU.
Its work is done when a call returns, so that it has nothing to wait for. Devices and streams are counted from 0;
stream 0 is the default one.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import torch
    from torch import Tensor

_streams: dict[tuple[int, int], torch.cuda.Stream] = {}  # (device, number from 1) -> what stands for it


def count(kind: str) -> int:
    """Return the number of devices."""
    import torch

    if kind == "cpu":
        return 1
    return torch.cuda.device_count() if torch.cuda.is_available() else 0


def select(kind: str, device: int) -> None:
    """Make new tensors of this thread on a device."""
    import torch

    if kind == "cuda":
        torch.cuda.set_device(device)


def synchronize(kind: str, device: int | None = None) -> None:
    """Wait until a device (the current one) has done all it was given."""
    import torch

    if kind == "cuda":
        torch.cuda.synchronize(device)


def memory(kind: str, device: int | None = None) -> tuple[int, int]:
    """Return the bytes of a device's memory: free, all. What torch keeps to use again counts as free."""
    import torch

    if kind == "cpu":
        page = os.sysconf("SC_PAGE_SIZE")
        return os.sysconf("SC_AVPHYS_PAGES") * page, os.sysconf("SC_PHYS_PAGES") * page
    free, total = torch.cuda.mem_get_info(device)
    return free + torch.cuda.memory_reserved(device) - torch.cuda.memory_allocated(device), total


def properties(kind: str, device: int) -> dict[str, Any]:
    """Return what cutorch.getDeviceProperties tells, under CUDA's names."""
    import torch

    free, total = memory(kind, device)
    told: dict[str, Any] = {"totalGlobalMem": total, "freeGlobalMem": free}
    if kind == "cpu":
        return told | {"name": "CPU (MOONTIDE_CUDA=aten)", "major": 0, "minor": 0}
    found = torch.cuda.get_device_properties(device)
    known = {
        "major": "major",
        "minor": "minor",
        "warpSize": "warp_size",
        "multiProcessorCount": "multi_processor_count",
        "maxThreadsPerMultiProcessor": "max_threads_per_multi_processor",
        "sharedMemPerBlock": "shared_memory_per_block",
        "regsPerMultiprocessor": "regs_per_multiprocessor",
        "integrated": "is_integrated",
        "l2CacheSize": "L2_cache_size",
        "pciBusID": "pci_bus_id",
        "pciDeviceID": "pci_device_id",
        "pciDomainID": "pci_domain_id",
    }
    told |= {name: int(getattr(found, field)) for name, field in known.items() if hasattr(found, field)}
    return told | {"name": found.name}


def peers(kind: str, device: int, other: int) -> bool:
    """Return whether a device reaches the other's memory."""
    import torch

    return device == other or (kind == "cuda" and torch.cuda.can_device_access_peer(device, other))


def version(kind: str) -> int:
    """Return CUDA's version as it counts them: 12040 for 12.4; 8000, as of CUDA 8.0, without CUDA."""
    import torch

    if kind == "cpu" or torch.version.cuda is None:
        return 8000
    major, minor = torch.version.cuda.split(".")[:2]
    return int(major) * 1000 + int(minor) * 10


def add(out: Tensor, a: Tensor, b: Tensor, alpha: float) -> None:
    """Write ``a + alpha * b`` of integers, where alpha is truncated, into `out`."""
    import torch

    torch.add(a, b, alpha=int(alpha), out=out)


# ---- random numbers


def _generator(kind: str, device: int) -> torch.Generator:
    import torch

    if kind == "cpu":
        return torch.default_generator
    torch.cuda.init()  # type: ignore[no-untyped-call]
    return torch.cuda.default_generators[device]


def seed(kind: str, device: int, value: float | None = None) -> int:
    """Seed a device's generator, with a number of its own choice unless one is given; the seed."""
    generator = _generator(kind, device)
    if value is None:
        value = generator.seed() % 2**53  # what a Lua number holds
    generator.manual_seed(int(value))
    return int(value)


def initial_seed(kind: str, device: int) -> int:
    """Return what a device's generator was seeded with last, as a Lua number holds it."""
    return _generator(kind, device).initial_seed() % 2**53


def state(kind: str, device: int) -> Tensor:
    """Return the state of a device's generator: a uint8 tensor on the CPU."""
    return _generator(kind, device).get_state()


def restore(kind: str, device: int, saved: Tensor) -> None:
    """Give a device's generator a state back."""
    _generator(kind, device).set_state(saved)


# ---- streams


def _stream(number: int, device: int | None = None) -> torch.cuda.Stream:
    import torch

    place = torch.cuda.current_device() if device is None else device
    if number == 0:
        return torch.cuda.default_stream(place)
    if (place, number) not in _streams:
        _streams[place, number] = torch.cuda.Stream(place)  # type: ignore[no-untyped-call]
    return _streams[place, number]


def use_stream(kind: str, number: int) -> None:
    """Let what this thread does on the current device run in a stream, after what it has done until now.

    Torch keeps the memory that a stream has freed for that stream, however another one still reads it. The order of
    the streams that a thread uses is what makes that safe.
    """
    import torch

    if kind == "cuda":
        before = torch.cuda.current_stream()
        stream = _stream(int(number))
        stream.wait_stream(before)
        torch.cuda.set_stream(stream)


def synchronize_stream(kind: str, number: int) -> None:
    """Wait for all that is in a stream of the current device."""
    if kind == "cuda":
        _stream(int(number)).synchronize()


def wait_stream(
    kind: str, number: int, other: int, device: int | None = None, other_device: int | None = None
) -> None:
    """Let what comes in a stream wait for what is in another."""
    if kind == "cuda":
        _stream(int(number), device).wait_stream(_stream(int(other), other_device))


def record(kind: str, event: Any = None) -> Any:
    """Set a mark, or a new one, behind what is in the current stream; None where nothing is ever waited for."""
    import torch

    if kind == "cpu":
        return None
    if event is None:
        event = torch.cuda.Event()  # type: ignore[no-untyped-call]
    event.record()
    return event


def wait_event(kind: str, event: Any) -> None:
    """Let what comes in the current stream wait for a mark."""
    import torch

    if kind == "cuda" and event is not None:
        torch.cuda.current_stream().wait_event(event)


def finish(event: Any) -> None:
    """Wait for a mark."""
    if event is not None:
        event.synchronize()


def passed(event: Any) -> bool:
    """Return whether all before a mark has been done."""
    return event is None or bool(event.query())
