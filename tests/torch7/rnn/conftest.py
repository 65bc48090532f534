"""A Lua state with rnn, and the checks of gradients, for each file of tests."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import bridge

CHECKS = Path(__file__).parents[1] / "gradients.lua"


@pytest.fixture(scope="module")
def rnn() -> Iterator[bridge.Lua]:
    with bridge.Lua() as lua:
        lua.execute("require 'rnn' require 'nngraph'")
        lua.execute("checks = dofile(...)", str(CHECKS))
        lua.execute("function far(a, b) return (a - b):abs():max() end")
        yield lua
