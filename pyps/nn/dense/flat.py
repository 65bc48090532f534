"""The parameters of a model as views of one vector, in the order of the keys of their values."""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn
from torch.nn.parameter import UninitializedParameter

from pyps.dtypes import DTYPES
from pyps.nn.dense.pieces import keys_of


class FlatParameters:
    """A model's parameters, and what a table has of them.

    It changes nothing before `lay_out`.

    Parameters
    ----------
    model : torch.nn.Module

    Attributes
    ----------
    names : list of str
    tensors : list of torch.nn.Parameter
    sizes : list of int
        Elements of each.
    keys : list of int64 array
        Of the values of each.
    all_keys : int64 array
    dtype : torch.dtype
    vector : torch.Tensor, shape (n,)
        The elements of all, which a pull of `all_keys` fills; on the model's device.

    Raises
    ------
    ValueError
        The model has no parameters, they are on several devices or on meta, have several dtypes or none that a server
        holds, or were not initialized.
    """

    def __init__(self, model: nn.Module) -> None:
        named = dict(model.named_parameters())
        self.names, self.tensors = list(named), list(named.values())
        self._check()
        self.sizes = [tensor.numel() for tensor in self.tensors]
        self.dtype = self.tensors[0].dtype
        self.keys = keys_of(self.sizes)
        self.all_keys = np.concatenate(self.keys)
        self.vector = torch.cat([tensor.detach().reshape(-1) for tensor in self.tensors])

    def _check(self) -> None:
        if not self.tensors:
            raise ValueError("the model has no parameters: there is nothing to train")
        first, device = self.tensors[0].dtype, self.tensors[0].device
        for name, tensor in zip(self.names, self.tensors, strict=True):
            if isinstance(tensor, UninitializedParameter):
                raise ValueError(
                    f"parameter {name!r} has no size yet: call the model with an example of its input first"
                )
            if tensor.device.type == "meta":
                raise ValueError(
                    f"parameter {name!r} is on device meta, without elements: model.to_empty(device=...), and "
                    "initialize it"
                )
            if tensor.device != device:
                raise ValueError(
                    f"parameter {name!r} is on device {tensor.device}, and {self.names[0]!r} on {device}; they become "
                    "one vector: bring the model to one device, or make a Distributed of each part, with a name each"
                )
            if tensor.dtype != first:
                raise ValueError(
                    f"parameter {name!r} is {tensor.dtype}, and {self.names[0]!r} is {first}; a table has one dtype: "
                    "convert the model, or make a Distributed of each part, with a name each"
                )
        if str(first).removeprefix("torch.") not in DTYPES or not first.is_floating_point:
            raise ValueError(
                f"the parameters are {first}; a server trains float32, float64, float16 or bfloat16"
            )
        if not sum(tensor.numel() for tensor in self.tensors):
            raise ValueError("the parameters of the model have no elements: there is nothing to train")

    def lay_out(self) -> None:
        """Let each parameter be a part of the vector, with the elements that are there."""
        start = 0
        for tensor, size in zip(self.tensors, self.sizes, strict=True):
            tensor.data = self.vector[start : start + size].view(tensor.shape)
            start += size

    def note_written(self) -> None:
        """Tell autograd that the parameters have changed: a backward of a forward before that is an error then."""
        torch.autograd.graph.increment_version(self.tensors)

    def part(self, first: int, end: int) -> tuple[NDArray[np.int64], torch.Tensor]:
        """Return the keys of the parameters with the numbers [first, end), and their part of the vector."""
        start, size = sum(self.sizes[:first]), sum(self.sizes[first:end])
        return np.concatenate(self.keys[first:end]), self.vector[start : start + size]
