"""A Lua state that bridge.legacy uses for each file of tests."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import bridge
from bridge import legacy


@pytest.fixture(autouse=True, scope="module")
def state() -> Iterator[bridge.Lua]:
    with bridge.Lua() as lua, legacy.use(lua):
        yield lua
