"""A Lua state with the image package for each file of tests."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import bridge


@pytest.fixture(scope="module")
def lua() -> Iterator[bridge.Lua]:
    with bridge.Lua() as state:
        state.execute("image = require 'image'")
        yield state
