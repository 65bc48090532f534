"""How a model is served, in the words of Triton's model configuration: what its clients and load generators ask for."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from bridge.models import TensorSpec
from bridge.serve.engine.datatypes import NAMES
from bridge.serve.engine.settings import ModelSettings
from bridge.serve.engine.tensors import sizes
from bridge.serve.process import Description

# In the order of their numbers on gRPC's wire.
TYPES = (
    "TYPE_INVALID",
    "TYPE_BOOL",
    *(f"TYPE_{sign}INT{bits}" for sign in ("U", "") for bits in (8, 16, 32, 64)),
    *(f"TYPE_FP{bits}" for bits in (16, 32, 64)),
    "TYPE_STRING",
)
KINDS = ("KIND_AUTO", "KIND_GPU", "KIND_CPU")


def config(name: str, file: Path, told: Description, settings: ModelSettings, rows: int) -> dict[str, Any]:
    """Return the configuration of a model of which so many rows go together.

    Where there are several, `max_batch_size` says how many, and the sizes of inputs and outputs are those of a row, as
    Triton has it; else it is 0, and the sizes are whole. Inputs and outputs that are not known are left out.
    """
    inputs, outputs = told.inputs or (), told.outputs or ()
    batched = rows > 1 and bool(inputs) and all(has_rows(one) for one in (*inputs, *outputs))
    found: dict[str, Any] = {
        "name": name,
        "platform": f"moontide_{told.platform}",
        "backend": "moontide",
        "version_policy": {"all": {}},
        "max_batch_size": rows if batched else 0,
        "input": [tensor(one, batched=batched) for one in inputs],
        "output": [tensor(one, batched=batched) for one in outputs],
        "instance_group": [
            {
                "name": name,
                "kind": "KIND_CPU" if settings.device == "cpu" else "KIND_GPU",
                "count": settings.workers,
            }
        ],
        "default_model_filename": file.name,
    }
    if batched:
        found["dynamic_batching"] = {"max_queue_delay_microseconds": round(settings.batch_wait * 1e6)}
    return found


def has_rows(spec: TensorSpec) -> bool:
    """Whether a tensor's first dimension is open: that of rows."""
    return spec.shape is not None and spec.shape[:1] == (None,)


def tensor(spec: TensorSpec, *, batched: bool) -> dict[str, Any]:
    """Return what a configuration says of an input or output."""
    kind = NAMES.get(spec.dtype or "float32", "STRING")
    return {"name": spec.name, "data_type": f"TYPE_{kind}", "dims": sizes(spec)[batched:]}
