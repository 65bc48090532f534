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


@pytest.fixture
def f(lua: bridge.Lua) -> bridge.Lua:
    """A state whose global `f` is an empty memory file."""
    lua.execute("f = torch.MemoryFile()")
    return lua


def prepared(state: bridge.Lua, data: Path) -> bridge.Lua:
    state.require("torch")
    state.execute((data / "files" / "truth_classes.lua").read_text())
    state.execute("if not torch.Tester then torch.class('torch.Tester') end")
    return state


@pytest.fixture(scope="module")
def module(data: Path) -> Iterator[bridge.Lua]:
    """One state for a module's tests, with the classes of the stored objects."""
    with bridge.Lua() as state:
        yield prepared(state, data)


@pytest.fixture(scope="module")
def running(data: Path) -> Iterator[bridge.Lua]:
    """Provide such a state in which stored functions run."""
    with bridge.Lua(allow_functions=True) as state:
        yield prepared(state, data)
