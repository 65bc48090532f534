"""A model's configuration in the form of Triton's, which Triton's clients and load generators read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from bridge.models import TensorSpec
from bridge.serve.engine.datatypes import NAMES
from bridge.serve.engine.settings import ModelSettings
from bridge.serve.engine.tensors import sizes
from bridge.serve.process import Description

# In the order of their numbers in gRPC's messages.
TYPES = (
    "TYPE_INVALID",
    "TYPE_BOOL",
    *(f"TYPE_{sign}INT{bits}" for sign in ("U", "") for bits in (8, 16, 32, 64)),
    *(f"TYPE_FP{bits}" for bits in (16, 32, 64)),
    "TYPE_STRING",
)
KINDS = ("KIND_AUTO", "KIND_GPU", "KIND_CPU")


def config(name: str, file: Path, told: Description, settings: ModelSettings, rows: int) -> dict[str, Any]:
    """Return the configuration of a model of which up to `rows` rows are computed together.

    As in Triton, if that is more than one, it is `max_batch_size` and the shapes of inputs and outputs are those of a
    row; else `max_batch_size` is 0 and the shapes are complete. Unknown inputs and outputs are left out.
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
    """Whether a tensor's first dimension may have any size: it is that of rows."""
    return spec.shape is not None and spec.shape[:1] == (None,)


def tensor(spec: TensorSpec, *, batched: bool) -> dict[str, Any]:
    """Return the entry of an input or output in a configuration."""
    kind = NAMES.get(spec.dtype or "float32", "STRING")
    return {"name": spec.name, "data_type": f"TYPE_{kind}", "dims": sizes(spec)[batched:]}
