"""A real `moontide serve` for tests: its process, its address, and models to serve."""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import bridge
from tests.system import descendants

PATIENCE = 60.0  # seconds that any step may take


@dataclass
class Answer:
    """What came back."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


@dataclass
class Running:
    """A server."""

    process: subprocess.Popen[str]
    url: str
    grpc: str | None
    log: Path

    @property
    def address(self) -> tuple[str, int]:
        parts = urlsplit(self.url)
        assert parts.hostname is not None
        assert parts.port is not None
        return parts.hostname, parts.port

    def connection(self) -> http.client.HTTPConnection:
        return http.client.HTTPConnection(*self.address, timeout=PATIENCE)

    def ask(self, method: str, path: str, body: Any = None, headers: dict[str, str] | None = None) -> Answer:
        content = body if body is None or isinstance(body, bytes) else json.dumps(body).encode()
        with contextlib.closing(self.connection()) as connection:
            connection.request(method, path, content, headers or {})
            response = connection.getresponse()
            return Answer(response.status, {k.lower(): v for k, v in response.getheaders()}, response.read())

    def get(self, path: str, **headers: str) -> Answer:
        return self.ask("GET", path, headers=headers)

    def post(self, path: str, body: Any = None, **headers: str) -> Answer:
        return self.ask("POST", path, body, headers)

    def workers(self) -> set[int]:
        """The processes that have models."""
        return {pid for pid in descendants(self.process.pid) if is_worker(pid)}

    def lines(self) -> list[dict[str, Any]]:
        """What the log says, line by line."""
        return [json.loads(line) for line in self.log.read_text().splitlines() if line.startswith("{")]


def is_worker(pid: int) -> bool:
    """Whether a process is a model's."""
    try:
        return b"bridge.serve.process.worker" in Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return False


@contextlib.contextmanager
def serving(
    directory: Path, *arguments: str | Path, environment: dict[str, str] | None = None
) -> Iterator[Running]:
    """Run `moontide serve` on free ports of the loopback, and end it by SIGTERM."""
    log = directory / "serve.log"
    ports = [] if "--port" in arguments else ["--port", "0"]
    ports += [] if {"--grpc-port", "--no-grpc"} & set(map(str, arguments)) else ["--no-grpc"]
    with log.open("w") as errors:
        process = subprocess.Popen(
            [sys.executable, "-m", "moontide", "serve", *map(str, arguments), *ports],
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
            env={**os.environ, **(environment or {})},
        )
    try:
        assert process.stdout is not None
        line = process.stdout.readline()
        found = re.match(r"serving at (\S+?)(?:, gRPC at (\S+))?; Ctrl-C ends it", line)
        assert found, f"{line!r}\n{log.read_text()}"
        yield Running(process, found[1], found[2], log)
    finally:
        with process:
            process.send_signal(signal.SIGTERM)
            try:
                process.wait(PATIENCE)
            except subprocess.TimeoutExpired:
                process.kill()
                raise


def tensor(name: str, datatype: str, shape: list[int], data: list[Any]) -> dict[str, Any]:
    """Return a tensor as JSON."""
    return {"name": name, "datatype": datatype, "shape": shape, "data": data}


def save_digits(file: Path, *, scale: float = 1.0) -> None:
    """Write a small network: 64 numbers in, 10 out, and each output tells which input it is of."""
    with bridge.Lua() as lua:
        lua.execute(
            """
            require 'nn'
            local file, scale = ...
            torch.manualSeed(7)
            local net = nn.Sequential():add(nn.Linear(64, 32)):add(nn.Tanh()):add(nn.Linear(32, 10)):float()
            torch.save(file, nn.Sequential():add(net):add(nn.MulConstant(scale)):float())
            """,
            str(file),
            scale,
        )
