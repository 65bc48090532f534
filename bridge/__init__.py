"""bridge: Lua/Torch7 models inside Python, on tensors whose memory numpy and torch share.

Importing the package starts nothing; `Lua()` makes a LuaJIT state.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from bridge._boundary import LuaFunction, LuaObject, LuaTable
from bridge.boundary.marks import index, null
from bridge.errors import LuaError, LuaTypeError, StateBusy, StateClosed
from bridge.familiar import LUTORPY, PYTHON2TORCH, pointer
from bridge.lua import Lua, LuaFile
from bridge.pool import LuaPool
from bridge.python2torch import PyTorch
from bridge.torch_support import import_whole

if TYPE_CHECKING:
    from bridge import legacy, nn, t7
    from bridge.convert import to_lua, to_torch

    LuaModule = LuaFile  # another name of LuaFile; a layer for PyTorch models is bridge.nn.LuaModule

__all__ = [
    "Lua",
    "LuaError",
    "LuaFile",
    "LuaFunction",
    "LuaObject",
    "LuaPool",
    "LuaTable",
    "LuaTypeError",
    "PyTorch",
    "StateBusy",
    "StateClosed",
    "index",
    "legacy",
    "nn",
    "null",
    "t7",
    "to_lua",
    "to_torch",
]

if not TYPE_CHECKING:  # with it, a type checker would accept any name

    def __getattr__(name):
        """Import the parts that few programs need when they are first used."""
        if name in ("legacy", "nn", "t7"):
            return import_whole(f"bridge.{name}")
        if name in ("to_lua", "to_torch"):
            return getattr(import_whole("bridge.convert"), name)
        if name == "LuaModule":
            return LuaFile
        instead = pointer(name, LUTORPY, PYTHON2TORCH)
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}{instead}")


def __dir__() -> list[str]:
    return sorted(__all__)
