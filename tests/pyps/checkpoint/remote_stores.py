"""Stores of fsspec for tests: one in this process's memory, this machine's files, and a real server of FTP."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.python_path import python_path

FTP = """
import sys
from pyftpdlib.authorizers import DummyAuthorizer
from pyftpdlib.handlers import FTPHandler
from pyftpdlib.servers import FTPServer

users = DummyAuthorizer()
users.add_user("me", "secret", sys.argv[1], perm="elradfmw")
FTPHandler.authorizer = users
server = FTPServer(("127.0.0.1", 0), FTPHandler)
print(server.address[1], flush=True)
server.serve_forever()
"""
KINDS = ["memory", "local", "ftp"]


@contextmanager
def store(kind: str, place: Path) -> Iterator[str]:
    """Give the URL of an empty folder of a store, which has its files at `place` unless it is memory."""
    if kind == "memory":
        from fsspec.implementations.memory import MemoryFileSystem

        yield f"memory://{place.name}"
        MemoryFileSystem.store.clear()
        MemoryFileSystem.pseudo_dirs[:] = [""]
    elif kind == "local":
        yield f"local://{place}"
    else:
        with ftp_server(place) as url:
            yield url


@contextmanager
def ftp_server(place: Path) -> Iterator[str]:
    process = subprocess.Popen(
        [sys.executable, "-W", "ignore", "-c", FTP, str(place)],
        env=os.environ | {"PYTHONPATH": python_path()},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    assert process.stdout is not None
    try:
        yield f"ftp://me:secret@127.0.0.1:{int(process.stdout.readline())}/run"
    finally:
        process.terminate()
        process.communicate(timeout=50)
