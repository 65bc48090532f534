"""One server for the tests that leave it as it was, and clients of it."""

from __future__ import annotations

import contextlib
import gc
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import grpc
import numpy as np
import onnx
import pytest
import tritonclient.grpc as triton
from onnx import TensorProto, helper

import bridge
from bridge.serve.engine import ModelSettings
from tests.bridge.serve.grpc.answering import PATIENCE, Answering, answering

LIMIT = 1 << 20  # bytes of a message
PROGRAM = """
require 'torch'
local M = {}
function M.run(what, x, y)
   what = type(what) == 'table' and what[1] or what
   if what == 'nap' then require('ffi').C.usleep(x[1] * 1e6) return x
   elseif what == 'zeros' then return torch.zeros(x[1])
   elseif what == 'error' then error(x and x[1] or 'no such luck')
   elseif what == 'two' then return {first = x, second = y}
   elseif what == 'long' then return {('a'):rep(100000), 'b', '\\255'}
   end
   return x
end
require('ffi').cdef 'int usleep(unsigned);'
return M
"""
# numpy's types that an ONNX graph takes and gives here, by the name of the input.
NUMBERS = {
    "bool": TensorProto.BOOL,
    **{f"{sign}int{n}": getattr(TensorProto, f"{sign.upper()}INT{n}") for sign in ("", "u") for n in (8, 16, 32, 64)},
    "float16": TensorProto.FLOAT16,
    "float32": TensorProto.FLOAT,
    "float64": TensorProto.DOUBLE,
}  # fmt: skip


def save_types(file: Path) -> None:
    """Write a graph that gives each of its inputs back; their sizes are open, their number is two."""
    rows = {kind: ["rows", "columns"] for kind in NUMBERS}
    graph = helper.make_graph(
        [helper.make_node("Identity", [kind], [f"{kind}_out"]) for kind in NUMBERS],
        "types",
        [helper.make_tensor_value_info(kind, NUMBERS[kind], rows[kind]) for kind in NUMBERS],
        [helper.make_tensor_value_info(f"{kind}_out", NUMBERS[kind], rows[kind]) for kind in NUMBERS],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.save(model, str(file))


def save_scale(file: Path, scale: float) -> None:
    """Write a network of two numbers to two, times a scale."""
    with bridge.Lua() as lua:
        lua.execute(
            """
            require 'nn'
            local file, scale = ...
            local net = nn.Linear(2, 2)
            net.weight:eye(2)
            net.bias:zero()
            torch.save(file, nn.Sequential():add(net):add(nn.MulConstant(scale)):float())
            """,
            str(file),
            scale,
        )


@pytest.fixture(scope="package")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory with a network, a file of functions, and a graph of all types."""
    directory = tmp_path_factory.mktemp("models")
    for version, scale in {"1": 2, "2": 3}.items():
        (directory / "scale" / version).mkdir(parents=True)
        save_scale(directory / "scale" / version / "net.t7", scale)
    save_types(directory / "types.onnx")
    (directory / "program.lua").write_text(PROGRAM)
    return directory


@pytest.fixture(scope="package")
def server(models: Path) -> Iterator[Answering]:
    settings = ModelSettings(batch_wait=0.0, timeout=5.0)
    zeros = {"what": ["zeros"], "x": np.array([LIMIT])}
    rows = {kind: np.zeros((1, 1), kind) for kind in NUMBERS}
    with answering(models, settings=settings, body_limit=LIMIT) as running:
        # Mappings that no test needs to replace by larger ones.
        for version in ("1", "2"):
            running.run(running.service.infer("scale", {"input": np.zeros((100, 2), "f4")}, version))
        running.run(running.service.infer("types", rows))
        running.run(running.service.infer("program", zeros))
        running.run(running.service.infer("program", {"what": ["echo"], "x": np.zeros(LIMIT, "u1")}))
        yield running
    until = time.monotonic() + PATIENCE
    while polling() and time.monotonic() < until:
        gc.collect()
    assert polling() == []


def polling() -> list[str]:
    """gRPC's own thread, which is there as long as anything that asyncio did with gRPC."""
    return [thread.name for thread in threading.enumerate() if "_poll_wrapper" in thread.name]


@pytest.fixture
def client(server: Answering) -> Iterator[triton.InferenceServerClient]:
    with contextlib.closing(triton.InferenceServerClient(server.address)) as found:
        yield found


@pytest.fixture
def channel(server: Answering) -> Iterator[grpc.Channel]:
    with grpc.insecure_channel(server.address) as found:
        yield found


def given(name: str, value: np.ndarray) -> triton.InferInput:
    """Return an input of Triton's client."""
    kinds = {"object": "BYTES", "bool": "BOOL", "float16": "FP16", "float32": "FP32", "float64": "FP64"}
    found = triton.InferInput(name, list(value.shape), kinds.get(value.dtype.name, value.dtype.name.upper()))
    found.set_data_from_numpy(value)
    return found
