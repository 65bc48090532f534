"""Checks of the indices and rows that are passed to a call, for tensors of one host and of several."""

from __future__ import annotations

from typing import Protocol

import torch

from pyps.wholememory import _rows

INDEX_TYPES = (torch.int32, torch.int64)


class Rows(Protocol):
    """An object with rows: a torch.Tensor or a ChunkedTensor."""

    @property
    def shape(self) -> torch.Size:
        """The number of rows, followed by the shape of a row."""

    @property
    def dtype(self) -> torch.dtype:
        """The type of the elements."""

    @property
    def device(self) -> torch.device:
        """The device of the rows that calls take and return."""


def check_indices(tensor: Rows, indices: torch.Tensor) -> None:
    """Raise an error unless these can be indices of a tensor's rows."""
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
        position = _rows.first_outside(place(flat), tensor.shape[0], torch.get_num_threads())
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


def check_rows(name: str, tensor: Rows, shape: tuple[int, ...], rows: torch.Tensor) -> None:
    """Raise an error unless `rows` has this shape, and the tensor's dtype and device."""
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


def place(indices: torch.Tensor) -> tuple[int, int, bool]:
    """Return the address of contiguous indices, their number, and whether they have 64 bits."""
    return indices.data_ptr(), indices.numel(), indices.dtype == torch.int64
