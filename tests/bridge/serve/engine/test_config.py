"""A model's configuration is Triton's: its names, and sizes of a row where rows go together."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from google.protobuf import json_format
from tritonclient.grpc import model_config_pb2

from bridge.models import TensorSpec
from bridge.serve.engine import ModelSettings
from bridge.serve.engine.config import KINDS, TYPES, config
from bridge.serve.engine.datatypes import KINDS as DATATYPES
from bridge.serve.process import Description


def told_of(
    *inputs: TensorSpec, outputs: tuple[TensorSpec, ...] | None = None, rows: int = 32, **settings: Any
) -> dict[str, Any]:
    description = Description("onnx", {}, inputs=inputs, outputs=outputs)
    return config("net", Path("there/net.onnx"), description, ModelSettings(**settings), rows)


def test_names_and_numbers_are_triton_s() -> None:
    numbers = model_config_pb2.DataType.items()
    assert dict(numbers[: len(TYPES)]) == {name: number for number, name in enumerate(TYPES)}
    assert {f"TYPE_{kind}" for kind in DATATYPES} | {"TYPE_INVALID", "TYPE_STRING"} == set(TYPES)
    kinds = model_config_pb2.ModelInstanceGroup.Kind.items()
    assert dict(kinds[: len(KINDS)]) == {name: number for number, name in enumerate(KINDS)}


def test_rows_that_go_together_are_no_part_of_the_sizes() -> None:
    told = told_of(
        TensorSpec("x", "float32", (None, 3, None)),
        outputs=(TensorSpec("y", "int64", (None,)),),
        workers=2,
        batch_wait=0.0015,
    )
    assert (told["name"], told["max_batch_size"], told["default_model_filename"]) == ("net", 32, "net.onnx")
    assert told["input"] == [{"name": "x", "data_type": "TYPE_FP32", "dims": [3, -1]}]
    assert told["output"] == [{"name": "y", "data_type": "TYPE_INT64", "dims": []}]
    assert told["dynamic_batching"] == {"max_queue_delay_microseconds": 1500}
    assert told["instance_group"] == [{"name": "net", "kind": "KIND_CPU", "count": 2}]


@pytest.mark.parametrize(
    ("spec", "rows", "dims"),
    [
        (TensorSpec("x", "float32", (None, 3)), 1, [-1, 3]),
        (TensorSpec("x", "float32", (1, 3)), 32, [1, 3]),
        (TensorSpec("x", "str"), 8, [-1]),
    ],
    ids=["alone", "fixed", "unknown"],
)
def test_without_batches_sizes_are_whole(spec: TensorSpec, rows: int, dims: list[int]) -> None:
    told = told_of(spec, rows=rows)
    assert told["max_batch_size"] == 0
    assert told["input"][0]["dims"] == dims
    assert "dynamic_batching" not in told


def test_a_device_is_a_gpu_s() -> None:
    assert told_of(device="cuda:1")["instance_group"][0]["kind"] == "KIND_GPU"


def test_triton_reads_it() -> None:
    told = told_of(TensorSpec("x", "float16", (None, 2)), TensorSpec("t", "str", (None,)))
    read = json_format.ParseDict(told, model_config_pb2.ModelConfig())
    assert [one.data_type for one in read.input] == [model_config_pb2.TYPE_FP16, model_config_pb2.TYPE_STRING]
    assert read.WhichOneof("scheduling_choice") == "dynamic_batching"
    assert read.version_policy.WhichOneof("policy_choice") == "all"
