"""The protocol's text: what is a request, what is not, and what an answer looks like."""

from __future__ import annotations

import json
import random
import struct
from typing import Any

import numpy as np
import pytest

from bridge.serve.engine import Reason, Refused
from bridge.serve.engine.datatypes import KINDS, decoded, encoded
from bridge.serve.rest import oip

ONE = {"name": "x", "datatype": "FP32", "shape": [2, 2], "data": [1, 2, 3, 4]}


def asked(*inputs: Any, **more: Any) -> oip.InferRequest:
    return oip.request(json.dumps({"inputs": list(inputs), **more}).encode(), None)


def binary(head: dict[str, Any], *parts: bytes) -> oip.InferRequest:
    text = json.dumps(head).encode()
    return oip.request(text + b"".join(parts), str(len(text)).encode())


def refused(*inputs: Any, **more: Any) -> str:
    with pytest.raises(Refused) as raised:
        asked(*inputs, **more)
    assert raised.value.reason is Reason.INVALID
    return str(raised.value)


@pytest.mark.parametrize("data", [[1, 2, 3, 4], [[1, 2], [3, 4]], [1.0, 2.0, 3.0, 4.0]])
@pytest.mark.parametrize("datatype", ["FP16", "FP32", "FP64"])
def test_numbers_flat_and_nested(datatype: str, data: list[Any]) -> None:
    value = asked({**ONE, "datatype": datatype, "data": data}).inputs["x"]
    assert isinstance(value, np.ndarray)
    assert (value.dtype, value.tolist()) == (KINDS[datatype], [[1, 2], [3, 4]])


@pytest.mark.parametrize("datatype", sorted(KINDS))
def test_each_type_goes_both_ways_as_text_and_as_bytes(datatype: str) -> None:
    value = np.array([[0, 1, 1], [1, 0, 1]]).astype(KINDS[datatype])
    for is_binary in (False, True):
        wanted = oip.InferRequest("7", {}, None, is_binary)
        body, length = oip.response(wanted, "m", "3", {"y": value})
        head = json.loads(body if length is None else body[:length])
        assert (head["model_name"], head["model_version"], head["id"]) == ("m", "3", "7")
        again = {"inputs": [{**head["outputs"][0], "name": "x"}]}
        rest = b"" if length is None else body[length:]
        back = binary(again, rest).inputs["x"]
        assert isinstance(back, np.ndarray)
        assert back.dtype == value.dtype
        assert np.array_equal(back, value)


def test_texts_go_both_ways_as_text_and_as_bytes() -> None:
    texts = [["a", "\u00e4\u4e2d"], ["", "d"]]
    flat = ["a", "\u00e4\u4e2d", "", "d"]
    head = {"name": "x", "datatype": "BYTES", "shape": [2, 2]}
    for data in (flat, texts):
        assert asked({**head, "data": data}).inputs["x"] == texts
    raw = encoded(texts)
    assert decoded("BYTES", [2, 2], raw, "x") == texts
    assert decoded("BYTES", [1], struct.pack("<I", 2) + b"\xff\xfe", "x") == [b"\xff\xfe"]
    body, length = oip.response(oip.InferRequest(None, {}, None, False), "m", "1", {"y": texts})
    assert length is None
    assert json.loads(body)["outputs"][0] == {"name": "y", "datatype": "BYTES", "shape": [2, 2], "data": flat}


def test_what_json_has_no_number_for_is_null() -> None:
    y = np.array([1.0, np.nan, np.inf], np.float32)
    body, _ = oip.response(oip.InferRequest(None, {}, None, False), "m", "1", {"y": y})
    assert json.loads(body)["outputs"][0]["data"] == [1.0, None, None]


def test_outputs_are_chosen_by_name_each_in_its_form() -> None:
    outputs = {"a": np.ones(2, np.float32), "b": np.zeros(1, np.int64)}
    wanted = [{"name": "b", "parameters": {"binary_data": True}}, {"name": "a"}]
    request = asked(ONE, outputs=wanted)
    body, length = oip.response(request, "m", "1", outputs)
    assert length is not None
    head = json.loads(body[:length])
    assert [one["name"] for one in head["outputs"]] == ["b", "a"]
    assert body[length:] == bytes(8)
    with pytest.raises(Refused, match="there is no output 'c'; there is a, b"):
        oip.response(asked(ONE, outputs=[{"name": "c"}]), "m", "1", outputs)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"name": 3}, "is no object with a 'name'"),
        ({"datatype": "FP31"}, "has datatype 'FP31'; there is BOOL"),
        ({"datatype": None}, "has datatype None"),
        ({"shape": [2, -2]}, "a list of numbers of 0 and above was expected"),
        ({"shape": [2, 2.0]}, "a list of numbers of 0 and above was expected"),
        ({"shape": [True, 4]}, "a list of numbers of 0 and above was expected"),
        ({"shape": [3, 2]}, "do not fit datatype FP32, shape [3, 2]"),
        ({"shape": [1 << 62, 1 << 62]}, "do not fit"),
        ({"data": None}, "data that are no list"),
        ({"data": [1, 2, 3, "4"]}, "not all FP32"),
        ({"data": [1, [2], 3, 4]}, "do not fit"),
        ({"data": [1, 2, None, 4]}, "not all FP32"),
        ({"data": [{}, 2, 3, 4]}, "not all FP32"),
        ({"datatype": "INT32", "data": [1, 2, 3, 4.5]}, "not all INT32"),
        ({"datatype": "INT8", "data": [1, 2, 3, 128]}, "beyond INT8"),
        ({"datatype": "UINT8", "data": [1, 2, 3, -1]}, "beyond UINT8"),
        ({"datatype": "INT64", "data": [1, 2, 3, 1 << 70]}, "INT64"),
        ({"datatype": "BOOL", "data": [1, 0, 1, 0]}, "not all BOOL"),
        ({"datatype": "BYTES", "data": ["a", "b", "c"]}, "3 texts, shape [2, 2] has 4"),
        ({"datatype": "BYTES", "data": ["a", "b", "c", 4]}, "not all texts"),
        ({"parameters": 3}, "'parameters' is no object"),
        ({"parameters": {"binary_data_size": 4}}, "binary_data_size 4, and 0 bytes are left"),
        ({"parameters": {"binary_data_size": True}}, "binary_data_size True"),
    ],
)
def test_what_is_no_tensor_is_told(change: dict[str, Any], told: str) -> None:
    assert told in refused({**ONE, **change})


def test_what_is_no_request_is_told() -> None:
    for body, told in (
        (b"", "no JSON"),
        (b"{", "no JSON"),
        (b'{"inputs": [NaN]}', "no JSON"),
        (b"[" * 100_000, "no JSON"),
        (b"[]", "a list 'inputs'"),
        (b'{"inputs": {}}', "a list 'inputs'"),
        (b'{"inputs": [3]}', "input 0 (counted from 0)"),
    ):
        with pytest.raises(Refused, match=told.replace("(", r"\(").replace(")", r"\)")):
            oip.request(body, None)
    assert "has no 'data'" in refused({k: v for k, v in ONE.items() if k != "data"})
    assert "two inputs are called 'x'" in refused(ONE, ONE)
    assert "'id' is no text" in refused(ONE, id=3)
    assert "'outputs' is no list" in refused(ONE, outputs=["y"])
    assert "neither true nor false" in refused(ONE, parameters={"binary_data_output": 1})
    assert "classification" in refused(ONE, outputs=[{"name": "y", "parameters": {"classification": 3}}])


def test_bytes_must_be_as_many_as_are_told() -> None:
    head = {"inputs": [{**ONE, "parameters": {"binary_data_size": 16}}]}
    assert np.array_equal(binary(head, np.arange(4, dtype="<f4").tobytes()).inputs["x"], [[0, 1], [2, 3]])
    for parts, told in (
        ((bytes(15),), "15 bytes are left"),
        ((bytes(17),), "1 bytes behind the last binary tensor"),
    ):
        with pytest.raises(Refused, match=told):
            binary(head, *parts)
    short = {"inputs": [{**ONE, "parameters": {"binary_data_size": 12}}]}
    with pytest.raises(Refused, match=r"12 bytes, FP32 of shape \[2, 2\] has 16"):
        binary(short, bytes(12))
    for length in (b"-1", b"x", b"1000"):
        with pytest.raises(Refused, match="inference-header-content-length"):
            oip.request(b"{}", length)
    for raw in (b"\1", b"\2\0\0\0a", b"\xff\xff\xff\xffabc"):
        with pytest.raises(Refused, match="ends in the middle of a text"):
            decoded("BYTES", [1], raw, "x")


def test_damaged_requests_are_refused_or_read_never_more() -> None:
    draw = random.Random(11)
    text = json.dumps(
        {"id": "1", "inputs": [ONE, {**ONE, "name": "b", "parameters": {"binary_data_size": 16}}]}
    )
    whole = text.encode() + np.ones(4, np.float32).tobytes()
    refusals = 0
    for _ in range(5000):
        body = bytearray(whole)
        for _ in range(draw.randint(1, 4)):
            place = draw.randrange(len(body))
            match draw.randrange(3):
                case 0:
                    body[place] = draw.randrange(256)
                case 1:
                    del body[place : place + draw.randint(1, 9)]
                case 2:
                    body[place:place] = bytes(draw.choices(b'[]{}",:0123456789eE-.nulltrue', k=3))
        try:
            request = oip.request(bytes(body), str(len(text) + draw.choice([0, 0, 0, -1, 1])).encode())
        except Refused:
            refusals += 1
        else:
            assert isinstance(request.inputs, dict)
    assert refusals > 2500
