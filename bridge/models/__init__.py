"""Loading a model from a file of any kind as a function to call.

`model` has the class of a loaded model. `lua_file`, `torch7_file`, `torch_file` and `onnx_file` load one kind of file
each; the table below says which file name suffix is which kind. `layers` finds the inputs of a Torch7 network.
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

# File name suffix -> the module that loads such files, imported when it is needed.
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
        The state for a model that runs in Lua; closing it ends the model.
    file : path
        A .t7 file with a network or tables of networks; a .lua file that defines functions; or a file that `moontide
        convert` writes: .pt2, .onnx or .pt. A file with another suffix is read as a .t7 file.
    function : str, optional
        The model's default function: a function of the Lua file, or a method of the network. Without it, the only
        function of the file, or the network's `forward` in evaluation mode.
    key : str, optional
        The place of the network in the tables of a .t7 file, such as "protos.rnn".
    network : path, optional
        For a .pt file, which has only parameters: the .t7 file of the network that they belong to.
    device : {"cpu", "cuda"}
        Where the model computes; "cuda:1" is the second one.

    Raises
    ------
    FileNotFoundError
        There is no such file.
    ValueError
        The file has no such function, several functions and no default, or no network; or an option is for another kind
        of file.
    ImportError
        A package that this kind of file needs is missing.
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
    """Load a model and return its default function; see `load`.

    Arguments and results are converted as for any Lua function. A network also takes nested lists of numbers, which
    become tensors of its type.
    """
    return load(lua, file, function=function, key=key).chosen()
