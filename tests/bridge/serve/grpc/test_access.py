"""Each call has an id, which its answer and its lines of the log have; a line is logged of it as of HTTP's requests."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import grpc
import numpy as np
import pytest
from tritonclient.grpc import service_pb2

from tests.bridge.serve.grpc.answering import PATIENCE
from tests.bridge.serve.grpc.conftest import given
from tests.bridge.serve.serving import Running, serving

SERVICE = "/inference.GRPCInferenceService"
PROGRAM = """
local ffi = require 'ffi'
ffi.cdef 'int raise(int); int usleep(unsigned);'
local ways = {['end'] = function() ffi.C.raise(11) end}
function ways.last(mark) io.open(mark, 'w'):close() ffi.C.usleep(500000) end
return {run = function(what) (ways[what[1]] or tostring)(what[2]) return what end}
"""


def running(place: Path, *options: str) -> Any:
    (place / "program.lua").write_text(PROGRAM)
    (place / "token").write_text("word")
    return serving(
        place, place / "program.lua", "--grpc-port", "0", "--token", str(place / "token"), *options
    )


@pytest.fixture(scope="module")
def logging(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with running(tmp_path_factory.mktemp("logging"), "--access-log") as server:
        yield server


@contextmanager
def asking(server: Running, *what: str, metadata: Sequence[tuple[str, str]]) -> Iterator[Any]:
    """A call that infers."""
    request = service_pb2.ModelInferRequest(model_name="program")
    one = given("what", np.array(what, object))
    request.inputs.append(one._get_tensor())
    request.raw_input_contents.append(one._get_content())
    assert server.grpc is not None
    with grpc.insecure_channel(server.grpc) as channel:
        method = channel.unary_unary(f"{SERVICE}/ModelInfer", lambda message: message.SerializeToString())
        yield method.future(request, metadata=metadata, timeout=PATIENCE)


def asked(server: Running, what: str, *metadata: tuple[str, str]) -> tuple[grpc.StatusCode, str]:
    """Infer, and return the code and the id that came back."""
    with asking(server, what, metadata=metadata) as call:
        return call.code(), dict(call.trailing_metadata())["x-request-id"]


def line_of(server: Running, identity: str) -> dict[str, Any]:
    """The line of a call's end, which comes behind its answer."""
    until = time.monotonic() + PATIENCE
    while True:
        found = [
            line for line in server.lines() if line.get("request_id") == identity and "milliseconds" in line
        ]
        if found or time.monotonic() > until:
            (one,) = found
            return one
        time.sleep(0.02)


TRUSTED = ("authorization", "Bearer word")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("what", "metadata", "code", "level"),
    [
        ("echo", [TRUSTED], "OK", "info"),
        ("end", [TRUSTED], "UNAVAILABLE", "warning"),
        ("echo", [], "UNAUTHENTICATED", "info"),
    ],
    ids=["answered", "lost", "refused"],
)
def test_each_call_is_logged_under_its_id(
    logging: Running, what: str, metadata: list[tuple[str, str]], code: str, level: str
) -> None:
    mine = f"mine-{code}"
    assert asked(logging, what, ("x-request-id", mine), *metadata) == (grpc.StatusCode[code], mine)
    line = line_of(logging, mine)
    assert (line["path"], line["status"], line["level"]) == (f"{SERVICE}/ModelInfer", code, level)
    assert 0 < line["milliseconds"] < 60_000


@pytest.mark.slow
def test_a_call_without_an_id_gets_one_of_its_own(logging: Running) -> None:
    ids = {asked(logging, "echo", TRUSTED)[1] for _ in range(3)}
    ids.add(asked(logging, "echo", TRUSTED, ("x-request-id", "x" * 129))[1])
    assert len(ids) == 4
    assert all(line_of(logging, identity)["status"] == "OK" for identity in ids)


def test_a_stream_is_one_line(logging: Running) -> None:
    assert logging.grpc is not None
    with grpc.insecure_channel(logging.grpc) as channel:
        call = channel.stream_stream(f"{SERVICE}/ModelStreamInfer")(
            iter([b"", b""]), metadata=(TRUSTED, ("x-request-id", "stream")), timeout=PATIENCE
        )
        assert len(list(call)) == 2
        assert dict(call.trailing_metadata())["x-request-id"] == "stream"
    line = line_of(logging, "stream")
    assert (line["path"], line["status"]) == (f"{SERVICE}/ModelStreamInfer", "OK")


def test_a_call_that_is_given_up_is_logged(logging: Running, tmp_path: Path) -> None:
    begun = tmp_path / "begun"
    with asking(logging, "last", str(begun), metadata=(TRUSTED, ("x-request-id", "gone"))) as call:
        until = time.monotonic() + PATIENCE
        while not begun.exists():
            assert time.monotonic() < until
            time.sleep(0.01)
        call.cancel()
        assert line_of(logging, "gone")["status"] == "CANCELLED"


@pytest.mark.slow
def test_without_the_option_only_what_the_service_could_not_do_is_logged(tmp_path: Path) -> None:
    with running(tmp_path) as server:
        asked(server, "echo", TRUSTED, ("x-request-id", "fine"))
        asked(server, "end", TRUSTED, ("x-request-id", "lost"))
        assert line_of(server, "lost")["status"] == "UNAVAILABLE"
        assert [line for line in server.lines() if line.get("request_id") == "fine"] == []
