"""What makes a network in a Lua state: each layer once, with its parameters, type and mode."""

from __future__ import annotations

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
# Modules that become several layers, which their rows fill.
COMPOSED = (nn.Conv1d, nn.LayerNorm)
# Put tensors into a layer: as they are, or copied, in the shapes that Torch7's layer has.
PUT = """function(layer, typename, names, tensors, training, share)
   layer:type(typename)
   for i, name in ipairs(names) do
      local own, given = layer[name], tensors[i]
      given = own:isSameSizeAs(given) and given or given:view(own:size())
      if share then layer[name] = given else own:copy(given) end
   end
   layer.train = training
end"""


class Builder:
    """What makes a network.

    Attributes
    ----------
    lua : bridge.Lua
        The state.
    nn : LuaTable
        Lua's nn, with the constructors.
    typename : str
        Of the network's tensors.

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
        self._share = share
        if dtype not in TYPENAMES:
            raise ConversionError(f"Torch7 has no networks of {dtype}: use module.float() or .double() first")
        self._dtype = dtype
        self.typename = TYPENAMES[dtype]
        self._made: dict[int, Any] = {}
        self._put = lua.eval(PUT)

    def made(self, module: nn.Module, name: str) -> Any:
        """Return the layer in Lua; for a module that is used again, one that shares the parameters.

        It cannot be the same: Torch7's layers keep their output for the way back.
        """
        if id(module) in self._made:
            return self._made[id(module)].clone(*TENSORS, "gradWeight", "gradBias")
        row = next((self.rows[kind] for kind in type(module).__mro__ if kind in self.rows), None)
        if row is not None:
            made = row(self, module, name)
        elif list(module.children()):
            made = self._traced(self, module, name)
        else:
            raise refused(module, name, "Torch7 has no layer for it")
        if not list(module.children()) and not isinstance(module, COMPOSED):
            self.fill(made, module, name)
        self._made[id(module)] = made
        return made

    def children(self, container: Any, module: nn.Module, name: str) -> Any:
        """Add all layers inside a module to a container in Lua."""
        for child, inner in module._modules.items():  # one that is used twice is there twice
            if inner is None:
                continue
            container.add(self.made(inner, f"{name}.{child}" if name else child))
        return container

    def fill(self, made: Any, module: nn.Module, name: str, fields: Sequence[str] = TENSORS) -> None:
        """Give a layer its parameters and running statistics, its type and its mode."""
        fields = () if isinstance(module, nn.modules.loss._Loss) else fields
        own = {
            key: tensor.detach().contiguous()
            for key, tensor in [*module._parameters.items(), *module._buffers.items()]
            if tensor is not None and key in fields
        }
        for key, tensor in own.items():
            if tensor.dtype != self._dtype:
                raise refused(
                    module, name, f"{key} is {tensor.dtype}, other layers {self._dtype}: use .float() first"
                )
        self._put(made, self.typename, list(own), list(own.values()), module.training, self._share)


def refused(module: nn.Module, name: str, reason: str) -> ConversionError:
    """Return the error for a module that cannot be made."""
    return ConversionError(
        f"layer {name or '(the module itself)'}, {module!r:.100}, cannot become one of Torch7: {reason}; replace it by "
        "layers that bridge.convert.lua_rows.ROWS lists, or pass the module's forward to Lua as a function"
    )


Row = Callable[[Builder, Any, str], Any]
