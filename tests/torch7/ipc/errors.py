"""The words of an error."""

from __future__ import annotations

import pytest

import bridge


def error(lua: bridge.Lua, code: str) -> str:
    with pytest.raises(bridge.LuaError) as caught:
        lua.execute(code)
    return str(caught.value)
