"""`convert` and `to_torch`: converting a Torch7 model layer by layer, by the table in `rows`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from torch import Tensor, nn

from bridge._boundary import LuaObject
from bridge.convert.layer import ConversionError, Layer
from bridge.convert.rows import row
from bridge.convert.source import Source
from bridge.t7.objects import TorchObject

# The exceptions of converters when a layer's fields are not what its class needs.
DAMAGE = (ArithmeticError, AssertionError, AttributeError, LookupError, RuntimeError, TypeError, ValueError)


def to_torch(model: Any, *, key: str | None = None, base: int = 0, share: bool = False) -> nn.Module:
    """Return a PyTorch module with the outputs and gradients of a Torch7 model.

    Layers become those of `torch.nn` with the same names; tables become lists. A layer without a counterpart in PyTorch
    continues to run in its Lua state, with gradients (`bridge.nn.LuaModule`).

    Parameters
    ----------
    model : path, LuaObject, bridge.legacy.nn.Module or TorchObject
        A `.t7` file, a network in a `bridge.Lua` or of `bridge.legacy`, or a result of `bridge.t7.load`. Files, and
        results of `bridge.t7.load`, need no Lua.
    key : str, optional
        The keys that lead to the network in a table with several, such as "protos.rnn".
    base : {0, 1}
        The first index in the module's inputs (of LookupTable, OneHot, Index, targets of criterions): 0 as in PyTorch,
        or 1 as in Torch7, so that data prepared for the Torch7 model can be used.
    share : bool
        Whether parameters and running statistics share the model's memory, so that training one side trains both; by
        default they are copies.

    Returns
    -------
    Module
        The module; each layer has the mode, training or evaluation, that it had.

    Raises
    ------
    ConversionError
        A layer's fields are not valid; the message names its place and class.
    TypeError
        `model` is not a Torch7 model.
    """
    return convert(model, key=key, base=base, share=share).module


def convert(model: Any, *, key: str | None = None, base: int = 0, share: bool = False) -> Conversion:
    """Convert a model like `to_torch`. Returns the module together with a list of the converted layers."""
    return Conversion(Source(model, key), base=base, share=share)


@dataclass(frozen=True)
class ConvertedLayer:
    """A converted layer.

    Attributes
    ----------
    name : str
        Its name among the module's `named_modules`; "" is the model itself.
    typename : str
        The Torch7 class.
    module : Module
        The PyTorch module.
    lua : LuaObject or None
        The layer in its Lua state, if the model came from one.
    wrapped : bool
        Whether it is still computed by Lua.
    """

    name: str
    typename: str
    module: nn.Module
    lua: LuaObject | None
    wrapped: bool


class Conversion:
    """The conversion of a model.

    Attributes
    ----------
    module : Module
        The converted module.
    layers : list of ConvertedLayer
        The converted layers, in the order of their names; a layer that is used twice is listed once.
    base : {0, 1}
        The first index in inputs.
    share : bool
        Whether memory is shared with the model.
    dtype : torch.dtype
        The type that the model computes in.
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
        """Convert an object. The same object always gives the same module."""
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
        """Set the layer's mode in a module and in the modules that were made for it. Inner layers keep theirs."""
        if id(module) in self._in_mode:
            return
        self._in_mode.add(id(module))
        module.training = training
        for part in module.children():
            self._set_mode(part, training)

    def child(self, parent: Layer, obj: Any, name: str) -> nn.Module:
        """Convert a layer inside another. Errors name its place."""
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
        """Return the layer in its Lua state; if it came from a file, in a state that is made for it."""
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
