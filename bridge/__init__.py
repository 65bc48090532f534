"""bridge: legacy Lua/Torch7 models inside Python, on tensors shared with numpy and torch.

Importing it starts nothing; a LuaJIT state is made by `Lua()`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bridge._boundary import LuaFunction, LuaObject, LuaTable
from bridge.errors import LuaError, StateBusy, StateClosed
from bridge.importing import import_whole
from bridge.lua import Lua, LuaModule
from bridge.marks import index, null
from bridge.pool import LuaPool
from bridge.python2torch import PyTorch

if TYPE_CHECKING:
    from bridge import legacy, nn, t7
    from bridge.convert import to_lua, to_torch

__all__ = [
    "Lua",
    "LuaError",
    "LuaFunction",
    "LuaModule",
    "LuaObject",
    "LuaPool",
    "LuaTable",
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


def __getattr__(name: str) -> Any:
    """Load what not everybody needs when it is asked for."""
    if name in ("legacy", "nn", "t7"):
        return import_whole(f"bridge.{name}")
    if name in ("to_lua", "to_torch"):
        return getattr(import_whole("bridge.convert"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
