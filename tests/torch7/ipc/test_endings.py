"""ipc.server and ipc.client: the other side is killed, ends within a message, or Ctrl-C comes."""

from __future__ import annotations

import signal
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import pytest

import bridge
from tests.torch7.ipc.errors import error
from tests.torch7.ipc.strangers import FLOAT, TENSOR, head, stranger

pytestmark = pytest.mark.timeout(60)


def started(source: str, *arguments: Any) -> subprocess.Popen[str]:
    """Run Lua in a Python process of its own."""
    host = "import sys, bridge\nlua = bridge.Lua()\nlua.execute('arg = {...}', *sys.argv[2:])\nlua.execute(sys.argv[1])"
    return subprocess.Popen(
        [sys.executable, "-c", host, textwrap.dedent(source), *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=Path(__file__).parents[3],
    )


@pytest.mark.slow
def test_a_client_that_was_killed_is_told_and_the_others_go_on(ipc: bridge.Lua) -> None:
    ipc.execute("server, port = ipc.server()")
    process = started(
        """
        require 'torch'
        local client = require('ipc').client(tonumber(arg[1]))
        client:send(torch.ones(10))
        client:recv()
        """,
        ipc.eval("port"),
    )
    try:
        ipc.execute("other = ipc.client(port) server:clients(2, function(c) end) t = server:recvAny()")
        assert ipc.eval("t:sum()") == 10
        process.send_signal(signal.SIGKILL)
        assert "the other side has closed the connection" in error(ipc, "server:recvAny()")
        ipc.execute("other:send('alive') got = server:recvAny() n = server:clients(function() end)")
        assert ipc.eval("got, n") == ("alive", 1)
    finally:
        process.kill()
        process.communicate()
    ipc.execute("server:close()")


def test_a_connection_that_ends_within_a_tensor_is_told(ipc: bridge.Lua) -> None:
    with stranger(ipc, head(TENSOR, FLOAT, (1000,), 4000) + bytes(100)):
        pass
    assert "the other side has closed the connection" in error(ipc, "peer:recv()")
    assert "is closed" in error(ipc, "peer:send(1)")
    ipc.execute("server:close()")


def test_sending_to_the_dead_is_an_error_and_no_signal(pair: bridge.Lua) -> None:
    pair.execute("client:close()")
    message = error(pair, "for i = 1, 1000 do peer:send(torch.ByteTensor(1e6)) end")
    assert "ipc: sending to 127.0.0.1:" in message


@pytest.mark.slow
def test_ctrl_c_ends_a_wait() -> None:
    process = started(
        "local s = require('ipc').server() print('waiting') io.stdout:flush() s:clients(1, print)"
    )
    assert process.stdout is not None
    assert process.stdout.readline().strip() == "waiting"
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=10)
    assert "KeyboardInterrupt" in errors
