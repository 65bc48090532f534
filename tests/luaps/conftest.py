"""Lua programs that use a real server: in a bridge.Lua of this process, or as a plain LuaJIT process."""

from __future__ import annotations

import os
import shutil
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import pytest
import torch

import bridge
import pyps
from pyps import zeromq
from tests.luaps.nodes import NUM_KEYS, Cluster, Nodes

ROOT = Path(__file__).parents[2]
TIMEOUT = 50.0
LUA_PATH = f"{ROOT}/?.lua;{ROOT}/?/init.lua"

# What every program finds: `luaps`, `ffi`, `kv`, a 1-based worker, `number`, and `say`, which hands over a line.
PROLOGUE = """
local address; address, number = ...
number = tonumber(number)
ffi = require 'ffi'
luaps = require 'luaps'
emit = emit or function(line) io.write(line, '\\n') io.flush() end
function say(...)
   local words = {}
   for i = 1, select('#', ...) do
      words[i] = tostring((select(i, ...)))
   end
   emit(table.concat(words, ' '))
end
-- The elements of an FFI array or a torch tensor, in one line.
function shown(values, n)
   local words = {}
   for i = 1, n do
      words[i] = tonumber(values[i - 1])
   end
   return table.concat(words, ' ')
end
if address ~= '' then kv = luaps.worker{address = address} end
"""


class Running(Protocol):
    """A program that was started."""

    def finish(self) -> list[str]:
        """Wait for its end and return the lines it said; fail if it failed."""


Start = Callable[..., Running]


class InThread:
    """A program in a Lua state of this process, in a thread."""

    def __init__(self, source: str, address: str, *arguments: object) -> None:
        self.lines: list[str] = []
        self.error: Exception | None = None
        self.thread = threading.Thread(target=self._run, args=(source, address, *map(str, arguments)))
        self.thread.start()

    def _run(self, source: str, *arguments: str) -> None:
        try:
            with bridge.Lua() as lua:
                lua.emit = self.lines.append
                lua.execute(PROLOGUE + source, *arguments)
        except Exception as error:  # it is raised in the test's thread
            self.error = error

    def finish(self) -> list[str]:
        self.thread.join(TIMEOUT)
        assert not self.thread.is_alive()
        if self.error:
            raise self.error
        return self.lines


class Process:
    """A program as a LuaJIT process without Python in it."""

    def __init__(self, source: str, address: str, *arguments: object) -> None:
        self.process = subprocess.Popen(
            ["luajit", "-", address, *map(str, arguments)],
            env=environment(),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert self.process.stdin is not None
        self.process.stdin.write(PROLOGUE + source)
        self.process.stdin.close()
        self.process.stdin = None

    def line(self) -> str:
        """Return the next line that the program says."""
        assert self.process.stdout is not None
        return self.process.stdout.readline().rstrip("\n")

    def finish(self) -> list[str]:
        output, errors = self.process.communicate(timeout=TIMEOUT)
        assert self.process.returncode == 0, errors
        return output.splitlines()

    def kill(self) -> None:
        self.process.kill()
        self.process.communicate(timeout=TIMEOUT)


def environment() -> dict[str, str]:
    """Return the environment of a plain LuaJIT that finds luaps."""
    clean = {name: value for name, value in os.environ.items() if name != "LUAPS_LIBPS"}
    return {**clean, "LUA_PATH": LUA_PATH}


@pytest.fixture
def luajit() -> Iterator[Callable[..., Process]]:
    """Start plain LuaJIT processes; they end with the test."""
    if shutil.which("luajit") is None:
        pytest.skip("luajit is missing (Debian: apt-get install luajit)")
    running: list[Process] = []

    def start(source: str, address: str = "", *arguments: object) -> Process:
        running.append(Process(source, address, *arguments))
        return running[-1]

    yield start
    for process in running:
        process.kill()


@pytest.fixture(params=["thread", "process"])
def start(request: pytest.FixtureRequest) -> Start:
    """Start Lua programs, in states of this process or as processes of their own."""
    if request.param == "thread":
        return InThread
    starter: Start = request.getfixturevalue("luajit")
    return starter


@pytest.fixture
def library() -> str:
    """The path of a ZeroMQ library."""
    zeromq.load()
    for line in Path("/proc/self/maps").read_text().splitlines():
        if "libzmq" in line:
            return line.split()[-1]
    raise AssertionError("no libzmq is loaded")


@pytest.fixture
def server() -> Iterator[pyps.Server]:
    """Ten keys of three float32."""
    with pyps.Server(10, 3) as node:
        yield node


@pytest.fixture
def lua(server: pyps.Server) -> Iterator[bridge.Lua]:
    """A Lua state with torch, and what PROLOGUE gives, attached to `server`."""
    with bridge.Lua() as state:
        state.require("torch")
        state.execute(PROLOGUE, server.address)
        yield state


@pytest.fixture
def contents() -> Callable[[pyps.Server], Any]:
    """Read all values of a server, one after another, as Python sees them."""

    def read(server: pyps.Server) -> Any:
        if server.dtype.name == "bfloat16":
            out: Any = torch.zeros(server.total_values, dtype=torch.bfloat16)
        else:
            out = np.zeros(server.total_values, server.dtype.name)
        with server.worker() as kv:
            kv.pull(np.arange(server.num_keys), out)
        return out.float().numpy() if server.dtype.name == "bfloat16" else out

    return read


@pytest.fixture
def cluster() -> Iterator[Cluster]:
    """Start nodes that know each other; with `quiet`, the last one never answers."""
    with ExitStack() as stack:

        def start(count: int, *args: Any, quiet: bool = False, **options: Any) -> Nodes:
            cluster = {"num_nodes": count} if count > 1 else {}
            nodes = [pyps.Server(*args, rank=rank, **cluster, **options) for rank in range(count)]
            for node in nodes:
                stack.callback(node.shutdown, timeout=0)
            endpoints = [node.bind("tcp://127.0.0.1:*") for node in nodes] if cluster else []
            for node in nodes[: -1 if quiet else len(endpoints)]:
                node.connect(endpoints)
            return nodes

        yield start


@pytest.fixture(params=[1, 2])
def nodes(request: pytest.FixtureRequest, cluster: Cluster) -> Nodes:
    """Sixty keys of three int64 on one node or two."""
    return cluster(request.param, NUM_KEYS, 3, dtype="int64")
