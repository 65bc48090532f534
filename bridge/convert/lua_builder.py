"""What `to_lua` makes a network with, in a Lua state: each layer once, with its parameters, type and mode."""

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
# What a layer that is used again shares with the first.
SHARED = (
    *(*TENSORS, "gradWeight", "gradBias"),
    *("diagCov", "gradDiagCov", "v", "g", "gradV", "gradG"),
)
# Put tensors into a layer: as they are, or copied, in the shapes that Torch7's layer has.
PUT = """function(layer, typename, names, tensors, share)
   layer:type(typename)
   for i, name in ipairs(names) do
      local own, given = layer[name], tensors[i]
      given = own:isSameSizeAs(given) and given or given:view(own:size())
      if share then layer[name] = given else own:copy(given) end
   end
end"""
# Give a mode to a layer and to what its row has put inside; layers that were made before have theirs.
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
    """What makes a network.

    Attributes
    ----------
    lua : bridge.Lua
        The state.
    nn : LuaTable
        Lua's nn, with the constructors.
    dtype : torch.dtype
        What the network computes in.
    typename : str
        Of the network's tensors.
    share : bool
        Whether parameters are shared, not copied.

    Parameters
    ----------
    lua : bridge.Lua
        The state.
    rows : mapping of type to callable
        How a module of each class is made.
    traced : callable
        How any other module that holds modules is made.
    share : bool
        Whether parameters are shared, not copied.
    dtype : torch.dtype
        What layers without parameters compute in.
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
        """Return the layer in Lua; for a module that is used again, one that shares the parameters.

        It cannot be the same: Torch7's layers keep their output for the way back.
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
        for child, inner in module._modules.items():  # one that is used twice is there twice
            if inner is None:
                continue
            container.add(self.made(inner, f"{name}.{child}" if name else child))
        return container

    def fill(self, made: Any, module: nn.Module, name: str, fields: Sequence[str] = TENSORS) -> None:
        """Give a layer its parameters and running statistics of the same names, and its type."""
        own = {
            key: tensor
            for key, tensor in [*module._parameters.items(), *module._buffers.items()]
            if tensor is not None and key in fields
        }
        self.put(made, module, name, own)

    def put(self, made: Any, module: nn.Module, name: str, tensors: Mapping[str, torch.Tensor]) -> None:
        """Give a layer tensors of a module, laid out as Torch7 has them, and its type.

        Raises
        ------
        ConversionError
            When a tensor has another type than the network, or when it cannot be shared as it lies in memory.
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
        """Do as `put` with tensors that were computed from a module's: they cannot be shared."""
        if self.share:
            raise refused(module, name, "share=True, but Torch7's layer has its parameters in another order")
        self.put(made, module, name, tensors)


def refused(module: nn.Module, name: str, reason: str) -> ConversionError:
    """Return the error for a module that cannot be made."""
    return ConversionError(
        f"layer {name or '(the module itself)'}, {module!r:.100}, cannot become one of Torch7: {reason}; replace it by "
        "layers that bridge.convert.lua_rows.ROWS lists, or pass the module's forward to Lua as a function"
    )


def need(module: nn.Module, name: str, **wanted: Any) -> None:
    """Refuse a module whose settings Torch7 has not.

    Raises
    ------
    ConversionError
        When an attribute is not what is wanted.
    """
    for attribute, value in wanted.items():
        found = getattr(module, attribute)
        if found != value:
            raise refused(module, name, f"{attribute}={found!r}, where only {value!r} has a counterpart")


def numbers(value: Any, axes: int) -> list[int]:
    """Return a setting that may be one number for all axes, or one for each."""
    return [value] * axes if isinstance(value, int) else [int(one) for one in value]


def turned(value: Any, axes: int) -> list[int]:
    """Return a setting in the order of Torch7's arguments: time, width, height."""
    listed = numbers(value, axes)
    return [*listed[:-2], listed[-1], listed[-2]]


Row = Callable[[Builder, Any, str], Any]
