"""Load by wrk, and the bodies of requests."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

UNITS = {"us": 1.0, "ms": 1e3, "s": 1e6}  # in microseconds
SCRIPT = """
local bodies = dofile(%(file)s)
wrk.method = 'POST'
wrk.headers['content-type'] = 'application/json'
%(header)s
local place = 0
function request()
   place = place %% #bodies + 1
   return wrk.format(nil, nil, nil, bodies[place])
end
"""


@dataclass(frozen=True)
class Measured:
    """Requests a second, and latencies in microseconds: the median, and what 99 % keep within."""

    rate: float
    median: float
    slow: float


def requests(script: Path, bodies: Sequence[bytes], header: tuple[str, str] | None = None) -> None:
    """Write a script for wrk that sends these bodies in turn."""
    content = script.with_suffix(".bodies")
    content.write_bytes(b"return {" + b",\n".join(quoted(body) for body in bodies) + b"}")
    line = "" if header is None else f"wrk.headers['{header[0]}'] = '{header[1]}'"
    script.write_text(SCRIPT % {"file": f"'{content}'", "header": line})


def quoted(body: bytes) -> bytes:
    """Return bytes as Lua writes them."""
    return b"'" + b"".join(b"\\%03d" % one for one in body) + b"'"


def wrk(url: str, script: Path, clients: int, seconds: int) -> Measured:
    """Ask for so many seconds, from so many connections.

    Raises
    ------
    RuntimeError
        wrk is not there, or an answer was an error.
    """
    program = shutil.which("wrk")
    if program is None:
        raise RuntimeError("wrk is missing (Debian: apt-get install wrk)")
    # Where other programs have the processors, an answer may take longer than the 2 s that wrk waits by itself.
    options = f"-t1 -c{clients} -d{seconds} --timeout 30s --latency -s".split()
    command = [program, *options, str(script), url]
    done = subprocess.run(command, capture_output=True, text=True, timeout=seconds + 60, check=True)
    if "Non-2xx" in done.stdout or "Socket errors" in done.stdout:
        raise RuntimeError(done.stdout)
    rate = re.search(r"Requests/sec:\s+([\d.]+)", done.stdout)
    times = {
        percent: float(number) * UNITS[unit]
        for percent, number, unit in re.findall(r"(\d+)%\s+([\d.]+)(us|ms|s)\b", done.stdout)
    }
    if rate is None:
        raise RuntimeError(done.stdout)
    return Measured(float(rate[1]), times["50"], times["99"])


def json_body(value: Any) -> bytes:
    """Return a value as JSON."""
    return json.dumps(value).encode()


def head(x: NDArray[np.float32], name: str) -> dict[str, Any]:
    """Return what a request says of a tensor."""
    return {"name": name, "shape": list(x.shape), "datatype": "FP32"}


def oip_json(x: NDArray[np.float32], name: str = "input") -> bytes:
    """Return a request of the Open Inference Protocol with its tensor as text, as Triton's client writes it."""
    return json_body({"inputs": [{**head(x, name), "data": x.ravel().tolist()}]})


def oip_text(x: NDArray[np.float32], name: str) -> bytes:
    """Return the JSON in front of a tensor's bytes."""
    return json_body({"inputs": [{**head(x, name), "parameters": {"binary_data_size": x.nbytes}}]})


def oip_bytes(x: NDArray[np.float32], name: str) -> bytes:
    """Return a request with its tensor as bytes."""
    return oip_text(x, name) + x.tobytes()


def oip_header(x: NDArray[np.float32], name: str) -> tuple[str, str]:
    """Return the header that tells where the bytes begin."""
    return "Inference-Header-Content-Length", str(len(oip_text(x, name)))
