"""`moontide serve` beside a bare FastAPI endpoint that calls the converted PyTorch model, one process of HTTP each.

The model is the demo's. The load comes from wrk, which takes a tenth of a core where the servers take one;
each request has one of a thousand inputs. Both servers run all the time and are asked in turn.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median

import numpy as np

import bridge
from benchmarks.harness import Row
from benchmarks.serve import distinct, load

NAME = "moontide serve"

MODEL = """
require 'nn'
torch.manualSeed(1)
local net = nn.Sequential():add(nn.Linear(64, 64)):add(nn.Tanh()):add(nn.Linear(64, 10)):add(nn.LogSoftMax())
torch.save(..., net:float())
"""
SUM = "require 'torch' function total(x) return x:sum(2) end"
LARGE = 1 << 18  # float32 numbers: 1 MiB
PEER = "FastAPI and PyTorch"


def run(quick: bool) -> list[Row]:
    """Measure every row; `quick` only sees that they run."""
    with tempfile.TemporaryDirectory() as directory:
        place = Path(directory)
        with bridge.Lua() as lua:
            lua.execute(MODEL, str(place / "digits.t7"))
        (place / "total.lua").write_text(SUM)
        with fastapi(place) as theirs, serving(place / "digits.t7") as (ours, ready):
            rows = list(small(place, ours, theirs, quick))
            asked = 2000 if quick else 100_000
            wrong = distinct.wrong_answers(ours, place / "digits.t7", asked)
        rows.append(
            Row(
                table="serve",
                what=f"right of {asked:,} distinct, 64 at once",
                ours=asked - wrong,
                unit="answers",
                target=f">= {asked} answers",
            )
        )
        rows.append(Row(table="serve", what="start until ready", ours=ready, unit="s", target="<= 3 s"))
        with serving(place / "total.lua") as (ours, _):
            rows += large(place, ours, quick)
    return rows


def small(place: Path, ours: str, theirs: str, quick: bool) -> Iterator[Row]:
    """One digit a request, from 1, 8 and 64 clients."""
    x = np.random.default_rng(0).random((1000, 64), np.float32)
    load.requests(
        place / "ours.lua",
        [load.oip_json(row[None]) for row in x],
    )
    load.requests(place / "theirs.lua", [load.json_body({"inputs": [row.tolist()]}) for row in x])
    for clients in (1, 8, 64):
        here: list[load.Measured] = []
        there: list[load.Measured] = []
        for _ in range(1 if quick else 5):
            seconds = 1 if quick else 2
            here.append(load.wrk(f"{ours}/v2/models/digits/infer", place / "ours.lua", clients, seconds))
            there.append(load.wrk(f"{theirs}/predict", place / "theirs.lua", clients, seconds))
        named = f"{clients} client{'s' * (clients > 1)}"
        for what, unit, pick, target in (
            ("requests", "1/s", lambda one: one.rate, {64: ">= 2x"}),
            ("median", "us", lambda one: one.median, {1: "<= 1.5x"}),
            ("99 % within", "us", lambda one: one.slow, {64: "<= 1x"}),
        ):
            yield Row(
                table="serve, one digit a request",
                what=f"{named}: {what}",
                ours=median(map(pick, here)),
                theirs=median(map(pick, there)),
                unit=unit,
                peer=PEER,
                target=target.get(clients, ""),
            )


def large(place: Path, ours: str, quick: bool) -> Iterator[Row]:
    """A tensor of 1 MiB a request, as bytes and as JSON."""
    x = np.random.default_rng(0).random((1, LARGE), np.float32)
    load.requests(place / "bytes.lua", [load.oip_bytes(x, "x")], header=load.oip_header(x, "x"))
    load.requests(place / "json.lua", [load.oip_json(x, "x")])
    url = f"{ours}/v2/models/total/infer"
    rounds = [
        [load.wrk(url, place / f"{form}.lua", 2, 1 if quick else 3).rate for form in ("bytes", "json")]
        for _ in range(1 if quick else 3)
    ]
    as_bytes, as_json = (median(column) for column in zip(*rounds, strict=True))
    yield Row(
        table="serve, 1 MiB a request",
        what="2 clients: requests",
        ours=as_bytes,
        theirs=as_json,
        unit="1/s",
        peer="the same as JSON",
        target=">= 5x",
    )


@contextmanager
def serving(model: Path) -> Iterator[tuple[str, float]]:
    """Run `moontide serve`; its address, and the seconds until it was ready."""
    began = time.perf_counter()
    command = [
        sys.executable,
        "-m",
        "moontide",
        "serve",
        str(model),
        "--port",
        "0",
        "--no-grpc",
        "--log-level",
        "error",
    ]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            found = re.match(r"serving at (\S+);", process.stdout.readline())
            if found is None:
                raise RuntimeError("moontide serve did not start")
            yield found[1], time.perf_counter() - began
        finally:
            process.terminate()


@contextmanager
def fastapi(place: Path) -> Iterator[str]:
    """Run the peer; its address."""
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-m", "benchmarks.serve.fastapi_peer", str(place / "digits.t7")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as process:
        try:
            assert process.stdout is not None
            address = process.stdout.readline().strip()
            if not address:
                raise RuntimeError("the FastAPI application did not start")
            yield address
        finally:
            process.terminate()
