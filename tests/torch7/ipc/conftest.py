"""A Lua state with ipc for each test, and a server with its client in one."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import bridge


@pytest.fixture
def ipc() -> Iterator[bridge.Lua]:
    with bridge.Lua() as state:
        state.execute("torch, ipc = require 'torch', require 'ipc'")
        yield state


@pytest.fixture
def pair(ipc: bridge.Lua) -> Iterator[bridge.Lua]:
    """A server, one client of it, and that client as the server sees it."""
    ipc.execute("""
        server, port = ipc.server()
        client = ipc.client(port)
        server:clients(1, function(c) peer = c end)
    """)
    yield ipc
    ipc.execute("client:close() server:close()")
