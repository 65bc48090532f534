"""`pyps.share`, which loads torch when it is called."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import torch


def share(model: torch.nn.Module, name: str | None = None) -> str:
    """Move a model's parameters and buffers into memory that other processes of this host share.

    What any of them changes in place all see, at once and without locks. The memory is there as long as any of them
    holds it. ``luaps.share(module, name)`` does the same for a module of Torch7 with the same parameters in its order.

    Parameters
    ----------
    model : torch.nn.Module
        On the CPU. Its parameters stay the same objects, so an optimiser that has them keeps working.
    name : str, optional
        What the first process got from `share`: the model gets the values that are there.

    Returns
    -------
    str
        The name for the other processes.

    Raises
    ------
    ValueError
        The model has no parameters, is not on the CPU, or is not like the one that was shared.
    pyps.AttachError
        Nobody holds the memory any more.
    MemoryError
        The host cannot back it.
    """
    from pyps.wholememory import sharing

    return sharing.share(model, name)
