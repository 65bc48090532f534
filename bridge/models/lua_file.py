"""Loading the functions of a Lua file."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any

from bridge._boundary import LuaFunction
from bridge.lua import Lua
from bridge.models.model import Model, TensorSpec


def load(lua: Lua, path: Path, *, function: str | None, device: str, **_: Any) -> Model:
    """Run the file. The model's functions are those in the table it returns, or the global ones it defines."""
    if device != "cpu":
        raise ValueError(f"{path}: a Lua file says itself where it computes; device= is for networks")
    lua.require("torch")  # first, so that torch's global functions do not count as the file's
    loaded = lua.load(path)
    functions = {
        name: value for name in dir(loaded) if isinstance(value := getattr(loaded, name), LuaFunction)
    }
    parameters = {name: parameter_names(one) for name, one in functions.items()}
    default = function or (next(iter(functions)) if len(functions) == 1 else None)
    model = Model(
        file=str(path),
        platform="lua",
        functions=functions,
        parameters=parameters,
        default=default,
        inputs=specs(parameters.get(default or "")),
    )
    if function is not None or not functions:
        model.chosen()
    return model


def parameter_names(function: Any) -> list[str]:
    """Return the names of a function's parameters, with "..." at the end if it takes further ones."""
    kinds = inspect.Parameter
    return [
        "..." if one.kind is kinds.VAR_POSITIONAL else one.name
        for one in inspect.signature(function).parameters.values()
        if one.kind is not kinds.KEYWORD_ONLY
    ]


def specs(names: list[str] | None) -> tuple[TensorSpec, ...] | None:
    """Return inputs with the names of parameters; None if their number varies."""
    return None if names is None or "..." in names else tuple(TensorSpec(name) for name in names)
