"""`pyps.share`, which imports torch only when it is called."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import torch


def share(model: torch.nn.Module, name: str | None = None) -> str:
    """Move a model's parameters and buffers into memory that other processes of this host share.

    All of these processes see at once what any of them changes in place; there are no locks. The memory stays as long
    as any process uses it. ``luaps.share(module, name)`` does the same for a module of Torch7 whose parameters have the
    same sizes in the same order.

    Parameters
    ----------
    model : torch.nn.Module
        A model on the CPU. Its parameters stay the same objects, so an optimizer that has them keeps working.
    name : str, optional
        The name that the first process got from `share`. The model then gets the values of the shared memory.

    Returns
    -------
    str
        The name for the other processes.

    Raises
    ------
    ValueError
        The model has no parameters, is not on the CPU, or is not like the one that was shared.
    pyps.AttachError
        No process uses the memory any more.
    MemoryError
        The host has not enough memory.
    """
    from pyps.wholememory import sharing

    return sharing.share(model, name)
