"""`PyTorch(file)`: the interface of the package python2torch, on this runtime.

The global functions of a Lua file are attributes, and every call returns a list of results. Unlike in python2torch,
None, dicts and non-contiguous arrays can be passed in both directions.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from inspect import Signature
from typing import Any

from bridge._boundary import LuaFunction
from bridge.familiar import PYTHON2TORCH
from bridge.lua import Lua, LuaFile, Source


class PyTorch:
    """Run a Lua file and call its global functions.

    Parameters
    ----------
    file : path
        The Lua file; `require 'torch'` is done before it runs.
    **options
        As for `Lua`; `tables` defaults to "dict", as in python2torch: every table becomes a dict with its keys in Lua.

    Raises
    ------
    FileNotFoundError, LuaError
        As `Lua.load`.
    """

    @PYTHON2TORCH.pointing
    def __init__(self, file: Source, **options: Any) -> None:
        lua = Lua(**{"tables": "dict", **options})
        try:
            lua.require("torch")
            module = lua.load(file)
        except BaseException:
            lua.close()
            raise
        self._lua: Lua = lua
        self._module: LuaFile = module
        self._file: str = os.fspath(file)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        value = getattr(self._module, name)
        return _Function(value) if isinstance(value, LuaFunction) else value

    def __call__(self, function_name: str, args: Sequence[Any]) -> list[Any]:
        """Call the function of this name and return the list of its results.

        Raises
        ------
        AttributeError
            There is no such function.
        """
        results: list[Any] = getattr(self, function_name)(*args)
        return results

    @property
    def function_names(self) -> list[str]:
        """The names of all global functions of the Lua state, also Lua's own, sorted."""
        return self._lua.global_functions()

    def __dir__(self) -> list[str]:
        return sorted({"close", "function_names", *dir(self._module), *self.function_names})

    def close(self) -> None:
        """Close the Lua state of this object."""
        self._lua.close()

    def __enter__(self) -> PyTorch:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<bridge.PyTorch {self._file!r}>"


class _Function:
    """A Lua function that always returns a list of its results."""

    def __init__(self, function: LuaFunction) -> None:
        self._function = function

    @property
    def __doc__(self) -> str | None:  # type: ignore[override]
        return self._function.__doc__

    @property
    def __signature__(self) -> Signature:
        whole = self._function.__signature__
        kept = [one for one in whole.parameters.values() if one.kind is not one.KEYWORD_ONLY]
        return whole.replace(parameters=kept)

    def __call__(self, *arguments: Any) -> list[Any]:
        return self._function.results(*arguments)

    def __repr__(self) -> str:
        return repr(self._function)
