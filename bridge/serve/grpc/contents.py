"""Converting tensors in messages to those of the service, and outputs to tensors in a response.

A message has its tensors either as raw bytes, in one list for all, or each in a field for its type.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from bridge.serve.engine.datatypes import KINDS, datatype, decoded, elements, encoded, flat, nested
from bridge.serve.engine.refused import Reason, Refused
from bridge.serve.engine.tensors import Tensor, shape_of

# The field for each type. FP16 has none and can only be sent as raw bytes.
FIELDS = {
    "BOOL": "bool_contents",
    **dict.fromkeys(("INT8", "INT16", "INT32"), "int_contents"),
    "INT64": "int64_contents",
    **dict.fromkeys(("UINT8", "UINT16", "UINT32"), "uint_contents"),
    "UINT64": "uint64_contents",
    "FP32": "fp32_contents",
    "FP64": "fp64_contents",
    "BYTES": "bytes_contents",
}
# Parameters for features of Triton that this server does not have, and the error for each.
NOT_OFFERED = {
    "shared_memory_region": "tensors in shared memory are not offered: send and take them in the messages",
    "classification": "outputs as classification are not offered: take the scores",
}


def invalid(text: str) -> Refused:
    """Return the exception for a wrong request."""
    return Refused(Reason.INVALID, text)


def parameters(entries: Iterable[Any]) -> dict[str, Any]:
    """Return parameters by name.

    Raises
    ------
    Refused
        One asks for a feature that this server does not have.
    """
    found = {}
    for entry in entries:
        if entry.key in NOT_OFFERED:
            raise Refused(Reason.UNSUPPORTED, NOT_OFFERED[entry.key])
        kind = entry.value.WhichOneof("choice")
        found[entry.key] = None if kind is None else getattr(entry.value, kind)
    return found


def inputs(request: Any) -> dict[str, Tensor]:
    """Return a request's tensors by name; arrays may share the request's memory.

    Raises
    ------
    Refused
        A tensor is not valid; the message names it and says what it has and what was expected.
    """
    raw = request.raw_input_contents
    if raw and len(raw) != len(request.inputs):
        raise invalid(f"the request has {len(raw)} raw_input_contents for {len(request.inputs)} inputs")
    found: dict[str, Tensor] = {}
    for place, one in enumerate(request.inputs):
        name = one.name
        if name in found:
            raise invalid(f"two inputs are called {name!r}")
        parameters(one.parameters)
        if not raw:
            found[name] = typed(name, one.datatype, one.shape, one.contents)
        elif one.HasField("contents"):
            raise invalid(f"input {name!r} has contents, and the request has raw_input_contents too")
        else:
            found[name] = decoded(one.datatype, one.shape, raw[place], name)
    return found


def typed(name: str, kind: str, shape: Sequence[int], contents: Any) -> Tensor:
    """Return a tensor from the field for its type.

    Raises
    ------
    Refused
        There are too few or too many elements, one does not fit the type, or they are in another type's field.
    """
    if kind == "FP16":
        raise invalid(f"input {name!r} has datatype FP16, which travels in raw_input_contents only")
    if kind not in FIELDS:
        raise invalid(f"input {name!r} has datatype {kind!r}; there is {', '.join([*KINDS, 'BYTES'])}")
    others = [field.name for field, _ in contents.ListFields() if field.name != FIELDS[kind]]
    if others:
        raise invalid(f"input {name!r} has {others[0]}, {FIELDS[kind]} was expected for {kind}")
    values = getattr(contents, FIELDS[kind])
    needed = elements(name, shape)
    if len(values) != needed:
        raise invalid(
            f"input {name!r} has {len(values)} elements in {FIELDS[kind]}, shape {list(shape)} has {needed}"
        )
    if kind == "BYTES":
        return nested(name, shape, [text(one) for one in values])
    dtype = KINDS[kind]
    wide = np.dtype(f"{dtype.kind}{max(dtype.itemsize, 4)}") if dtype.kind in "iu" else dtype
    found = np.fromiter(values, wide, needed)
    value = found.astype(dtype, copy=False)
    if dtype.kind in "iu" and not np.array_equal(value, found):
        raise invalid(f"input {name!r} has numbers that are beyond {kind}")
    return value.reshape(shape)


def text(content: bytes) -> str | bytes:
    """Return bytes as text; bytes that are not UTF-8 are returned unchanged."""
    try:
        return content.decode()
    except UnicodeDecodeError:
        return content


def wanted(request: Any, outputs: Mapping[str, Tensor]) -> Mapping[str, Tensor]:
    """Return the outputs that a request asks for, in its order; all outputs if it names none.

    Raises
    ------
    Refused
        The model does not have one of them.
    """
    if not request.outputs:
        return outputs
    missing = [one.name for one in request.outputs if one.name not in outputs]
    if missing:
        raise invalid(f"there is no output {missing[0]!r}; there is {', '.join(outputs)}")
    return {one.name: outputs[one.name] for one in request.outputs}


def fill(response: Any, outputs: Mapping[str, Tensor], *, raw: bool) -> None:
    """Put outputs into a response, as raw bytes or in the fields of their types.

    Raises
    ------
    Refused
        There is no field for an output's type.
    """
    for name, value in outputs.items():
        kind = datatype(value)
        row = response.outputs.add(name=name, datatype=kind, shape=shape_of(value))
        if raw:
            response.raw_output_contents.append(bytes(encoded(value)))
        elif kind not in FIELDS:
            raise invalid(f"output {name!r} has datatype {kind}, which travels as raw bytes only")
        else:
            getattr(row.contents, FIELDS[kind]).extend(plain(value))


def plain(value: Tensor) -> Iterable[Any]:
    """Return a tensor's elements in one list."""
    if isinstance(value, np.ndarray):
        elements: list[Any] = value.reshape(-1).tolist()
        return elements
    return (one.encode() if isinstance(one, str) else one for one in flat(value))
