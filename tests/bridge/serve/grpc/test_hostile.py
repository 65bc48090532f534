"""Whatever bytes come, the server answers with a status, and it and the models' processes live on."""

from __future__ import annotations

import logging
import random
import socket
from collections import Counter
from collections.abc import Iterator

import grpc
import numpy as np
import pytest
from tritonclient.grpc import service_pb2

from bridge.serve.grpc.servicer import METHODS
from tests.bridge.serve.grpc.answering import PATIENCE, Answering

pytestmark = pytest.mark.slow

INFER = "/inference.GRPCInferenceService/ModelInfer"
ROUND = 250  # calls that are under way at a time
REFUSALS = {
    grpc.StatusCode.OK,
    grpc.StatusCode.INVALID_ARGUMENT,
    grpc.StatusCode.NOT_FOUND,
    grpc.StatusCode.UNIMPLEMENTED,
    grpc.StatusCode.UNKNOWN,  # the model's own errors
}


@pytest.fixture(autouse=True)
def no_defects(server: Answering, caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    """Nothing is a defect of the service, no process is replaced, and a right request is answered afterwards."""
    before = server.look(server.pids)
    yield
    assert [one.getMessage() for one in caplog.get_records("call") if one.levelno >= logging.ERROR] == []
    assert server.look(server.pids) == before
    _, found = server.run(server.service.infer("scale", {"input": np.ones((1, 2), "f4")}))
    assert found["output"].tolist() == [[3, 3]]


def statuses(channel: grpc.Channel, method: str, requests: list[bytes]) -> Counter[grpc.StatusCode]:
    """Send requests, and return how often each status came."""
    call = channel.unary_unary(method)
    found: Counter[grpc.StatusCode] = Counter()
    for begin in range(0, len(requests), ROUND):
        pending = [call.future(one, timeout=PATIENCE) for one in requests[begin : begin + ROUND]]
        found.update(one.code() for one in pending)
    return found


def whole() -> bytes:
    """Return a right request."""
    request = service_pb2.ModelInferRequest(model_name="program", id="7")
    request.parameters["flag"].bool_param = True
    request.inputs.add(name="what", datatype="BYTES", shape=[1])
    request.inputs.add(name="x", datatype="FP32", shape=[2, 2])
    request.outputs.add(name="output")
    request.raw_input_contents.extend([b"\x04\x00\x00\x00echo", np.ones(4, "<f4").tobytes()])
    return request.SerializeToString()


@pytest.mark.long
def test_random_bytes_are_refused(channel: grpc.Channel) -> None:
    rng = random.Random(3)
    requests = [rng.randbytes(rng.randrange(1, 200)) for _ in range(2000)]
    found = statuses(channel, INFER, requests)
    assert set(found) <= {grpc.StatusCode.INVALID_ARGUMENT, grpc.StatusCode.NOT_FOUND}
    assert found[grpc.StatusCode.INVALID_ARGUMENT] > 1500


@pytest.mark.long
def test_changed_requests_are_answered_or_refused(channel: grpc.Channel) -> None:
    rng = random.Random(4)
    right = whole()
    requests = []
    for _ in range(2000):
        changed = bytearray(right)
        for _ in range(rng.randrange(1, 4)):
            place = rng.randrange(len(changed))
            match rng.randrange(4):
                case 0:
                    changed[place] ^= 1 << rng.randrange(8)
                case 1:
                    changed[place] = rng.choice([0, 1, 127, 128, 255])
                case 2:
                    del changed[place : place + rng.randrange(1, 9)]
                case _:
                    changed[place:place] = rng.randbytes(rng.randrange(1, 9))
        requests.append(bytes(changed))
    found = statuses(channel, INFER, requests)
    assert set(found) <= REFUSALS
    assert found[grpc.StatusCode.OK] > 50  # some changes do no harm
    assert found[grpc.StatusCode.INVALID_ARGUMENT] > 800


@pytest.mark.parametrize("length", range(0, len(whole()), 7))
def test_requests_that_are_cut_are_refused(channel: grpc.Channel, length: int) -> None:
    assert statuses(channel, INFER, [whole()[:length]])[grpc.StatusCode.OK] == 0


@pytest.mark.parametrize("method", [f"/{service}/{name}" for service, name, _, _ in METHODS])
def test_random_bytes_are_refused_by_every_method(channel: grpc.Channel, method: str) -> None:
    rng = random.Random(method)
    requests = [b"\x0a" + rng.randbytes(rng.randrange(1, 30)) for _ in range(100)]
    found = statuses(channel, method, requests)
    assert set(found) <= REFUSALS
    assert found[grpc.StatusCode.INVALID_ARGUMENT] > 50


def test_random_bytes_in_a_stream_are_refused_one_by_one(channel: grpc.Channel) -> None:
    rng = random.Random(5)
    requests = [*(rng.randbytes(50) for _ in range(300)), whole()]
    call = channel.stream_stream(
        "/inference.GRPCInferenceService/ModelStreamInfer",
        response_deserializer=service_pb2.ModelStreamInferResponse.FromString,
    )
    found = list(call(iter(requests), timeout=PATIENCE))
    assert len(found) == 301
    assert all(one.error_message for one in found[:-1])
    assert found[-1].infer_response.id == "7"


def test_many_empty_inputs_are_refused(channel: grpc.Channel) -> None:
    for content in (b"\x2a\x00", b"\x3a\x00", b"\x22\x00", b"\x32\x00"):
        found = statuses(channel, INFER, [b"\x0a\x05scale" + content * 100_000])
        assert set(found) == {grpc.StatusCode.INVALID_ARGUMENT}


def test_methods_that_there_are_not_are_unimplemented(channel: grpc.Channel) -> None:
    for method in (f"{INFER}More", "/inference.Other/ModelInfer", "/"):
        assert statuses(channel, method, [b""]) == {grpc.StatusCode.UNIMPLEMENTED: 1}


def test_bytes_that_are_no_http_2_end_their_connection(server: Answering) -> None:
    host, port = server.address.split(":")
    rng = random.Random(6)
    preface = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
    for _ in range(50):
        with socket.create_connection((host, int(port)), timeout=PATIENCE) as sock:
            sock.sendall(rng.choice([b"", preface, b"GET / HTTP/1.1\r\n\r\n"]) + rng.randbytes(200))
            sock.shutdown(socket.SHUT_WR)
            try:
                while sock.recv(4096):
                    pass
            except ConnectionResetError:
                continue
