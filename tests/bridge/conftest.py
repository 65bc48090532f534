"""A fresh Lua state, torch required, for each test."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

import bridge
from bridge import t7


@pytest.fixture
def lua() -> Iterator[bridge.Lua]:
    with bridge.Lua() as state:
        state.require("torch")
        yield state


@pytest.fixture
def echo(lua: bridge.Lua) -> Any:
    """Return a Lua function that returns its arguments."""
    return lua.eval("function(...) return ... end")


def reachable(value: Any) -> Iterator[Any]:
    """Each value that is reachable, once."""
    seen, waiting = set(), [value]
    while waiting:
        value = waiting.pop()
        if id(value) in seen:
            continue
        seen.add(id(value))
        yield value
        if isinstance(value, dict):
            waiting += [key.value if isinstance(key, t7.Key) else key for key in value]
            waiting += value.values()
        elif isinstance(value, list):
            waiting += value
        elif isinstance(value, t7.TorchObject):
            waiting.append(value.torch_payload())
        elif isinstance(value, t7.TorchFunction):
            waiting.append(value.upvalues)


@pytest.fixture(scope="session")
def everything() -> Callable[[Any], Iterator[Any]]:
    """Return what gives each value in one that `bridge.t7` loaded."""
    return reachable
