"""ipc.server and ipc.client: bytes of strangers are refused in bounded memory, and run no code."""

from __future__ import annotations

import random
import socket
import struct
import time

import pytest

import bridge
from tests.torch7.ipc.errors import error
from tests.torch7.ipc.strangers import FLOAT, MAGIC, STORAGE, TENSOR, VALUE, head, stranger

pytestmark = pytest.mark.timeout(60)


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"GET / HTTP/1.1\r\nHost: x\r\n\r\n", "it does not speak as ipc does"),
        (head(magic=0x4D495043), "its host has the other byte order"),
        (head(kind=3), "it sent a head that means nothing"),
        (head(TENSOR, dtype=8, sizes=(1,), nbytes=4), "it sent a head that means nothing"),
        (head(VALUE, sizes=(1,), nbytes=8), "it sent a head that means nothing"),
        (head(STORAGE, FLOAT, (1, 1), 4), "it sent a head that means nothing"),
        (head(VALUE, nbytes=-1), "it sent a head that means nothing"),
        (head(TENSOR, FLOAT, (0,), 0), "it sent a tensor with a size of 0"),
        (head(TENSOR, FLOAT, (-2, -2), 16), "it sent a tensor with a size of -2"),
        (head(TENSOR, FLOAT, (3,), 16), "it sent 3 elements in 16 bytes"),
        (head(TENSOR, FLOAT, (2**31, 2**31, 4), 0), "elements in 0 bytes"),
        (head(VALUE, nbytes=2**40), "more than the limit of 1073741824"),
        (head(TENSOR, FLOAT, (2**40,), 2**42), "more than the limit of 1073741824"),
        (
            struct.pack("<IBBBBq", MAGIC, TENSOR, FLOAT, 65, 0, 0) + bytes(520),
            "it sent a head that means nothing",
        ),
    ],
)
def test_what_is_no_message_is_refused(ipc: bridge.Lua, data: bytes, words: str) -> None:
    with stranger(ipc, data):
        assert words in error(ipc, "peer:recv()")
    ipc.execute("server:close()")


@pytest.mark.parametrize("seed", range(20))
def test_random_bytes_are_refused(ipc: bridge.Lua, seed: int) -> None:
    noise = random.Random(seed)
    body = noise.randbytes(noise.randrange(1, 2000))
    data = body if seed % 2 else head(nbytes=len(body)) + body
    with stranger(ipc, data) as sock:
        sock.shutdown(socket.SHUT_WR)
        assert "ipc: " in error(ipc, "while true do peer:recv() end")
    ipc.execute("server:close()")


def test_a_value_that_is_cut_or_followed_by_more_is_refused(ipc: bridge.Lua) -> None:
    text = struct.pack("<ii", 2, 3) + b"abc"
    with stranger(ipc, head(nbytes=9) + text[:9] + head(nbytes=13) + text + b"xx" + head(nbytes=11) + text):
        assert "sent a value that cannot be read: " in error(ipc, "peer:recv()")
        assert "sent a value with 2 bytes behind it" in error(ipc, "peer:recv()")
        assert ipc.eval("peer:recv()") == "abc"
    ipc.execute("server:close()")


def test_memory_grows_with_what_has_come(ipc: bridge.Lua) -> None:
    with stranger(ipc, head(TENSOR, FLOAT, (2**28,), 2**30) + bytes(1000)):
        ipc.execute("peer:recvAsync()")
        assert ipc.eval("tonumber(require('bridge.native').heap.held)") < 20e6
    ipc.execute("server:close()")


@pytest.mark.parametrize("allowed", [False, True])
def test_functions_that_arrive_do_not_run_unless_the_program_asks(allowed: bool) -> None:
    with bridge.Lua(allow_functions=True) as lua:
        lua.execute(
            """
            local ipc = require 'ipc'
            ipc.allowFunctions(...)
            local server, port = ipc.server()
            local client = ipc.client(port)
            client:send{f = function(x) return x + 1 end, n = 5}
            server:clients(1, function(c) got = c:recv() end)
            client:close() server:close()
            """,
            allowed,
        )
        assert lua.eval("got.n") == 5
        if allowed:
            assert lua.eval("got.f(1)") == 2
        else:
            assert "a function that came over the network was called" in error(lua, "got.f(1)")


def test_a_limit_of_the_program_holds(pair: bridge.Lua) -> None:
    pair.execute("ipc.limit(1000) client:send(torch.ByteTensor(1001):fill(1)) into = torch.ByteTensor(1001)")
    assert pair.eval("peer:recv(into):sum()") == 1001
    pair.execute("client:send(('x'):rep(1001))")
    assert "more than the limit of 1000: receive into a tensor, or raise" in error(pair, "peer:recv()")


def test_a_slow_sender_is_waited_for(ipc: bridge.Lua) -> None:
    text = head(nbytes=11) + struct.pack("<ii", 2, 3) + b"abc"
    with stranger(ipc, text[:5]) as sock:
        for part in (text[5:18], text[18:20]):
            assert ipc.eval("select('#', peer:recvAsync())") == 0
            sock.sendall(part)
            time.sleep(0.02)
        sock.sendall(text[20:])
        assert ipc.eval("peer:recv()") == "abc"
    ipc.execute("server:close()")
