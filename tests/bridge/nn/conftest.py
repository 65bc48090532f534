"""A Lua state that bridge.legacy uses, and seeds, for tests of Lua modules in PyTorch."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import torch

import bridge
from bridge import legacy


@pytest.fixture(autouse=True, scope="module")
def state() -> Iterator[bridge.Lua]:
    with bridge.Lua(tensors="torch") as lua, legacy.use(lua):
        yield lua


@pytest.fixture(autouse=True)
def seeds() -> None:
    torch.manual_seed(0)
    legacy.state().torch.manualSeed(1)
