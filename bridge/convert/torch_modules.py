"""Modules for Torch7 layers that PyTorch lacks: parallel modules, modules around a module, and plain functions.

Torch7's tables are lists here: modules take a list or tuple for a table, and return a list.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional


class Function(nn.Module):
    """A function of the input, with fixed settings and optional parameters.

    Parameters
    ----------
    function : callable
        Called with the input, then the parameters and settings by name.
    parameters : mapping of str to Parameter, optional
        The parameters to learn.
    **settings
        Further arguments, shown by `repr`.
    """

    def __init__(
        self,
        function: Callable[..., Any],
        parameters: Mapping[str, nn.Parameter | None] | None = None,
        **settings: Any,
    ) -> None:
        super().__init__()
        self.function = function
        self.settings = settings
        for name, parameter in (parameters or {}).items():
            self.register_parameter(name, parameter)

    def forward(self, x: Any) -> Any:
        """Return the function's value."""
        return self.function(x, **self._parameters, **self._buffers, **self.settings)

    def extra_repr(self) -> str:
        """Return the function's name and its settings."""
        name = getattr(self.function, "__name__", repr(self.function))
        return ", ".join([name, *(f"{key}={value!r:.40}" for key, value in self.settings.items())])


class ConcatTable(nn.ModuleList):
    """Every module gets the input; returns the list of their outputs."""

    def forward(self, x: Any) -> list[Any]:
        """Return one output per module."""
        return [module(x) for module in self]


class ParallelTable(nn.ModuleList):
    """Each module gets its entry of the input list; returns the list of their outputs."""

    def forward(self, x: Sequence[Any]) -> list[Any]:
        """Return one output per module."""
        return [module(x[place]) for place, module in enumerate(self)]


class MapTableApart(ParallelTable):
    """A module for each entry of a list: clones of one module with different parameters."""

    def forward(self, x: Sequence[Any]) -> list[Any]:
        """Return one output per module."""
        if len(x) != len(self):
            raise ValueError(
                f"a list of {len(x)} for {len(self)} clones: convert the nn.MapTable after a forward in Lua with as "
                "many entries, which makes the clones"
            )
        return super().forward(x)


class Concat(nn.ModuleList):
    """Every module gets the input; their outputs are concatenated along a dimension."""

    def __init__(self, modules: Sequence[nn.Module], dim: int) -> None:
        super().__init__(modules)
        self.dim = dim

    def forward(self, x: Any) -> Tensor:
        """Return the outputs as one tensor."""
        return torch.cat([module(x) for module in self], self.dim)

    def extra_repr(self) -> str:
        """Return the dimension."""
        return f"dim={self.dim}"


class DepthConcat(Concat):
    """`Concat` of outputs of different sizes: smaller ones are centred and padded with zeros."""

    def forward(self, x: Any) -> Tensor:
        """Return the outputs as one tensor."""
        outputs = [module(x) for module in self]
        sizes = [max(output.shape[d] for output in outputs) for d in range(outputs[0].dim())]
        padded = []
        for output in outputs:
            pads: list[int] = []
            for d in reversed(range(output.dim())):
                room = 0 if d == self.dim else sizes[d] - output.shape[d]
                pads += [room // 2, room - room // 2]
            padded.append(functional.pad(output, pads))
        return torch.cat(padded, self.dim)


class Parallel(nn.ModuleList):
    """Each module gets a slice of the input; their outputs are concatenated along a dimension."""

    def __init__(self, modules: Sequence[nn.Module], input_dim: int, output_dim: int) -> None:
        super().__init__(modules)
        self.input_dim, self.output_dim = input_dim, output_dim

    def forward(self, x: Tensor) -> Tensor:
        """Return the outputs as one tensor."""
        slices = x.unbind(self.input_dim)
        return torch.cat([self[place](part) for place, part in enumerate(slices)], self.output_dim)

    def extra_repr(self) -> str:
        """Return the dimensions."""
        return f"input_dim={self.input_dim}, output_dim={self.output_dim}"


class Around(nn.Module):
    """A module around another one, `module`."""

    def __init__(self, module: nn.Module) -> None:
        super().__init__()
        self.module = module

    def forward(self, x: Any) -> Any:
        """Return the module's output."""
        return self.module(x)


class MapTable(Around):
    """The same module for each entry of a list."""

    def forward(self, x: Sequence[Any]) -> list[Any]:
        """Return the outputs."""
        return [self.module(entry) for entry in x]


class Bottle(Around):
    """Lets a module for inputs of `input_dims` dimensions take inputs with more: the first ones are merged into one.

    `output_dims`: the number of dimensions of the module's outputs.
    """

    def __init__(self, module: nn.Module, input_dims: int, output_dims: int | None = None) -> None:
        super().__init__(module)
        self.input_dims = input_dims
        self.output_dims = input_dims if output_dims is None else output_dims

    def forward(self, x: Tensor) -> Any:
        """Return the output, with the input's first dimensions restored."""
        if x.dim() <= self.input_dims:
            return self.module(x)
        front = x.dim() - self.input_dims + 1
        output = self.module(x.flatten(0, front - 1))
        return output.reshape(*x.shape[:front], *output.shape[1:])

    def extra_repr(self) -> str:
        """Return the number of dimensions."""
        return f"input_dims={self.input_dims}"


class Cast(Around):
    """Casts the input and the output of a module to given types; None: no cast."""

    def __init__(self, module: nn.Module, inside: torch.dtype | None, outside: torch.dtype | None) -> None:
        super().__init__(module)
        self.inside, self.outside = inside, outside

    def forward(self, x: Any) -> Any:
        """Return the output."""
        return cast(self.module(cast(x, self.inside)), self.outside)


def cast(value: Any, dtype: torch.dtype | None) -> Any:
    """Return a tensor, or the tensors of a list, cast to another floating-point type."""
    if dtype is None:
        return value
    if isinstance(value, Tensor):
        return value.to(dtype) if value.is_floating_point() else value
    return [cast(inner, dtype) for inner in value]


class FeaturesLast(Around):
    """Lets a module for (batch, features, time) take (batch, time, features) or (time, features)."""

    def forward(self, x: Tensor) -> Tensor:
        """Return the output, with features as the last dimension."""
        output: Tensor = self.module(x.transpose(-1, -2))
        return output.transpose(-1, -2)


class WithWeight(Around):
    """A module whose weight is a function of other parameters.

    Parameters
    ----------
    module : Module
        Its `weight` is computed at every call.
    function : callable
        Returns the weight; called with the parameters and settings by name.
    parameters : mapping of str to Parameter
        The parameters that are learned instead of the weight.
    **settings
        Further arguments of the function.
    """

    def __init__(
        self,
        module: nn.Module,
        function: Callable[..., Tensor],
        parameters: Mapping[str, nn.Parameter],
        **settings: Any,
    ) -> None:
        super().__init__(module)
        del module.weight
        self.function = function
        self.settings = settings
        for name, parameter in parameters.items():
            self.register_parameter(name, parameter)

    def forward(self, x: Any) -> Any:
        """Return the module's output with the present weight."""
        weight = self.function(**self._parameters, **self.settings)
        return torch.func.functional_call(self.module, {"weight": weight}, (x,))


class Softmax(nn.Softmax):
    """Softmax over the classes: the last dimension of vectors and matrices, the planes of images."""

    def forward(self, x: Tensor) -> Tensor:
        """Return positive numbers that sum to one."""
        return functional.softmax(x, classes(x))


class Softmin(nn.Softmin):
    """`Softmax` of the negative."""

    def forward(self, x: Tensor) -> Tensor:
        """Return positive numbers that sum to one."""
        return functional.softmin(x, classes(x))


class LogSoftmax(nn.LogSoftmax):
    """The logarithm of `Softmax`."""

    def forward(self, x: Tensor) -> Tensor:
        """Return the logarithms of numbers that sum to one."""
        return functional.log_softmax(x, classes(x))


def classes(x: Tensor) -> int:
    """Return the dimension of the classes: the first of vectors and single images, else the second."""
    return 0 if x.dim() in (1, 3) else 1


class SpatialNLLLoss(nn.NLLLoss):
    """NLLLoss for images of log-probabilities and images of classes."""


class Embedding(nn.Embedding):
    """An Embedding whose indices count from 1 and may have any type of number, as in Torch7."""

    def forward(self, x: Tensor) -> Tensor:
        """Return the rows."""
        return super().forward(x.long() - 1)
