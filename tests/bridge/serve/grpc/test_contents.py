"""Inputs travel as raw bytes or in the field of their type; what does not fit is refused by the input's name."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from bridge.serve.engine import Reason, Refused
from bridge.serve.grpc.contents import FIELDS, fill, inputs
from bridge.serve.grpc.messages import MESSAGES

EXTREMES = {
    "BOOL": [True, False],
    **{f"INT{n}": [-(1 << n - 1), (1 << n - 1) - 1] for n in (8, 16, 32, 64)},
    **{f"UINT{n}": [0, (1 << n) - 1] for n in (8, 16, 32, 64)},
    "FP32": [1.5, float("inf")],
    "FP64": [1e300, -0.1],
    "BYTES": ["\u00e4", b"\xff"],
}


def request(kind: str, shape: list[int], **contents: list[Any]) -> Any:
    row = {"name": "x", "datatype": kind, "shape": shape, "contents": contents}
    return MESSAGES["ModelInferRequest"](inputs=[row])


def written(values: list[Any]) -> list[Any]:
    return [one.encode() if isinstance(one, str) else one for one in values]


@pytest.mark.parametrize("kind", FIELDS)
def test_typed_contents_keep_the_extremes_of_their_type_both_ways(kind: str) -> None:
    values = EXTREMES[kind]
    found = inputs(request(kind, [2, 1], **{FIELDS[kind]: written(values)}))["x"]
    assert (found.tolist() if isinstance(found, np.ndarray) else found) == [[one] for one in values]
    response = MESSAGES["ModelInferResponse"]()
    fill(response, {"y": found}, raw=False)
    (row,) = response.outputs
    assert (row.name, row.datatype, list(row.shape)) == ("y", kind, [2, 1])
    assert list(getattr(row.contents, FIELDS[kind])) == written(values)
    assert not response.raw_output_contents


@pytest.mark.parametrize(
    ("wrong", "pattern"),
    [
        (request("INT8", [1], int_contents=[128]), "'x' has numbers that are beyond INT8"),
        (request("UINT16", [1], uint_contents=[65536]), "'x' has numbers that are beyond UINT16"),
        (request("FP32", [2], fp32_contents=[1]), r"'x' has 1 elements in fp32_contents, shape \[2\] has 2"),
        (request("FP32", [1], fp32_contents=[1, 2]), r"'x' has 2 elements in fp32_contents, shape \[1\] has 1"),
        (request("FP32", [1]), "'x' has 0 elements in fp32_contents"),
        (request("FP32", [1], fp64_contents=[1]), "'x' has fp64_contents, fp32_contents was expected for FP32"),
        (
            request("INT64", [1], int64_contents=[1], int_contents=[1]),
            "'x' has int_contents, int64_contents was expected",
        ),
        (request("FP16", [1], fp32_contents=[1]), "FP16, which travels in raw_input_contents only"),
        (request("FP8", [1]), "datatype 'FP8'; there is BOOL"),
        (request("", [1]), "datatype ''; there is BOOL"),
        (request("FP32", [-1], fp32_contents=[1]), r"'x' has shape \[-1\], with a size below 0"),
        (request("FP32", [1 << 62, 0]), "'x' has shape .* no memory has room"),
        (request("BYTES", [2], bytes_contents=[b"a"]), "'x' has 1 elements in bytes_contents"),
    ],
    ids=str,
)  # fmt: skip
def test_contents_that_do_not_fit_are_refused_with_the_input_s_name(wrong: Any, pattern: str) -> None:
    with pytest.raises(Refused, match=pattern) as raised:
        inputs(wrong)
    assert raised.value.reason is Reason.INVALID


def raw(contents: list[bytes], *rows: dict[str, Any]) -> Any:
    plain = {"name": "x", "datatype": "INT8", "shape": [1]}
    return MESSAGES["ModelInferRequest"](
        inputs=[{**plain, **row} for row in rows], raw_input_contents=contents
    )


@pytest.mark.parametrize(
    ("wrong", "pattern"),
    [
        (raw([b"\x01"], {}, {"name": "y"}), "1 raw_input_contents for 2 inputs"),
        (raw([b"\x01"] * 2, {}), "2 raw_input_contents for 1 inputs"),
        (raw([b"\x01"]), "1 raw_input_contents for 0 inputs"),
        (raw([b"\x01"] * 2, {}, {}), "two inputs are called 'x'"),
        (raw([b"\x01"], {"contents": {"int_contents": [1]}}), "'x' has contents, and .* raw_input_contents"),
        (raw([b"\x01\x02"], {}), r"'x' has 2 bytes, INT8 of shape \[1\] has 1"),
    ],
    ids=str,
)
def test_raw_contents_that_do_not_fit_are_refused(wrong: Any, pattern: str) -> None:
    with pytest.raises(Refused, match=pattern) as raised:
        inputs(wrong)
    assert raised.value.reason is Reason.INVALID


def test_a_tensor_without_elements_needs_no_contents() -> None:
    found = inputs(request("FP32", [0, 3]))["x"]
    assert isinstance(found, np.ndarray)
    assert found.shape == (0, 3)


def test_numbers_of_16_bits_have_no_typed_contents() -> None:
    with pytest.raises(Refused, match="output 'y' has datatype FP16, which travels as raw bytes only"):
        fill(MESSAGES["ModelInferResponse"](), {"y": np.zeros(1, "f2")}, raw=False)
