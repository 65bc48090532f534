"""A Lua state with torch for each test, and where the data written by a real Torch7 lie."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import bridge


@pytest.fixture
def lua() -> Iterator[bridge.Lua]:
    with bridge.Lua() as state:
        state.require("torch")
        yield state


@pytest.fixture(scope="session")
def data() -> Path:
    return Path(__file__).parents[1] / "data" / "torch7"
