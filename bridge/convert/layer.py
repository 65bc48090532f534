"""What a converter sees of one Torch7 layer: its fields, as what PyTorch's constructors take."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy
import torch
from torch import Tensor, nn

from bridge.t7.objects import TorchObject

# The types of layers; those of Cuda tensors load as these.
DTYPES = {
    "torch.DoubleTensor": torch.float64,
    "torch.CudaDoubleTensor": torch.float64,
    "torch.FloatTensor": torch.float32,
    "torch.CudaTensor": torch.float32,
    "torch.HalfTensor": torch.float16,
    "torch.CudaHalfTensor": torch.float16,
}


class ConversionError(ValueError):
    """A model that cannot be converted as it is: with the layer's place, its class and the reason."""


class FieldError(ValueError):
    """A layer's field that is not what its class needs; a `ConversionError` adds where the layer is."""


class Surroundings(Protocol):
    """What a layer asks of the conversion that it is part of (`bridge.convert.context.Conversion`)."""

    base: int
    share: bool

    def parameter(self, tensor: Tensor) -> nn.Parameter:
        """Return a tensor as a parameter; the same one for the same memory and shape."""
        ...

    def child(self, parent: Layer, obj: Any, name: str) -> nn.Module:
        """Convert a layer inside another."""
        ...


class Layer:
    """One Torch7 layer on its way to PyTorch.

    Attributes
    ----------
    object : TorchObject
        The layer.
    conversion : Surroundings
        What it is part of: options, and what was converted already.
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
        """Return a field as the file has it; the default where it is nil."""
        value = self._fields.get(field)
        return default if value is None else value

    def has(self, field: str) -> bool:
        """Whether the field is not nil."""
        return self._fields.get(field) is not None

    def integer(self, field: str, default: int | None = None) -> int:
        """Return a field cut to a whole number, as Torch7's kernels do.

        Raises
        ------
        FieldError
            When the field is nil without a default, or no number.
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
        """Return a field's tensor, on the layer's own memory; None where it is nil or has no dimension."""
        value = self._fields.get(field)
        if isinstance(value, numpy.ndarray):
            value = torch.from_numpy(value)
        if value is None or not isinstance(value, Tensor) or value.shape == (0,):
            return None
        return value

    def needed(self, field: str) -> Tensor:
        """Return a field's tensor, which must be there."""
        tensor = self.tensor(field)
        if tensor is None or not tensor.numel():
            raise FieldError(f"the field {field} holds no tensor")
        return tensor

    def parameter(self, field: str, shape: Sequence[int] | None = None) -> nn.Parameter | None:
        """Return a field as a parameter, None where it is nil; the same one wherever the memory is the same.

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
        """Return the field `weight` as a parameter; it must be there."""
        self.needed("weight")
        parameter = self.parameter("weight", shape)
        assert parameter is not None
        return parameter

    @property
    def dtype(self) -> torch.dtype:
        """The type of what the layer computes; float32 where the file does not tell."""
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
