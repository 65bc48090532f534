"""A Lua state with torch for each test, and where the data written by a real Torch7 lie."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import torch

import bridge


@pytest.fixture
def lua() -> Iterator[bridge.Lua]:
    with bridge.Lua() as state:
        state.require("torch")
        yield state


@pytest.fixture(scope="session")
def data() -> Path:
    return Path(__file__).parents[1] / "data" / "torch7"


@pytest.fixture(scope="module", autouse=True)
def one_thread_of_torch() -> Iterator[None]:
    """Its threads cost these tests' small operations more than they give, without end on a busy machine."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)
