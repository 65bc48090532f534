"""What is sent to a server without ipc."""

from __future__ import annotations

import socket
import struct

import bridge
from tests.elements import ALL

DTYPES = list(ALL)
MAGIC = 0x4350494D
VALUE, TENSOR, STORAGE = range(3)
FLOAT = DTYPES.index("Float")


def head(
    kind: int = VALUE, dtype: int = 0, sizes: tuple[int, ...] = (), nbytes: int = 0, magic: int = MAGIC
) -> bytes:
    return struct.pack(f"<IBBBBq{len(sizes)}q", magic, kind, dtype, len(sizes), 0, nbytes, *sizes)


def stranger(lua: bridge.Lua, data: bytes) -> socket.socket:
    """Connect to `server` without Lua, send bytes, and have the server know it as `peer`."""
    lua.execute("server, port = ipc.server()")
    sock = socket.create_connection(("127.0.0.1", lua.eval("port")), timeout=10)
    sock.sendall(data)
    lua.execute("server:clients(1, function(c) peer = c end)")
    return sock
