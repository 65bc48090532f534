"""Rows of a tensor by indices: gathered, scattered, added; the same calls for the memory of one host, GPUs, many hosts.

On the host's memory rows are copied by a loop that has the next ones on their way from memory; GPUs use torch's own
kernels.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from pyps.wholememory import _rows

if TYPE_CHECKING:
    from pyps.wholememory.chunked import ChunkedTensor

INDEX_TYPES = (torch.int32, torch.int64)


def gather(
    tensor: torch.Tensor | ChunkedTensor, indices: torch.Tensor, *, out: torch.Tensor | None = None
) -> torch.Tensor:
    """Return the rows that indices name.

    Parameters
    ----------
    tensor : torch.Tensor, shape (rows, ...), or ChunkedTensor
    indices : torch.Tensor of int32 or int64, any shape
        An index may come more than once.
    out : torch.Tensor, of the shape of `indices` and then that of a row, optional
        Where the rows go, of the tensor's dtype; by default a new tensor.

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
    _rows.gather(_matrix(tensor), _place(flat), target.data_ptr(), torch.get_num_threads())
    if target is not out:
        out.copy_(target)
    return out


def scatter(tensor: torch.Tensor | ChunkedTensor, indices: torch.Tensor, rows: torch.Tensor) -> None:
    """Write rows to the places that indices name; of several for one place the last one stays.

    Parameters
    ----------
    tensor : torch.Tensor, shape (rows, ...), or ChunkedTensor
    indices : torch.Tensor of int32 or int64, any shape
    rows : torch.Tensor, of the shape of `indices` and then that of a row
        Of the tensor's dtype.

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
    _check_all(tensor, indices, rows)
    if not _is_plain(tensor):
        tensor.detach()[indices.flatten()] = rows.reshape(-1, *tensor.shape[1:])
        return
    flat, source = indices.contiguous(), rows.contiguous()
    _rows.scatter(_matrix(tensor), _place(flat), source.data_ptr(), torch.get_num_threads())


def scatter_add(tensor: torch.Tensor | ChunkedTensor, indices: torch.Tensor, rows: torch.Tensor) -> None:
    """Add rows to the places that indices name; of several for one place each is added.

    Processes that add to one row at the same moment can lose a part, as Hogwild training puts up with; rows of a
    `ChunkedTensor` lose nothing.

    Parameters
    ----------
    tensor : torch.Tensor, shape (rows, ...), or ChunkedTensor
    indices : torch.Tensor of int32 or int64, any shape
    rows : torch.Tensor, of the shape of `indices` and then that of a row
        Of the tensor's dtype.

    Raises
    ------
    IndexError
        An index is not in [0, rows); nothing was added.
    TypeError, ValueError
        An argument does not fit.
    """
    if not isinstance(tensor, torch.Tensor):
        tensor.scatter_add(indices, rows)
        return
    _check_all(tensor, indices, rows)
    dtype = str(tensor.dtype).removeprefix("torch.")
    if not _is_plain(tensor) or dtype not in _rows.ELEMENTS:
        tensor.detach().index_add_(0, indices.flatten(), rows.reshape(-1, *tensor.shape[1:]))
        return
    flat, source = indices.contiguous(), rows.contiguous()
    element = _rows.ELEMENTS.index(dtype)
    _rows.scatter_add(_matrix(tensor), _place(flat), source.data_ptr(), element, torch.get_num_threads())


def check_indices(tensor: torch.Tensor | ChunkedTensor, indices: torch.Tensor) -> None:
    """Raise what is wrong with indices of a tensor's rows."""
    if not tensor.shape:
        raise ValueError("the tensor has no dimension, so it has no rows")
    if not isinstance(indices, torch.Tensor):
        raise TypeError(f"indices is a {type(indices).__name__}; give a torch.Tensor of int32 or int64")
    if indices.dtype not in INDEX_TYPES:
        raise TypeError(f"indices is of {indices.dtype}; give torch.int32 or torch.int64")
    if indices.device != tensor.device:
        raise ValueError(f"indices is on {indices.device}, the tensor on {tensor.device}; move them there")
    if not indices.numel():
        return
    if indices.device.type == "cpu":
        flat = indices.contiguous()
        position = _rows.first_outside(_place(flat), tensor.shape[0], torch.get_num_threads())
    else:
        low, high = torch.stack(torch.aminmax(indices)).tolist()  # waits for the GPU once
        position = -1
        if low < 0 or high >= tensor.shape[0]:
            outside = ((indices < 0) | (indices >= tensor.shape[0])).flatten()
            position = int(outside.to(torch.uint8).argmax())
    if position >= 0:
        value = int(indices.flatten()[position])
        raise IndexError(
            f"index {value} at position {position} is out of range: there are rows 0 to {tensor.shape[0] - 1}"
        )


def check_rows(
    name: str, tensor: torch.Tensor | ChunkedTensor, shape: tuple[int, ...], rows: torch.Tensor
) -> None:
    """Raise what is wrong with rows that are read from or written to a tensor."""
    if not isinstance(rows, torch.Tensor):
        raise TypeError(f"{name} is a {type(rows).__name__}; give a torch.Tensor")
    if rows.dtype != tensor.dtype:
        raise TypeError(f"{name} is of {rows.dtype}, the tensor of {tensor.dtype}")
    if tuple(rows.shape) != shape:
        raise ValueError(
            f"{name} has shape {list(rows.shape)}; the indices and the tensor ask for {list(shape)}"
        )
    if rows.device != tensor.device:
        raise ValueError(f"{name} is on {rows.device}, the tensor on {tensor.device}")


def _check_all(tensor: torch.Tensor, indices: torch.Tensor, rows: torch.Tensor) -> None:
    check_indices(tensor, indices)
    check_rows("rows", tensor, (*indices.shape, *tensor.shape[1:]), rows)


def _is_plain(tensor: torch.Tensor) -> bool:
    """Whether each row's elements lie one after another in the host's memory."""
    return tensor.device.type == "cpu" and (not tensor.shape[0] or tensor[0].is_contiguous())


def _matrix(tensor: torch.Tensor) -> tuple[int, int, int]:
    row = tensor[0].numel() if tensor.shape[0] else 0
    return tensor.data_ptr(), tensor.stride(0) * tensor.element_size(), row * tensor.element_size()


def _place(indices: torch.Tensor) -> tuple[int, int, bool]:
    return indices.data_ptr(), indices.numel(), indices.dtype == torch.int64
