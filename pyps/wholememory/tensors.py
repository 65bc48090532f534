"""Tensors that all ranks share: creating them, views of them, sending them to processes, opening them by name."""

from __future__ import annotations

from collections.abc import Sequence
from multiprocessing.reduction import ForkingPickler
from typing import Any

import torch
from torch.multiprocessing.reductions import reduce_tensor

from pyps.wholememory import cuda, memory, room
from pyps.wholememory import device as device_memory
from pyps.wholememory.layout import Layout, check_layout
from pyps.wholememory.library import begun, members_of, ready, together


def create_tensor(
    shape: Sequence[int],
    strides: Sequence[int],
    dtype: torch.dtype,
    use_host_memory: bool,
    ranks: Sequence[int],
    *,
    timeout: float | None = None,
) -> torch.Tensor:
    """Create one tensor of zeros in memory that all ranks share; all call it with the same arguments.

    Parameters
    ----------
    shape : sequence of int
    strides : sequence of int
        In elements; empty for a contiguous tensor.
    dtype : torch.dtype
        Any dtype of torch.
    use_host_memory : bool
        True for memory of the host, False for memory of the ranks' GPUs, with one partition on each.
    ranks : sequence of int
        The ranks that take part; empty for all.
    timeout : float, optional
        Seconds to wait for the other ranks; by default the timeout of `mp_init`.

    Returns
    -------
    torch.Tensor
        Its pages take memory when they are first used. It exists as long as any process holds it or a view of it.

    Raises
    ------
    TypeError, ValueError, DisagreementError
        An argument is wrong, or differs between the ranks; raised on all ranks.
    MemoryError
        The host or a GPU has too little memory; raised on all ranks.
    RuntimeError
        GPU memory is requested, but there is no GPU.
    pyps.WaitTimeoutError, RankLost
        A rank did not make this call in time, ended or left; raised on all others.
    """
    members, layout = members_of(ranks), None
    limit = ready().timeout if timeout is None else timeout

    def propose() -> dict[str, Any]:
        nonlocal layout
        layout = check_layout(shape, strides, dtype)
        if not isinstance(use_host_memory, bool):
            raise TypeError(f"use_host_memory is {use_host_memory!r}; give True or False")
        return {
            "shape": list(layout.shape),
            "strides": list(layout.strides),
            "dtype": str(dtype),
            "use_host_memory": use_host_memory,
            "own": {"available": room.available()}
            if use_host_memory
            else {"granularity": cuda.load().granularity()},
        }

    def lead(proposals: list[dict[str, Any]]) -> tuple[dict[str, Any], list[int]]:
        assert layout is not None
        own = [proposal["own"] for proposal in proposals]
        if not use_host_memory:
            return {"granularity": max(each["granularity"] for each in own)}, []
        return {}, [memory.create([layout], most=min(each["available"] for each in own))]

    def take(message: dict[str, Any], descriptors: list[int]) -> torch.Tensor | int:
        if not use_host_memory:
            granularity: int = message["granularity"]
            return granularity
        mapping, layouts = memory.adopt(descriptors[0])
        return memory.as_tensor(mapping, layouts[0])

    made = together("create_tensor", ranks, limit, propose, lead=lead, take=take)
    if isinstance(made, torch.Tensor):
        return made
    assert layout is not None
    return device_memory.create_partitions(layout, members, made, limit)


def get_tensor_view(tensor: torch.Tensor, device: torch.device | str | int) -> torch.Tensor:
    """Return a tensor on `device` that shares the memory of `tensor`.

    Parameters
    ----------
    tensor : torch.Tensor
        A tensor of `create_tensor`, or a view of one.
    device : torch.device
        The CPU, for a tensor in host memory; or a GPU, for any tensor.

    Raises
    ------
    ValueError
        The tensor is not in whole memory, or the device cannot access it.
    RuntimeError
        A GPU is requested, but there is none.
    """
    begun()
    wanted = torch.device(device)
    if wanted.type == "cpu" and memory.find(tensor) is not None:
        return tensor.detach()
    if wanted.type == "cuda":
        return device_memory.view_on_device(tensor, wanted)
    if memory.find(tensor) is None:
        raise ValueError(
            f"the tensor on {tensor.device} does not lie in whole memory of the host: see create_tensor"
        )
    raise ValueError(f"there are views on the CPU and on GPUs, none on {wanted}")


def name_of(tensor: torch.Tensor) -> str:
    """Return the name under which processes of this user, in Python or Lua, can open the tensor's memory.

    Raises
    ------
    ValueError
        The tensor is not in whole memory of the host.
    """
    mapping = memory.find(tensor)
    if mapping is None:
        raise ValueError("the tensor does not lie in whole memory of the host: see create_tensor")
    return mapping.name


def open_tensor(name: str) -> torch.Tensor:
    """Open a tensor that another process of this user on this host holds; neither needs to be a rank.

    Raises
    ------
    pyps.AttachError
        No process holds it any more.
    ValueError
        It is not such a name, or it names the parameters of a model: see `pyps.share`.
    """
    mapping, layouts = memory.open_by_name(name)
    if len(layouts) != 1:
        raise ValueError(f"{name} holds {len(layouts)} tensors: pyps.share(model, {name!r}) opens them")
    return memory.as_tensor(mapping, layouts[0])


def _reduce(tensor: torch.Tensor) -> Any:
    """Pickle a tensor of whole memory as its name, and every other tensor as torch does."""
    mapping = memory.find(tensor)
    if mapping is None:
        return reduce_tensor(tensor)  # type: ignore[no-untyped-call]
    is_parameter = isinstance(tensor, torch.nn.Parameter)
    return _rebuild, (mapping.name, str(memory.layout_of(tensor)), is_parameter, tensor.requires_grad)


def _rebuild(name: str, layout: str, is_parameter: bool, requires_grad: bool) -> torch.Tensor:
    mapping, _ = memory.open_by_name(name)
    tensor = memory.as_tensor(mapping, Layout.parse(layout))
    return torch.nn.Parameter(tensor, requires_grad) if is_parameter else tensor.requires_grad_(requires_grad)


# torch would copy the tensor to other memory, which the other ranks do not see.
ForkingPickler.register(torch.Tensor, _reduce)
ForkingPickler.register(torch.nn.Parameter, _reduce)
