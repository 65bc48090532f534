"""Loading a network from a .t7 file."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np

from bridge import t7
from bridge._boundary import LuaObject
from bridge.lua import Lua
from bridge.models import layers
from bridge.models.model import Model, TensorSpec
from bridge.t7.networks import is_network, network

# The packages that define the classes in files, tried in this order; the later ones add classes to nn.
PACKAGES = ("torch", "nn", "nngraph", "nnx", "dpnn", "rnn", "cudnn", "tds")
DEFINED = "function(name) return torch.getmetatable(name) ~= nil end"
TYPES = {"torch.FloatTensor": "float32", "torch.DoubleTensor": "float64", "torch.CudaTensor": "float32"}
# Moves tensors in arguments to the network's device and those in results back to the CPU, also in tables.
ON_DEVICE = """
function(call)
   local function moved(x, kind)
      if torch.isTensor(x) then return x:type() ~= kind and x:type(kind) or x end
      if type(x) ~= 'table' then return x end
      local t = {}
      for k, v in pairs(x) do t[k] = moved(v, kind) end
      return t
   end
   return function(x) return moved(call(moved(x, 'torch.CudaTensor')), 'torch.FloatTensor') end
end
"""


def load(lua: Lua, path: Path, *, function: str | None, key: str | None, device: str, **_: Any) -> Model:
    """Load the network; in evaluation mode, unless a method is given."""
    require(lua, t7.inspect(path).classes)
    net = network(lua.execute("return torch.load(...)", os.fspath(path)), key)
    if not (isinstance(net, LuaObject) and is_network(net)):
        raise ValueError(f"{path} holds no network{f' at {key}' if key else ''}, but a {type(net).__name__}")
    if function is None:
        net.evaluate()
    method = getattr(net, function or "forward", None)
    if not callable(method):
        raise ValueError(f"a {net.typename} has no method {function!r}")
    if device != "cpu":
        method = on_device(lua, net, function or "forward", device)
    dtype = TYPES.get(net.type())
    taken = layers.taken(net) if function is None else None
    inputs = None if taken is None else named(taken, dtype)
    name = function or "forward"
    return Model(
        file=str(path),
        platform="torch7",
        functions={name: typed(method, dtype, inputs)},
        parameters={name: ["input"] if function is None else ["..."]},
        default=name,
        inputs=inputs,
        by_row=function is None and layers.by_row(net),
        table=inputs is not None and len(inputs) > 1,
    )


def require(lua: Lua, classes: Iterable[str]) -> None:
    """Require only the packages that define these classes. Classes of other programs stay undefined."""
    lua.require("torch")
    defined = lua.eval(DEFINED)
    for package in PACKAGES:
        missing = [name for name in classes if not defined(name)]
        if not missing:
            break
        lua.require(package)


def on_device(lua: Lua, net: LuaObject, method: str, device: str) -> Callable[..., Any]:
    """Move a network to a GPU and return its method for arguments and results in ordinary memory.

    Raises
    ------
    ValueError
        There is no such device, or its name is not valid.
    """
    kind, _, number = device.partition(":")
    if kind != "cuda" or not (number or "0").isdecimal():
        raise ValueError(f"device={device!r}: 'cpu', 'cuda' or 'cuda:1' was expected")
    lua.require("cunn")
    count = lua.eval("cutorch.getDeviceCount()")
    if int(number or 0) >= count:
        raise ValueError(f"device={device!r}: {count} GPUs are here")
    lua.execute("cutorch.setDevice(...)", int(number or 0) + 1)
    net.cuda()
    bound = lua.execute("local net, name = ... return function(x) return net[name](net, x) end", net, method)
    wrapped: Callable[..., Any] = lua.eval(ON_DEVICE)(bound)
    return wrapped


def named(taken: list[layers.Taken], dtype: str | None) -> tuple[TensorSpec, ...]:
    """Return inputs with names: "input", or "input_0", "input_1" ... if there are several."""
    return tuple(
        TensorSpec(
            "input" if len(taken) == 1 else f"input_{place}",
            "int64" if one.indices else dtype,
            one.shape,
        )
        for place, one in enumerate(taken)
    )


def typed(
    method: Callable[..., Any], dtype: str | None, inputs: tuple[TensorSpec, ...] | None
) -> Callable[..., Any]:
    """Return a network's method that converts nested lists, and arrays of any type, to the network's type."""
    if dtype is None:
        return method
    kinds = [one.dtype or dtype for one in inputs or ()]

    def tensor(value: Any, kind: str) -> Any:
        if isinstance(value, np.ndarray) and value.dtype.kind == "f":
            return value.astype(kind, copy=False) if kind in TYPES.values() else value
        if isinstance(value, list) and any(isinstance(one, np.ndarray) for one in value):
            places = [*kinds, *[kind] * len(value)] if len(kinds) == len(value) else [kind] * len(value)
            return [tensor(one, place) for one, place in zip(value, places, strict=False)]
        return np.asarray(value, kind) if isinstance(value, list) else value

    first = kinds[0] if len(kinds) == 1 else dtype
    return lambda *arguments: method(*(tensor(one, first) for one in arguments))
