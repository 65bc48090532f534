"""What is handed over wrongly is named, with what it should be; nothing of Python's own machinery shows."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import pyps

OUT = np.zeros((1, 2), np.float32)
MASKED: Any = np.ma.array([[1, 2]], mask=[[False, True]], dtype=np.float32)


@pytest.fixture
def server() -> Iterator[pyps.Server]:
    with pyps.Server(10, 2) as node:
        yield node


@pytest.fixture
def kv(server: pyps.Server) -> Iterator[pyps.Worker]:
    with server.worker() as worker:
        yield worker


OPERATIONS: dict[str, tuple[Callable[[Any], object], type[Exception], str]] = {
    "objects": (lambda kv: kv.push([1], np.array([[1, None]], object)), TypeError, "values is object, but"),
    "texts": (lambda kv: kv.push([1], np.array([["a", "b"]])), TypeError, "float32: convert it"),
    "complex": (lambda kv: kv.push([1], np.array([[1j, 2]])), TypeError, "values is complex128, but"),
    "swapped": (lambda kv: kv.push([1], OUT.astype(">f4")), TypeError, "values is byte-swapped float32"),
    "another type": (
        lambda kv: kv.push([1], OUT.astype("f8")),
        TypeError,
        "convert it, or create the server with dtype='float64'",
    ),
    "no keys": (
        lambda kv: kv.pull(np.array([1, None], object), OUT),
        TypeError,
        "keys must be integers, not object",
    ),
    "large keys": (lambda kv: kv.pull([2**70], OUT), ValueError, "keys do not fit into int64: [11805"),
    "masked values": (
        lambda kv: kv.push([1], MASKED),
        TypeError,
        "values has masked elements, which would be sent as well: fill them, values.filled(0)",
    ),
    "a masked output": (lambda kv: kv.pull([1], MASKED), TypeError, "values has masked elements"),
    "masked keys": (lambda kv: kv.pull(np.ma.array([1], mask=[1]), OUT), TypeError, "keys has masked"),
    "a timeout": (
        lambda kv: kv.barrier("soon"),
        TypeError,
        "timeout must be a number of seconds, not str",
    ),
}


@pytest.mark.parametrize("case", OPERATIONS)
def test_what_an_operation_does_not_take_is_named(kv: pyps.Worker, case: str) -> None:
    call, error, told = OPERATIONS[case]
    with pytest.raises(error, match=re.escape(told)) as raised:
        call(kv)
    assert "dtype='" not in str(raised.value) or case == "another type"


def test_what_only_looks_strange_is_taken(kv: pyps.Worker) -> None:
    kv.push(np.array([1, 2], object), np.ma.array(np.ones((2, 2)), dtype=np.float32))
    kv.push(np.array([1], ">i8"), np.ones((1, 2), np.float32))
    out: Any = np.ma.zeros((2, 2), dtype=np.float32)
    kv.pull([1, 2], out)
    assert out.tolist() == [[2, 2], [1, 1]]


OPTIONS: list[tuple[dict[str, Any], type[Exception], str]] = [
    ({"dtype": ">f4"}, ValueError, "dtype 'byte-swapped float32' is not possible; choose one of float32"),
    ({"dtype": np.dtype(">i8")}, ValueError, "dtype 'byte-swapped int64' is not possible"),
    ({"cluster": -1}, ValueError, "cluster is -1; it must be in [0, 18446744073709551615]"),
    ({"cluster": 2**70}, ValueError, "cluster is 1180591620717411303424; it must be in"),
    ({"cluster": "x"}, TypeError, "cluster must be an integer, not str"),
    ({"curve": 5}, TypeError, "curve must be a pair of keys, (public, secret), not int"),
    ({"curve": "abc"}, TypeError, "curve must be a pair of keys, (public, secret), not str"),
    ({"curve": (1, 2)}, TypeError, "public key must be a str, not int"),
    ({"latch_timeout": "x"}, TypeError, "latch_timeout must be a number of seconds, not str"),
    ({"latch_timeout": -1}, ValueError, "latch_timeout is -1; it must be a number of seconds"),
    ({"heartbeat": float("nan")}, ValueError, "heartbeat is nan; it must be a number of seconds"),
    ({"lost_after": "x"}, TypeError, "lost_after must be a number of seconds, not str"),
    ({"metrics_port": "x"}, TypeError, "metrics_port must be an integer, not str"),
]


@pytest.mark.parametrize(("options", "error", "told"), OPTIONS, ids=str)
def test_an_option_that_is_wrong_is_named(options: dict[str, Any], error: type[Exception], told: str) -> None:
    with pytest.raises(error, match=re.escape(told)):
        pyps.Server(10, 2, num_nodes=2, rank=0, **options)


METHODS: list[tuple[str, tuple[Any, ...], str]] = [
    ("bind", (None,), "endpoint must be a str, not NoneType"),
    ("bind", (b"tcp://127.0.0.1:*",), "endpoint must be a str, not bytes"),
    ("connect", (None,), "endpoints must be a list with one for each node, not NoneType"),
    ("connect", ("tcp://127.0.0.1:1",), "endpoints must be a list with one for each node, not str"),
    ("connect", ([None, None],), "endpoint must be a str, not NoneType"),
    ("enable_sampling_support", (None, True, "uniform", 0, 5), "scheme must be a str, not NoneType"),
    ("enable_sampling_support", ("naive", True, None, 0, 5), "distribution must be a str, not NoneType"),
    ("shutdown", ("soon",), "timeout must be a number of seconds, not str"),
]


@pytest.mark.parametrize(("name", "arguments", "told"), METHODS)
def test_an_argument_that_is_wrong_is_named(name: str, arguments: tuple[Any, ...], told: str) -> None:
    node = pyps.Server(10, 2, num_nodes=2, rank=0)
    with pytest.raises(TypeError, match=re.escape(told)):
        getattr(node, name)(*arguments)
    node.shutdown(timeout=0)


def test_a_number_of_nodes_that_is_none_is_named() -> None:
    with pytest.raises(TypeError, match="num_nodes must be an integer, not str"):
        pyps.Server(10, 2, num_nodes="2")  # type: ignore[arg-type]


@pytest.mark.parametrize("timestamp", ["1", 5.5, None])
def test_what_is_no_timestamp_is_named(kv: pyps.Worker, timestamp: Any) -> None:
    for call in (kv.wait, kv.is_finished):
        with pytest.raises(
            TypeError, match=f"a timestamp must be an integer, not {type(timestamp).__name__}"
        ):
            call(timestamp)


@pytest.mark.parametrize(
    ("timeout", "error"), [("5", TypeError), (-1, ValueError), (float("nan"), ValueError)], ids=str
)
def test_a_worker_goes_on_after_a_wrong_timeout_of_its_end(
    kv: pyps.Worker, timeout: Any, error: type[Exception]
) -> None:
    with pytest.raises(error, match="a number of seconds"):
        kv.finalize(timeout)
    assert kv.pull([1]).tolist() == [[0, 0]]


def test_a_text_ends_at_its_end() -> None:
    with pytest.raises(ValueError, match="which holds a NUL"):
        pyps.attach("unix:@pyps\0evil")
