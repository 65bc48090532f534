"""A Torch7 layer as converters see it: its fields in the form that PyTorch's constructors take."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy
import torch
from torch import Tensor, nn

from bridge.t7.objects import TorchObject

# The types of layers. Types of Cuda tensors are loaded as these.
DTYPES = {
    "torch.DoubleTensor": torch.float64,
    "torch.CudaDoubleTensor": torch.float64,
    "torch.FloatTensor": torch.float32,
    "torch.CudaTensor": torch.float32,
    "torch.HalfTensor": torch.float16,
    "torch.CudaHalfTensor": torch.float16,
}


class ConversionError(ValueError):
    """A model cannot be converted; the message names the layer's place, its class and the reason."""


class FieldError(ValueError):
    """A layer's field does not have what its class needs. It is raised again as a `ConversionError` with the place."""


class Surroundings(Protocol):
    """The methods of the conversion (`bridge.convert.context.Conversion`) that a layer uses."""

    base: int
    share: bool

    def parameter(self, tensor: Tensor) -> nn.Parameter:
        """Return a tensor as a parameter; the same one for the same memory and shape."""
        ...

    def child(self, parent: Layer, obj: Any, name: str) -> nn.Module:
        """Convert a layer inside another."""
        ...


class Layer:
    """A Torch7 layer that is being converted.

    Attributes
    ----------
    object : TorchObject
        The layer.
    conversion : Surroundings
        The conversion, with its options and the layers converted so far.
    """

    def __init__(self, obj: TorchObject, conversion: Surroundings) -> None:
        self.object = obj
        self.conversion = conversion
        self._fields = obj.fields()

    @property
    def typename(self) -> str:
        """The name of the class, as in the file."""
        return self.object.torch_typename()

    def get(self, field: str, default: Any = None) -> Any:
        """Return a field as it is in the file, or the default if it is nil."""
        value = self._fields.get(field)
        return default if value is None else value

    def has(self, field: str) -> bool:
        """Whether the field is not nil."""
        return self._fields.get(field) is not None

    def integer(self, field: str, default: int | None = None) -> int:
        """Return a field truncated to a whole number, as Torch7's kernels do.

        Raises
        ------
        FieldError
            The field is nil and there is no default, or it is not a number.
        """
        value = self._fields.get(field)
        if value is None and default is not None:
            return default
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise FieldError(f"the field {field} is {value!r:.60}, a number was expected")
        return int(value)

    def integers(self, fields: Sequence[str], default: int | None = None) -> tuple[int, ...]:
        """Return several fields of whole numbers."""
        return tuple(self.integer(field, default) for field in fields)

    def positive(self, *fields: str) -> tuple[int, ...]:
        """Return several fields of whole numbers above zero."""
        values = self.integers(fields)
        for field, value in zip(fields, values, strict=True):
            if value < 1:
                raise FieldError(f"the field {field} is {value}, a number above 0 was expected")
        return values

    def sizes(self, field: str) -> tuple[int, ...]:
        """Return a field that holds a LongStorage, or a table of numbers."""
        value = self.get(field, ())
        return tuple(int(size) for size in value)

    def tensor(self, field: str) -> Tensor | None:
        """Return a field's tensor, which shares the layer's memory; None if it is nil or has no dimension."""
        value = self._fields.get(field)
        if isinstance(value, numpy.ndarray):
            value = torch.from_numpy(value)
        if value is None or not isinstance(value, Tensor) or value.shape == (0,):
            return None
        return value

    def needed(self, field: str) -> Tensor:
        """Return a field's tensor. Raises FieldError if it is nil."""
        tensor = self.tensor(field)
        if tensor is None or not tensor.numel():
            raise FieldError(f"the field {field} holds no tensor")
        return tensor

    def parameter(self, field: str, shape: Sequence[int] | None = None) -> nn.Parameter | None:
        """Return a field as a parameter, or None if it is nil. Fields with the same memory give the same parameter.

        Parameters
        ----------
        field : str
            Such as "weight".
        shape : sequence of int, optional
            The shape that PyTorch's layer wants.
        """
        tensor = self.tensor(field)
        if tensor is None:
            return None
        if shape is not None:
            if tensor.numel() != numpy.prod(shape):
                raise FieldError(
                    f"{field} has the shape {'x'.join(map(str, tensor.shape))}, "
                    f"{'x'.join(map(str, shape))} was expected"
                )
            tensor = tensor.reshape(tuple(shape))
        return self.conversion.parameter(tensor)

    def weight(self, shape: Sequence[int] | None = None) -> nn.Parameter:
        """Return the field `weight` as a parameter. Raises FieldError if it is nil."""
        self.needed("weight")
        parameter = self.parameter("weight", shape)
        assert parameter is not None
        return parameter

    @property
    def dtype(self) -> torch.dtype:
        """The type that the layer computes in; float32 if the file does not have it."""
        return DTYPES.get(str(self.get("_type")), torch.float32)

    def buffer(self, field: str) -> Tensor | None:
        """Return a field as a tensor of the module, a copy unless memory is shared."""
        tensor = self.tensor(field)
        return tensor if tensor is None or self.conversion.share else tensor.clone()

    def child(self, obj: Any, name: str) -> nn.Module:
        """Convert a layer inside this one."""
        return self.conversion.child(self, obj, name)

    def children(self, field: str = "modules") -> list[nn.Module]:
        """Convert all layers inside this one."""
        modules = self.get(field, [])
        return [self.child(module, str(place)) for place, module in enumerate(modules)]
