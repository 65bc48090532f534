"""Devices, their random numbers and streams for Torch7's cutorch package.

`kind` is "cuda" or "cpu". "cpu" means that the CPU simulates a single device, so that programs for a GPU can be tested
without one; its work is done when a call returns, so nothing has to be waited for. Devices and streams are counted from
0; stream 0 is the default one.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import torch
    from torch import Tensor

_streams: dict[tuple[int, int], torch.cuda.Stream] = {}  # (device, number from 1) -> torch's stream


def count(kind: str) -> int:
    """Return the number of devices."""
    import torch

    if kind == "cpu":
        return 1
    return torch.cuda.device_count() if torch.cuda.is_available() else 0


def select(kind: str, device: int) -> None:
    """Make new tensors of this thread on this device."""
    import torch

    if kind == "cuda":
        torch.cuda.set_device(device)


def synchronize(kind: str, device: int | None = None) -> None:
    """Wait until a device (None: the current one) has done all its work."""
    import torch

    if kind == "cuda":
        torch.cuda.synchronize(device)


def memory(kind: str, device: int | None = None) -> tuple[int, int]:
    """Return the free and the total bytes of a device's memory. Memory that torch keeps for reuse counts as free."""
    import torch

    if kind == "cpu":
        page = os.sysconf("SC_PAGE_SIZE")
        return os.sysconf("SC_AVPHYS_PAGES") * page, os.sysconf("SC_PHYS_PAGES") * page
    free, total = torch.cuda.mem_get_info(device)
    return free + torch.cuda.memory_reserved(device) - torch.cuda.memory_allocated(device), total


def properties(kind: str, device: int) -> dict[str, Any]:
    """Return the properties for cutorch.getDeviceProperties, by CUDA's names."""
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
    """Return whether a device can access the other's memory."""
    import torch

    return device == other or (kind == "cuda" and torch.cuda.can_device_access_peer(device, other))


def version(kind: str) -> int:
    """Return CUDA's version as CUDA's own number, such as 12040 for 12.4. Without CUDA 8000, which stands for 8.0."""
    import torch

    if kind == "cpu" or torch.version.cuda is None:
        return 8000
    major, minor = torch.version.cuda.split(".")[:2]
    return int(major) * 1000 + int(minor) * 10


def add(out: Tensor, a: Tensor, b: Tensor, alpha: float) -> None:
    """Write ``a + int(alpha) * b`` into `out`, for integer tensors."""
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
    """Seed a device's generator with a number, or with a random one. Returns the seed."""
    generator = _generator(kind, device)
    if value is None:
        value = generator.seed() % 2**53  # so that a Lua number can hold it
    generator.manual_seed(int(value))
    return int(value)


def initial_seed(kind: str, device: int) -> int:
    """Return the last seed of a device's generator, modulo 2^53 so that a Lua number can hold it."""
    return _generator(kind, device).initial_seed() % 2**53


def state(kind: str, device: int) -> Tensor:
    """Return the state of a device's generator, as a uint8 tensor on the CPU."""
    return _generator(kind, device).get_state()


def restore(kind: str, device: int, saved: Tensor) -> None:
    """Set a device's generator to a saved state."""
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
    """Use a stream for this thread's further work on the current device; it runs after the thread's earlier work.

    torch may reuse memory that was freed in a stream for later work of that stream, although another stream still reads
    it. That is safe because the streams of a thread run one after the other.
    """
    import torch

    if kind == "cuda":
        before = torch.cuda.current_stream()
        stream = _stream(int(number))
        stream.wait_stream(before)
        torch.cuda.set_stream(stream)


def synchronize_stream(kind: str, number: int) -> None:
    """Wait until all work in a stream of the current device is done."""
    if kind == "cuda":
        _stream(int(number)).synchronize()


def wait_stream(
    kind: str, number: int, other: int, device: int | None = None, other_device: int | None = None
) -> None:
    """Let further work of a stream wait for the present work of another."""
    if kind == "cuda":
        _stream(int(number), device).wait_stream(_stream(int(other), other_device))


def record(kind: str, event: Any = None) -> Any:
    """Record an event (None: a new one) after the present work of the current stream. Returns it; None on the CPU."""
    import torch

    if kind == "cpu":
        return None
    if event is None:
        event = torch.cuda.Event()  # type: ignore[no-untyped-call]
    event.record()
    return event


def wait_event(kind: str, event: Any) -> None:
    """Let further work of the current stream wait for an event."""
    import torch

    if kind == "cuda" and event is not None:
        torch.cuda.current_stream().wait_event(event)


def finish(event: Any) -> None:
    """Wait for an event."""
    if event is not None:
        event.synchronize()


def passed(event: Any) -> bool:
    """Return whether all work before an event is done."""
    return event is None or bool(event.query())
