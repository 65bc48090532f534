"""bridge: legacy Lua/Torch7 models inside Python, on tensors shared with numpy and torch.

Importing it starts nothing; a LuaJIT state is made by `Lua()`.
"""

from __future__ import annotations

from bridge._boundary import LuaFunction, LuaObject, LuaTable
from bridge.errors import LuaError, StateBusy, StateClosed
from bridge.lua import Lua, LuaModule
from bridge.marks import index, null
from bridge.pool import LuaPool
from bridge.python2torch import PyTorch

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
    "null",
]
