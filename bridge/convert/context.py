"""`convert` and `to_torch`: a Torch7 model layer by layer through the table of rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from torch import Tensor, nn

from bridge._boundary import LuaObject
from bridge.convert.layer import ConversionError, Layer
from bridge.convert.rows import row
from bridge.convert.source import Source
from bridge.t7.objects import TorchObject

# What a layer's fields lead to when they are not what its class needs.
DAMAGE = (ArithmeticError, AssertionError, AttributeError, LookupError, RuntimeError, TypeError, ValueError)


def to_torch(model: Any, *, key: str | None = None, base: int = 0, share: bool = False) -> nn.Module:
    """Return a PyTorch module with the outputs and gradients of a Torch7 model.

    Layers become those of `torch.nn` under the same names; tables become lists. A layer that PyTorch has no counterpart
    for stays one: it runs in its Lua state, with gradients (`bridge.nn.LuaModule`).

    Parameters
    ----------
    model : path, LuaObject, bridge.legacy.nn.Module or TorchObject
        A `.t7` file, a network of a `bridge.Lua` or of `bridge.legacy`, or what `bridge.t7.load` gave. Files and what
        was loaded from them need no Lua.
    key : str, optional
        The way to the network in a table that has several, such as "protos.rnn".
    base : {0, 1}
        What indices count from that the module takes (LookupTable, OneHot, Index, targets of criterions): 0 as
        PyTorch's layers do, 1 as the Torch7 model did, so that data prepared for it can stay.
    share : bool
        Whether parameters and running statistics lie in the model's own memory, so that both sides learn at once;
        by default they are copies.

    Returns
    -------
    Module
        In the same mode, training or evaluation, as each layer was.

    Raises
    ------
    ConversionError
        For a layer whose fields make no sense, with its place and class.
    TypeError
        For what is no Torch7 model.
    """
    return convert(model, key=key, base=base, share=share).module


def convert(model: Any, *, key: str | None = None, base: int = 0, share: bool = False) -> Conversion:
    """Convert as `to_torch` does, and tell what became of each layer."""
    return Conversion(Source(model, key), base=base, share=share)


@dataclass(frozen=True)
class ConvertedLayer:
    """What became of one layer.

    Attributes
    ----------
    name : str
        Its name among the module's `named_modules`; "" is the model itself.
    typename : str
        The Torch7 class.
    module : Module
        What it became.
    lua : LuaObject or None
        The layer in its Lua state, for a model that came from one.
    wrapped : bool
        Whether it is still computed by Lua.
    """

    name: str
    typename: str
    module: nn.Module
    lua: LuaObject | None
    wrapped: bool


class Conversion:
    """A model and what became of it.

    Attributes
    ----------
    module : Module
        The result.
    layers : list of ConvertedLayer
        One for each layer of the model, a layer that is used twice once, in the order of their names.
    base : {0, 1}
        What indices count from.
    share : bool
        Whether memory is shared with the model.
    dtype : torch.dtype
        What the model computes in.
    """

    def __init__(self, source: Source, *, base: int, share: bool) -> None:
        if base not in (0, 1):
            raise ValueError(f"base={base!r}: indices count from 0 (as in PyTorch) or 1 (as in Torch7)")
        self.base = base
        self.share = share
        self._source = source
        self._path: list[str] = []
        self._open = {id(source.root)}
        self._in_mode: set[int] = set()
        self._converted: dict[int, nn.Module] = {}
        self._parameters: dict[tuple[Any, ...], nn.Parameter] = {}
        self._made: dict[int, tuple[TorchObject, bool]] = {}
        self._state: Any = None
        self.module = self.module_of(source.root)
        self.layers = self._layers()
        floats = (p.dtype for p in self.module.parameters() if p.is_floating_point())
        self.dtype = next(floats, Layer(source.root, self).dtype)

    def module_of(self, obj: Any) -> nn.Module:
        """Convert an object; one that was converted already is the same module again."""
        if not isinstance(obj, TorchObject):
            raise ConversionError(f"{self._place()}: a layer was expected, got {obj!r:.60}")
        if id(obj) in self._converted:
            return self._converted[id(obj)]
        layer = Layer(obj, self)
        converter = row(layer.typename)
        try:
            module = converter(layer) if converter is not None else None
        except ConversionError:
            raise
        except DAMAGE as error:
            raise ConversionError(f"{self._place()} ({layer.typename}): {error}") from error
        wrapped = module is None
        if module is None:
            module = self._lua_module(obj)
        self._set_mode(module, layer.get("train", True) is not False)
        self._converted[id(obj)] = module
        self._made.setdefault(id(module), (obj, wrapped))
        return module

    def _set_mode(self, module: nn.Module, training: bool) -> None:
        """Give a module, and what is new inside of it, the layer's mode; layers inside have their own already."""
        if id(module) in self._in_mode:
            return
        self._in_mode.add(id(module))
        module.training = training
        for part in module.children():
            self._set_mode(part, training)

    def child(self, parent: Layer, obj: Any, name: str) -> nn.Module:
        """Convert a layer inside another; errors tell the way to it."""
        if id(obj) in self._open:
            raise ConversionError(f"{self._place()} ({parent.typename}) is inside itself")
        if len(self._path) > 200:
            raise ConversionError(f"{parent.typename}: layers are nested more than 200 deep")
        self._path.append(name)
        self._open.add(id(obj))
        try:
            return self.module_of(obj)
        finally:
            self._path.pop()
            self._open.discard(id(obj))

    def parameter(self, tensor: Tensor) -> nn.Parameter:
        """Return a tensor as a parameter; the same one for the same memory and shape."""
        key = (tensor.data_ptr(), tensor.dtype, tuple(tensor.shape), tensor.stride())
        if key not in self._parameters:
            own = tensor if self.share else tensor.clone().contiguous()
            self._parameters[key] = nn.Parameter(own, requires_grad=own.is_floating_point())
        return self._parameters[key]

    def _place(self) -> str:
        return f"layer {'.'.join(self._path) or '(the model itself)'}"

    def _lua_module(self, obj: TorchObject) -> nn.Module:
        """Return a module that runs the layer in Lua: for classes without a row."""
        from bridge import nn as bridge_nn

        made: nn.Module = bridge_nn.LuaModule(self._in_lua(obj), base=self.base)
        return made

    def _in_lua(self, obj: TorchObject) -> Any:
        """Return the layer in its Lua state, in one made for it if it came from a file."""
        if id(obj) in self._source.lua:
            found: Any = self._source.lua[id(obj)]
            return found if self.share else found.clone()
        from bridge import t7
        from bridge.lua import Lua

        if self._state is None:
            self._state = Lua(tensors="torch", interruptible=False)
            self._state.require("nngraph")
        return self._state.eval("torch.deserialize(...)", t7.dumps(obj))

    def _layers(self) -> list[ConvertedLayer]:
        found = []
        for name, module in self.module.named_modules():
            if id(module) in self._made:
                obj, wrapped = self._made[id(module)]
                lua = self._source.lua.get(id(obj))
                found.append(ConvertedLayer(name, obj.torch_typename(), module, lua, wrapped))
        return found
