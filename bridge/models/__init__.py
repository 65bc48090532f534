"""A model in a file as something to call, whatever kind of file it is.

`model` is what all kinds are to those who use them; a file per kind says how it is loaded (`lua_file`, `torch7_file`,
`torch_file`, `onnx_file`), and the table below which ending is which. `layers` tells what a network of Torch7 takes.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from os import PathLike
from pathlib import Path
from typing import Any

from bridge.lua import Lua
from bridge.models.model import Model, TensorSpec

__all__ = ["ENDINGS", "Model", "TensorSpec", "call", "load"]

# The module that loads files with this ending; each is imported when it is needed.
ENDINGS = {
    ".lua": "bridge.models.lua_file",
    ".t7": "bridge.models.torch7_file",
    ".pt": "bridge.models.torch_file",
    ".pt2": "bridge.models.torch_file",
    ".onnx": "bridge.models.onnx_file",
}


def load(
    lua: Lua,
    file: str | PathLike[str],
    *,
    function: str | None = None,
    key: str | None = None,
    network: str | PathLike[str] | None = None,
    device: str = "cpu",
) -> Model:
    """Load a model.

    Parameters
    ----------
    lua : Lua
        The state that a model of Lua lives in; closing it ends the model.
    file : path
        A .t7 file with a network, or a table of networks; a .lua file that defines functions; what `moontide convert`
        writes: .pt2, .onnx, or .pt. What has another ending is taken for Torch7's.
    function : str, optional
        The function of the Lua file, or the method of the network, that is meant where none is named. By default the
        only function of the file; a network's `forward`, in evaluation mode.
    key : str, optional
        The place of the network in the tables of a .t7 file, such as "protos.rnn".
    network : path, optional
        For a .pt file, which holds parameters alone: the .t7 file whose network they belong to.
    device : {"cpu", "cuda"}
        Where the model computes; "cuda:1" is the second one.

    Raises
    ------
    FileNotFoundError
        There is no such file.
    ValueError
        The file has no such function, several where one is meant, or no network; or an option is not for its kind.
    ImportError
        A package is missing that its kind needs.
    LuaError, T7Error, RuntimeError
        The file is damaged, or running it raised an error.
    """
    path = Path(file)
    if not path.is_file():
        raise FileNotFoundError(f"there is no file {path}")
    ending = path.suffix if path.suffix in ENDINGS else ".t7"
    if key is not None and ending not in (".t7", ".pt"):
        raise ValueError(f"{path}: key= is for the tables of .t7 files")
    if network is not None and ending != ".pt":
        raise ValueError(f"{path}: network= is for .pt files, which hold parameters alone")
    loader: Callable[..., Model] = importlib.import_module(ENDINGS[ending]).load
    return loader(lua, path, function=function, key=key, network=network, device=device)


def call(
    lua: Lua, file: str | PathLike[str], *, function: str | None = None, key: str | None = None
) -> Callable[..., Any]:
    """Load a model and return the function that is meant; see `load`.

    Arrays and numbers go in and come out as with any function of Lua. A network takes nested lists of numbers too,
    which become tensors of its own type.
    """
    return load(lua, file, function=function, key=key).chosen()
