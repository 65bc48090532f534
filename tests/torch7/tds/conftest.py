"""A Lua state with tds for each test."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import bridge


@pytest.fixture
def tds() -> Iterator[bridge.Lua]:
    with bridge.Lua() as state:
        state.execute("torch, tds = require 'torch', require 'tds'")
        yield state
