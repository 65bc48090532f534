"""`Builder`: makes a Torch7 network in a Lua state, each layer once, with its parameters, type and mode."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import torch
from torch import nn

from bridge.convert.layer import ConversionError

if TYPE_CHECKING:
    from bridge.lua import Lua

TYPENAMES = {
    torch.float64: "torch.DoubleTensor",
    torch.float32: "torch.FloatTensor",
    torch.float16: "torch.HalfTensor",
}
# Fields of the same name and meaning on both sides.
TENSORS = ("weight", "bias", "running_mean", "running_var")
# Makes a layer that is used again share its tensors with the first one.
SHARED = (
    *(*TENSORS, "gradWeight", "gradBias"),
    *("diagCov", "gradDiagCov", "v", "g", "gradV", "gradG"),
)
# Puts tensors into a layer, shared or copied, in the shapes of Torch7's layer.
PUT = """function(layer, typename, names, tensors, share)
   layer:type(typename)
   for i, name in ipairs(names) do
      local own, given = layer[name], tensors[i]
      given = own:isSameSizeAs(given) and given or given:view(own:size())
      if share then layer[name] = given else own:copy(given) end
   end
end"""
# Sets the mode of a layer and of the layers that its row has put inside. Layers that were made before keep theirs.
SET_MODE = """
local known = setmetatable({}, {__mode = 'k'})
return function(layer, training)
   if not layer.apply then return end -- a criterion
   layer:apply(function(inner)
      if not known[inner] then
         known[inner], inner.train = true, training
      end
   end)
end"""


class Builder:
    """Makes a Torch7 network from PyTorch modules.

    Attributes
    ----------
    lua : bridge.Lua
        The state.
    nn : LuaTable
        Lua's nn, with the constructors.
    dtype : torch.dtype
        The type that the network computes in.
    typename : str
        The Torch7 type of the network's tensors.
    share : bool
        Whether parameters are shared, not copied.

    Parameters
    ----------
    lua : bridge.Lua
        The state.
    rows : mapping of type to callable
        PyTorch's class -> the function that makes its Torch7 layer.
    traced : callable
        The function that makes any other module that contains modules.
    share : bool
        Whether parameters are shared, not copied.
    dtype : torch.dtype
        The type that layers without parameters compute in.
    """

    def __init__(
        self,
        lua: Lua,
        rows: Mapping[type[nn.Module], Row],
        traced: Row,
        *,
        share: bool,
        dtype: torch.dtype,
    ) -> None:
        self.lua = lua
        self.rows = rows
        self._traced = traced
        self.nn = lua.require("nn")
        self.share = share
        if dtype not in TYPENAMES:
            raise ConversionError(f"Torch7 has no networks of {dtype}: use module.float() or .double() first")
        self.dtype = dtype
        self.typename = TYPENAMES[dtype]
        self._made: dict[int, Any] = {}
        self._filled: set[int] = set()
        self._put = lua.eval(PUT)
        self._set_mode = lua.execute(SET_MODE)
        self._number_tensor = lua.eval("function(x) return torch.Tensor(x:size()):copy(x) end")

    def made(self, module: nn.Module, name: str) -> Any:
        """Return the layer in Lua. For a module that is used again, it is a new layer that shares the parameters.

        It cannot be the same layer, because Torch7's layers keep their output for the backward pass.
        """
        if id(module) in self._made:
            return self._made[id(module)].clone(*SHARED)
        row = next((self.rows[kind] for kind in type(module).__mro__ if kind in self.rows), None)
        inside = list(module.children())
        if row is not None:
            made = row(self, module, name)
        elif inside:
            made = self._traced(self, module, name)
        else:
            raise refused(module, name, "Torch7 has no layer for it")
        if not inside and id(module) not in self._filled and not isinstance(module, nn.modules.loss._Loss):
            self.fill(made, module, name)
        self._set_mode(made, module.training)
        self._made[id(module)] = made
        return made

    def within(self, dtype: torch.dtype) -> Builder:
        """Return a builder of layers of another type for the same network."""
        other = copy.copy(self)
        other.dtype, other.typename = dtype, TYPENAMES[dtype]
        return other

    def number_tensor(self, numbers: torch.Tensor) -> Any:
        """Return numbers as a tensor of Lua's default type, by reference."""
        return self._number_tensor(numbers)

    def children(self, container: Any, module: nn.Module, name: str) -> Any:
        """Add all layers inside a module to a container in Lua."""
        for child, inner in module._modules.items():  # lists a module that is used twice also twice
            if inner is None:
                continue
            container.add(self.made(inner, f"{name}.{child}" if name else child))
        return container

    def fill(self, made: Any, module: nn.Module, name: str, fields: Sequence[str] = TENSORS) -> None:
        """Set a layer's parameters and running statistics from the fields of the same names, and its type."""
        own = {
            key: tensor
            for key, tensor in [*module._parameters.items(), *module._buffers.items()]
            if tensor is not None and key in fields
        }
        self.put(made, module, name, own)

    def put(self, made: Any, module: nn.Module, name: str, tensors: Mapping[str, torch.Tensor]) -> None:
        """Set a layer's tensors from those of a module, in Torch7's layout, and its type.

        Raises
        ------
        ConversionError
            A tensor has another type than the network, or it is to be shared and has a layout that Torch7 cannot share.
        """
        self._filled.add(id(module))
        own = {}
        for key, tensor in tensors.items():
            own[key] = tensor.detach()
            if tensor.dtype != self.dtype:
                reason = f"{key} is {tensor.dtype}, other layers {self.dtype}: use .float() first"
                raise refused(module, name, reason)
            if not own[key].is_contiguous():
                if self.share:
                    raise refused(module, name, f"share=True, but Torch7's {key} lies differently in memory")
                own[key] = own[key].contiguous()
        self._put(made, self.typename, list(own), list(own.values()), self.share)

    def copied(self, made: Any, module: nn.Module, name: str, tensors: Mapping[str, torch.Tensor]) -> None:
        """Do as `put` with tensors that were computed from a module's tensors and so cannot be shared."""
        if self.share:
            raise refused(module, name, "share=True, but Torch7's layer has its parameters in another order")
        self.put(made, module, name, tensors)


def refused(module: nn.Module, name: str, reason: str) -> ConversionError:
    """Return the error for a module that cannot be converted."""
    return ConversionError(
        f"layer {name or '(the module itself)'}, {module!r:.100}, cannot become one of Torch7: {reason}; replace it by "
        "layers that bridge.convert.lua_rows.ROWS lists, or pass the module's forward to Lua as a function"
    )


def need(module: nn.Module, name: str, **wanted: Any) -> None:
    """Check that a module has settings that Torch7 supports.

    Raises
    ------
    ConversionError
        An attribute has another value than the wanted one.
    """
    for attribute, value in wanted.items():
        found = getattr(module, attribute)
        if found != value:
            raise refused(module, name, f"{attribute}={found!r}, where only {value!r} has a counterpart")


def numbers(value: Any, axes: int) -> list[int]:
    """Return a setting as a list with a number for each axis; it may be a single number for all."""
    return [value] * axes if isinstance(value, int) else [int(one) for one in value]


def turned(value: Any, axes: int) -> list[int]:
    """Return a setting in the order of Torch7's arguments: time, width, height."""
    listed = numbers(value, axes)
    return [*listed[:-2], listed[-1], listed[-2]]


Row = Callable[[Builder, Any, str], Any]
