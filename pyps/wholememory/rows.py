"""Gather, scatter and add rows of a tensor by indices, in a host's memory, on GPUs, or across hosts.

In the host's memory rows are copied by loops that prefetch the next rows; on GPUs torch's own kernels are used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from pyps.wholememory import _rows
from pyps.wholememory.checks import check_indices, check_rows, place

if TYPE_CHECKING:
    from pyps.wholememory.chunked import ChunkedTensor


def gather(
    tensor: torch.Tensor | ChunkedTensor, indices: torch.Tensor, *, out: torch.Tensor | None = None
) -> torch.Tensor:
    """Return the rows with these indices.

    Parameters
    ----------
    tensor : torch.Tensor, shape (rows, ...), or ChunkedTensor
    indices : torch.Tensor of int32 or int64, any shape
        An index may come more than once.
    out : torch.Tensor, of the shape of `indices` and then that of a row, optional
        A tensor of the same dtype for the rows; by default a new one is made.

    Raises
    ------
    IndexError
        An index is not in [0, rows); nothing was read.
    TypeError, ValueError
        An argument does not fit.
    """
    if not isinstance(tensor, torch.Tensor):
        return tensor.gather(indices, out=out)
    check_indices(tensor, indices)
    shape = (*indices.shape, *tensor.shape[1:])
    if out is None:
        out = torch.empty(shape, dtype=tensor.dtype, device=tensor.device)
    else:
        check_rows("out", tensor, shape, out)
    if not _is_plain(tensor):
        flat = indices.flatten()
        if out.is_contiguous():
            torch.index_select(tensor.detach(), 0, flat, out=out.view(len(flat), *tensor.shape[1:]))
        else:
            out.copy_(tensor.index_select(0, flat).view(shape))
        return out
    target = out if out.is_contiguous() else torch.empty(shape, dtype=out.dtype)
    flat = indices.contiguous()
    _rows.gather(_matrix(tensor), place(flat), target.data_ptr(), torch.get_num_threads())
    if target is not out:
        out.copy_(target)
    return out


def scatter(tensor: torch.Tensor | ChunkedTensor, indices: torch.Tensor, rows: torch.Tensor) -> None:
    """Overwrite the rows with these indices; of several for one index the last one stays.

    Parameters
    ----------
    tensor : torch.Tensor, shape (rows, ...), or ChunkedTensor
    indices : torch.Tensor of int32 or int64, any shape
    rows : torch.Tensor, of the shape of `indices` and then that of a row
        The rows, of the tensor's dtype.

    Raises
    ------
    IndexError
        An index is not in [0, rows); nothing was written.
    TypeError, ValueError
        An argument does not fit.
    """
    if not isinstance(tensor, torch.Tensor):
        tensor.scatter(indices, rows)
        return
    flat, source = _checked(tensor, indices, rows)
    if not _is_plain(tensor):
        tensor.detach()[flat] = source
        return
    _rows.scatter(_matrix(tensor), place(flat), source.data_ptr(), torch.get_num_threads())


def scatter_add(tensor: torch.Tensor | ChunkedTensor, indices: torch.Tensor, rows: torch.Tensor) -> None:
    """Add to the rows with these indices; of several for one index each is added.

    Parameters and errors are those of `scatter`. If several processes add to the same row at the same moment, a part
    may be lost, which Hogwild training tolerates. With a `ChunkedTensor` nothing is lost.
    """
    if not isinstance(tensor, torch.Tensor):
        tensor.scatter_add(indices, rows)
        return
    flat, source = _checked(tensor, indices, rows)
    dtype = str(tensor.dtype).removeprefix("torch.")
    if not _is_plain(tensor) or dtype not in _rows.ELEMENTS:
        tensor.detach().index_add_(0, flat, source)
        return
    element = _rows.ELEMENTS.index(dtype)
    _rows.scatter_add(_matrix(tensor), place(flat), source.data_ptr(), element, torch.get_num_threads())


def _checked(
    tensor: torch.Tensor, indices: torch.Tensor, rows: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the indices, flat, and a row for each, both contiguous."""
    check_indices(tensor, indices)
    check_rows("rows", tensor, (*indices.shape, *tensor.shape[1:]), rows)
    flat = indices.flatten().contiguous()
    return flat, rows.reshape(len(flat), *tensor.shape[1:]).contiguous()


def _is_plain(tensor: torch.Tensor) -> bool:
    """Return whether the tensor is in the host's memory, with the elements of each row one after another."""
    return tensor.device.type == "cpu" and (not tensor.shape[0] or tensor[0].is_contiguous())


def _matrix(tensor: torch.Tensor) -> tuple[int, int, int]:
    row = tensor[0].numel() if tensor.shape[0] else 0
    return tensor.data_ptr(), tensor.stride(0) * tensor.element_size(), row * tensor.element_size()
