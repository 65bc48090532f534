"""Torch's tensors as the server takes them: what their memory means, and how elements come from and go to devices.

It never imports torch, only uses it if it is loaded.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any


def is_tensor(value: object) -> bool:
    """Return whether a value is a tensor of torch."""
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(value, torch.Tensor)


def is_made_up(kind: type) -> bool:
    """Return whether a type of tensor implements torch's operators itself, so that its memory may mean anything."""
    torch = sys.modules.get("torch")
    if torch is None or not issubclass(kind, torch.Tensor):
        return False
    made_by: Any = kind
    return made_by.__torch_dispatch__ is not torch.Tensor.__torch_dispatch__


def functions_of(kind: type) -> tuple[Any, Any]:
    """Return two functions of torch for a type of tensor, or None twice for another library's type.

    The first tells whether a tensor's memory has the elements with the other sign. The second takes a tuple of
    tensors, and tells autograd that they were written to.
    """
    torch = sys.modules.get("torch")
    if torch is None or not issubclass(kind, torch.Tensor):
        return None, None
    return torch.Tensor.is_neg, getattr(
        torch._C, "_increment_version", torch.autograd.graph.increment_version
    )


def held(values: Any) -> tuple[Any, Callable[[], None] | None]:
    """Return an object that keeps an output's memory alive, and a function to call when it has been written to.

    A tensor may be given other memory while an operation still writes to the memory that it had.
    """
    if not is_tensor(values):
        return values, None
    alias = values.detach()
    raise_version = functions_of(type(alias))[1]
    return alias, lambda: raise_version((alias,))


def require_elements(value: Any, name: str) -> None:
    """Raise an error for a tensor whose elements cannot be copied: there are none, or they have no plain order.

    Raises
    ------
    TypeError
        Of its layout or kind.
    ValueError
        Its device has no memory.
    """
    if value.device.type == "meta":
        raise ValueError(
            f"{name} is on device meta, which has no elements: make the tensor on another device"
        )
    if value.layout is not sys.modules["torch"].strided and not value.is_nested:
        raise TypeError(f"{name} has layout {value.layout}: make it dense first, {name}.to_dense()")
    if value.is_nested:
        raise TypeError(
            f"{name} is a nested tensor, whose parts have shapes of their own: pass torch.cat({name}.unbind())"
        )
    if _has_no_elements(value):
        raise TypeError(
            f"{name} is a {type(value).__name__} of shape {tuple(value.shape)} without elements in memory: pass a "
            f"plain tensor ({name}.clone() of a zero tensor, {name}.full_tensor() of a DTensor); inside of torch."
            "compile, torch.func and FakeTensorMode tensors have no memory"
        )


def on_host(tensor: Any) -> Any:
    """Return a tensor's elements in memory of the CPU: the tensor itself, or a copy if it is on another device."""
    if tensor.device.type == "cpu":
        return tensor
    return host_buffer(tensor.shape, tensor.dtype, tensor.device).copy_(tensor)


def host_buffer(shape: Any, dtype: Any, device: Any) -> Any:
    """Make memory of the CPU for elements that come from a device or go there.

    It is pinned if the device is a GPU, so that its driver copies from it and to it directly. Torch keeps such memory
    for further use when it is free, which it is not before a copy from it has been made.
    """
    return sys.modules["torch"].empty(shape, dtype=dtype, pin_memory=device.type == "cuda")


def copy_to(tensor: Any, buffer: Any) -> None:
    """Copy from a host buffer; to a GPU in the order of its current stream, while the CPU goes on."""
    tensor.copy_(buffer, non_blocking=tensor.device.type == "cuda")


def _has_no_elements(tensor: Any) -> bool:
    torch = sys.modules["torch"]
    if is_made_up(type(tensor)) or torch._C._functorch.is_functorch_wrapped_tensor(tensor):
        return True
    return tensor.device.type == "cpu" and bool(tensor.numel()) and tensor.data_ptr() == 0
