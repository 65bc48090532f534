"""A model in a file as something to call: networks of Torch7's files, functions of Lua's."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from bridge import t7
from bridge._boundary import LuaFunction, LuaObject
from bridge.lua import Lua
from bridge.networks import is_network, network

# Where the classes of files come from, tried in this order; later ones add classes to nn.
PACKAGES = ("torch", "nn", "nngraph", "nnx", "dpnn", "rnn", "cudnn", "tds")
DEFINED = "function(name) return torch.getmetatable(name) ~= nil end"
TYPES = {"torch.FloatTensor": np.float32, "torch.DoubleTensor": np.float64}


def call(
    lua: Lua, file: str | PathLike[str], *, function: str | None = None, key: str | None = None
) -> Callable[..., Any]:
    """Load a model and return what calls it.

    Parameters
    ----------
    lua : Lua
        The state that the model lives in; closing it ends the model.
    file : path
        A .t7 file with a network, or a table of networks; or a .lua file that defines functions.
    function : str, optional
        The function of the Lua file, or the method of the network. By default the only function of the file; a
        network's `forward`, in evaluation mode.
    key : str, optional
        The place of the network in the file's tables, such as "protos.rnn".

    Returns
    -------
    callable
        Arrays and numbers go in and come out as with any function of Lua. A network takes nested lists of numbers
        too, which become tensors of its own type.

    Raises
    ------
    FileNotFoundError
        There is no such file.
    ValueError
        The file has no such function, several where one is meant, or no network.
    LuaError, T7Error
        The file is damaged, or running it raised an error.
    """
    path = Path(file)
    if path.suffix == ".lua":
        if key is not None:
            raise ValueError(f"{path} is a Lua file: key= is for the tables of .t7 files")
        return _function(lua, path, function)
    return _network(lua, path, function, key)


def _function(lua: Lua, path: Path, wanted: str | None) -> Callable[..., Any]:
    lua.require("torch")  # its own global functions are not the file's
    loaded = lua.load(path)
    functions: dict[str, Callable[..., Any]] = {
        name: value for name in dir(loaded) if isinstance(value := getattr(loaded, name), LuaFunction)
    }
    if wanted is None and len(functions) == 1:
        return next(iter(functions.values()))
    if wanted not in functions:
        which = "defines several functions" if wanted is None else f"defines no function {wanted!r}"
        raise ValueError(f"{path} {which}; it has {', '.join(functions) or 'none'}")
    return functions[wanted]


def _network(lua: Lua, path: Path, method: str | None, key: str | None) -> Callable[..., Any]:
    require(lua, t7.inspect(path).classes)
    model = network(lua.execute("return torch.load(...)", os.fspath(path)), key)
    if not (isinstance(model, LuaObject) and is_network(model)):
        raise ValueError(
            f"{path} holds no network{f' at {key}' if key else ''}, but a {type(model).__name__}"
        )
    if method is None:
        model.evaluate()
    function = getattr(model, method or "forward", None)
    if not callable(function):
        raise ValueError(f"a {model.typename} has no method {method!r}")
    dtype = TYPES.get(model.type())
    return lambda *arguments: function(*(_tensors(one, dtype) for one in arguments))


def require(lua: Lua, classes: Iterable[str]) -> None:
    """Require the packages that define these classes, and no more; those of a program of its own stay unknown."""
    lua.require("torch")
    defined = lua.eval(DEFINED)
    for package in PACKAGES:
        missing = [name for name in classes if not defined(name)]
        if not missing:
            break
        lua.require(package)


def _tensors(value: Any, dtype: Any) -> Any:
    """Return nested lists of numbers as an array; a list of arrays, and all else, as it is."""
    if (
        isinstance(value, list)
        and dtype is not None
        and not any(isinstance(one, np.ndarray) for one in value)
    ):
        return np.asarray(value, dtype)
    return value
