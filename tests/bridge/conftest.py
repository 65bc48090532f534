"""A fresh Lua state, torch required, for each test."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

import bridge


@pytest.fixture
def lua() -> Iterator[bridge.Lua]:
    with bridge.Lua() as state:
        state.require("torch")
        yield state


@pytest.fixture
def echo(lua: bridge.Lua) -> Any:
    """Return a Lua function that returns its arguments."""
    return lua.eval("function(...) return ... end")
