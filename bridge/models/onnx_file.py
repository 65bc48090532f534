"""Loading the graph of an .onnx file, which onnxruntime runs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from bridge.lua import Lua
from bridge.models.model import Model, TensorSpec

TYPES = {
    "tensor(float)": "float32", "tensor(double)": "float64", "tensor(float16)": "float16", "tensor(bool)": "bool",
    **{f"tensor({sign}int{bits})": f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)},
}  # fmt: skip
PROVIDERS = {"cpu": "CPUExecutionProvider", "cuda": "CUDAExecutionProvider"}


def load(_lua: Lua, path: Path, *, function: str | None, device: str, **_: Any) -> Model:
    """Load the graph."""
    try:
        import onnxruntime
    except ImportError as error:
        raise ImportError(f"{path}: onnxruntime runs .onnx files; pip install onnxruntime") from error
    if function not in (None, "forward"):
        raise ValueError(f"{path} has one function, 'forward'; {function!r} was asked for")
    kind, *number = device.split(":")
    there = onnxruntime.get_available_providers()
    if PROVIDERS.get(kind) not in there:
        raise ValueError(f"device={device!r}: this onnxruntime has {', '.join(there)}")
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    provider = (PROVIDERS[kind], {"device_id": number[0]} if number else {})
    try:
        session = onnxruntime.InferenceSession(str(path), options, providers=[provider])
    except Exception as error:  # the classes of its errors are not public
        raise RuntimeError(f"{path} is no graph that onnxruntime runs: {error}") from error
    inputs = tuple(spec(one) for one in session.get_inputs())

    def forward(*arguments: Any) -> Any:
        given = {one.name: np.asarray(value, one.dtype) for one, value in zip(inputs, arguments, strict=True)}
        results = session.run(None, given)
        return results[0] if len(results) == 1 else results

    return Model(
        file=str(path),
        platform="onnx",
        functions={"forward": forward},
        parameters={"forward": [one.name for one in inputs]},
        default="forward",
        inputs=inputs,
        outputs=tuple(spec(one) for one in session.get_outputs()),
        by_row=True,
    )


def spec(one: Any) -> TensorSpec:
    """Return the spec of a graph's input or output; a size that has a name may vary."""
    return TensorSpec(
        one.name, TYPES.get(one.type), tuple(size if isinstance(size, int) else None for size in one.shape)
    )
