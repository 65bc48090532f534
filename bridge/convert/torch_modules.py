"""What `to_torch` makes where PyTorch has no layer: modules side by side or around a module, and plain functions.

Torch7's tables are lists here: what takes a table takes a list or tuple, what gives one gives a list.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional


class Function(nn.Module):
    """A function of the input with fixed settings, and parameters where it has some.

    Parameters
    ----------
    function : callable
        Called with the input, then the parameters and settings by name.
    parameters : mapping of str to Parameter, optional
        What there is to learn.
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
    """Every module gets the input; the list of their outputs."""

    def forward(self, x: Any) -> list[Any]:
        """Return one output per module."""
        return [module(x) for module in self]


class ParallelTable(nn.ModuleList):
    """Each module gets its entry of the list; the list of their outputs."""

    def forward(self, x: Sequence[Any]) -> list[Any]:
        """Return one output per module."""
        return [module(x[place]) for place, module in enumerate(self)]


class MapTableApart(ParallelTable):
    """A module for each entry of a list, clones of one that have learned apart."""

    def forward(self, x: Sequence[Any]) -> list[Any]:
        """Return one output per module."""
        if len(x) != len(self):
            raise ValueError(
                f"a list of {len(x)} for {len(self)} clones: convert the nn.MapTable after a forward in Lua with as "
                "many entries, which makes the clones"
            )
        return super().forward(x)


class Concat(nn.ModuleList):
    """Every module gets the input; their outputs one after the other along a dimension."""

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
    """`Concat` of outputs of different sizes: smaller ones lie in the middle, among zeros."""

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
    """Each module gets its slice of the input; their outputs one after the other along a dimension."""

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
    """A module around one other, `module`."""

    def __init__(self, module: nn.Module) -> None:
        super().__init__()
        self.module = module

    def forward(self, x: Any) -> Any:
        """Return what the module gives."""
        return self.module(x)


class MapTable(Around):
    """One module for each entry of a list, with the same parameters."""

    def forward(self, x: Sequence[Any]) -> list[Any]:
        """Return the outputs."""
        return [self.module(entry) for entry in x]


class Bottle(Around):
    """A module that knows inputs of `input_dims` dimensions, for inputs with more: those in front become one.

    `output_dims` are the dimensions of its outputs.
    """

    def __init__(self, module: nn.Module, input_dims: int, output_dims: int | None = None) -> None:
        super().__init__(module)
        self.input_dims = input_dims
        self.output_dims = input_dims if output_dims is None else output_dims

    def forward(self, x: Tensor) -> Any:
        """Return the output with the dimensions of the input in front."""
        if x.dim() <= self.input_dims:
            return self.module(x)
        front = x.dim() - self.input_dims + 1
        output = self.module(x.flatten(0, front - 1))
        return output.reshape(*x.shape[:front], *output.shape[1:])

    def extra_repr(self) -> str:
        """Return the number of dimensions."""
        return f"input_dims={self.input_dims}"


class Cast(Around):
    """A module with an input, and an output, of given types; None leaves the type."""

    def __init__(self, module: nn.Module, inside: torch.dtype | None, outside: torch.dtype | None) -> None:
        super().__init__(module)
        self.inside, self.outside = inside, outside

    def forward(self, x: Any) -> Any:
        """Return the output."""
        return cast(self.module(cast(x, self.inside)), self.outside)


def cast(value: Any, dtype: torch.dtype | None) -> Any:
    """Return a tensor, or the tensors of a list, as another type of floats."""
    if dtype is None:
        return value
    if isinstance(value, Tensor):
        return value.to(dtype) if value.is_floating_point() else value
    return [cast(inner, dtype) for inner in value]


class FeaturesLast(Around):
    """A module for (batch, features, time), as one for (batch, time, features) or (time, features)."""

    def forward(self, x: Tensor) -> Tensor:
        """Return the output with its features last."""
        output: Tensor = self.module(x.transpose(-1, -2))
        return output.transpose(-1, -2)


class WithWeight(Around):
    """A module whose weight is a function of other parameters.

    Parameters
    ----------
    module : Module
        Its `weight` is made anew by every call.
    function : callable
        Called with the parameters and settings by name; the weight.
    parameters : mapping of str to Parameter
        What is learned in place of the weight.
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
        """Return what the module gives with the weight of now."""
        weight = self.function(**self._parameters, **self.settings)
        return torch.func.functional_call(self.module, {"weight": weight}, (x,))


class Softmax(nn.Softmax):
    """Over the classes: the last dimension of vectors and matrices, the planes of images."""

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
    """A loss of images of log-probabilities with images of classes."""


class Embedding(nn.Embedding):
    """An Embedding whose indices count from 1, of any type of number, as Torch7's."""

    def forward(self, x: Tensor) -> Tensor:
        """Return the rows."""
        return super().forward(x.long() - 1)
