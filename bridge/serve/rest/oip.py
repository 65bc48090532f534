"""Requests and responses of the Open Inference Protocol, version 2: JSON, optionally followed by tensors as bytes.

In a body with binary tensors, a header has the length of the JSON; each tensor's bytes follow in the JSON's order.
JSON has no NaN and infinity: in outputs they are null.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import orjson

from bridge.serve.engine.datatypes import KINDS, datatype, decoded, encoded, flat, nested
from bridge.serve.engine.refused import Reason, Refused
from bridge.serve.engine.service import patience
from bridge.serve.engine.tensors import Tensor, shape_of

HEADER_LENGTH = b"inference-header-content-length"


@dataclass(frozen=True)
class InferRequest:
    """A request: tensors by name, and for each wanted output whether it is to be sent as bytes.

    `outputs` None: all outputs. `timeout` None: the server's.
    """

    id: str | None
    inputs: dict[str, Tensor]
    outputs: dict[str, bool] | None
    binary: bool
    timeout: float | None = None  # seconds


def invalid(text: str) -> Refused:
    """Return the exception for a wrong request."""
    return Refused(Reason.INVALID, text)


def request(body: bytes, header_length: bytes | None) -> InferRequest:
    """Return the request in a body.

    Raises
    ------
    Refused
        The body is not a valid request; the message says why.
    """
    if header_length is None:
        text, rest = body, memoryview(b"")
    else:
        if not header_length.isdigit() or int(header_length) > len(body):
            told = header_length.decode("latin-1")
            raise invalid(f"{HEADER_LENGTH.decode()}: {told!r}, but the body has {len(body)} bytes")
        length = int(header_length)
        text, rest = body[:length], memoryview(body)[length:]
    try:
        told = orjson.loads(text)
    except orjson.JSONDecodeError as error:
        raise invalid(f"the body is no JSON: {error}") from None
    if not isinstance(told, dict) or not isinstance(told.get("inputs"), list):
        raise invalid("expected a JSON object with a list 'inputs'")
    inputs: dict[str, Tensor] = {}
    for place, one in enumerate(told["inputs"]):
        name, value, rest = tensor(place, one, rest)
        if name in inputs:
            raise invalid(f"two inputs are called {name!r}")
        inputs[name] = value
    if len(rest):
        raise invalid(f"{len(rest)} bytes behind the last binary tensor")
    binary = flag(told, "binary_data_output")
    identity = told.get("id")
    if identity is not None and not isinstance(identity, str):
        raise invalid("'id' is no text")
    timeout = patience(parameters(told).get("timeout"))
    return InferRequest(identity, inputs, wanted(told.get("outputs"), binary), binary, timeout)


def wanted(told: Any, binary: bool) -> dict[str, bool] | None:
    """Return the outputs that a request asks for, each with whether it is to be sent as bytes."""
    if told is None:
        return None
    if not isinstance(told, list) or not all(
        isinstance(one, dict) and isinstance(one.get("name"), str) for one in told
    ):
        raise invalid("'outputs' is no list of objects with a 'name'")
    if any("classification" in parameters(one) for one in told):
        raise invalid("outputs as classification are not offered: take the scores")
    return {one["name"]: flag(one, "binary_data", binary) for one in told} or None


def parameters(told: dict[str, Any]) -> dict[str, Any]:
    """Return the parameters of a request, an input or an output."""
    given = told.get("parameters", {})
    if not isinstance(given, dict):
        raise invalid("'parameters' is no object")
    return given


def flag(told: dict[str, Any], name: str, default: bool = False) -> bool:
    """Return a parameter that is true or false."""
    value = parameters(told).get(name, default)
    if not isinstance(value, bool):
        raise invalid(f"parameter {name!r} is neither true nor false")
    return value


def tensor(place: int, told: Any, rest: memoryview) -> tuple[str, Tensor, memoryview]:
    """Return an input's name and value, and the rest of the binary data."""
    if not isinstance(told, dict) or not isinstance(told.get("name"), str):
        raise invalid(f"input {place} (counted from 0) is no object with a 'name'")
    name, kind, shape = told["name"], told.get("datatype"), told.get("shape")
    if not isinstance(kind, str) or (kind not in KINDS and kind != "BYTES"):
        raise invalid(f"input {name!r} has datatype {kind!r}; there is {', '.join([*KINDS, 'BYTES'])}")
    if not isinstance(shape, list) or not all(type(n) is int and n >= 0 for n in shape):
        raise invalid(f"input {name!r} has shape {shape!r}, a list of numbers of 0 and above was expected")
    size = parameters(told).get("binary_data_size")
    if size is None:
        if "data" not in told:
            raise invalid(f"input {name!r} has no 'data'")
        return name, plain(name, kind, shape, told["data"]), rest
    if type(size) is not int or not 0 <= size <= len(rest):
        raise invalid(f"input {name!r} has binary_data_size {size!r}, and {len(rest)} bytes are left")
    return name, decoded(kind, shape, rest[:size], name), rest[size:]


def plain(name: str, kind: str, shape: Sequence[int], data: Any) -> Tensor:
    """Return a tensor from data in JSON: nested lists, or a flat list in row-major order."""
    if not isinstance(data, list):
        raise invalid(f"input {name!r} has data that are no list")
    if kind == "BYTES":
        return texts(name, shape, data)
    try:
        found = np.asarray(data)
        dtype = KINDS[kind].newbyteorder("=")
        if found.size and found.dtype.kind not in {"f": "fiu", "i": "iu", "u": "iu", "b": "b"}[dtype.kind]:
            raise invalid(f"input {name!r} has data that are not all {kind}")
        value = found.astype(dtype)
        if dtype.kind in "iu" and not np.array_equal(value, found):
            raise invalid(f"input {name!r} has numbers that are beyond {kind}")
        return value.reshape(shape)
    except (ValueError, OverflowError) as error:
        raise invalid(
            f"input {name!r}: the data do not fit datatype {kind}, shape {list(shape)}: {error}"
        ) from None


def texts(name: str, shape: Sequence[int], data: list[Any]) -> list[Any]:
    """Return texts in lists nested by the shape."""
    found = list(flat(data))
    if not all(isinstance(one, str) for one in found):
        raise invalid(f"input {name!r} has data that are not all texts")
    return nested(name, shape, found)


def response(
    asked: InferRequest, model: str, version: str, outputs: Mapping[str, Tensor]
) -> tuple[bytes, int | None]:
    """Return a response's body, and the length of its JSON if bytes follow it.

    Raises
    ------
    Refused
        The request asks for an output that the model does not have.
    """
    if asked.outputs is not None:
        missing = [name for name in asked.outputs if name not in outputs]
        if missing:
            raise invalid(f"there is no output {missing[0]!r}; there is {', '.join(outputs)}")
        outputs = {name: outputs[name] for name in asked.outputs}
    told: list[dict[str, Any]] = []
    raw: list[bytes | memoryview] = []
    for name, value in outputs.items():
        row: dict[str, Any] = {"name": name, "datatype": datatype(value), "shape": shape_of(value)}
        if asked.binary if asked.outputs is None else asked.outputs[name]:
            content = encoded(value)
            row["parameters"] = {"binary_data_size": len(content)}
            raw.append(content)
        else:
            row["data"] = data(value)
        told.append(row)
    head = {"model_name": model, "model_version": version, "outputs": told}
    if asked.id is not None:
        head["id"] = asked.id
    text = orjson.dumps(head, option=orjson.OPT_SERIALIZE_NUMPY)
    return (b"".join([text, *raw]), len(text)) if raw else (text, None)


def data(value: Tensor) -> Any:
    """Return a tensor's elements in a flat list for JSON."""
    if isinstance(value, np.ndarray):
        numbers = value.reshape(-1)
        return numbers.astype(np.float32) if numbers.dtype == np.float16 else numbers
    return [one.decode(errors="replace") if isinstance(one, bytes) else one for one in flat(value)]
