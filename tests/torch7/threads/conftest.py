"""A Lua state with the threads package for each test."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import bridge


@pytest.fixture
def threads() -> Iterator[bridge.Lua]:
    with bridge.Lua() as state:
        state.execute("torch, threads, tds = require 'torch', require 'threads', require 'tds'")
        yield state
