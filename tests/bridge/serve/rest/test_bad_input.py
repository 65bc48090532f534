"""A server that is treated badly goes on: bodies, connections, clients that vanish, thousands of damaged requests."""

from __future__ import annotations

import contextlib
import json
import random
import socket
import threading
import time
from pathlib import Path

import numpy as np
import pytest

from tests.bridge.serve.serving import Running, serving, tensor
from tests.soak import times

pytestmark = pytest.mark.slow

INFER = "/v2/models/digits/infer"
GOOD = json.dumps({"inputs": [tensor("input", "FP32", [1, 64], [0.5] * 64)]}).encode()


def raw(server: Running, content: bytes, *, wait: bool = True) -> bytes:
    """Send bytes, and return what comes until the server closes, or is silent for a while."""
    with socket.create_connection(server.address, timeout=10) as connection:
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            connection.sendall(content)
        if not wait:
            return b""
        connection.settimeout(0.5)
        parts = []
        with contextlib.suppress(TimeoutError, ConnectionResetError):
            while part := connection.recv(1 << 16):
                parts.append(part)
        return b"".join(parts)


def head(length: int | str, *more: str) -> bytes:
    lines = [f"POST {INFER} HTTP/1.1", "Host: 127.0.0.1", f"Content-Length: {length}", *more]
    return "\r\n".join([*lines, "", ""]).encode()


@pytest.fixture(autouse=True)
def goes_on(server: Running) -> object:
    """Whatever a test does, the server then answers, with as many processes as before."""
    before = len(server.workers())
    yield
    assert server.post(INFER, GOOD).status == 200
    until = time.monotonic() + 20
    while len(server.workers()) != before and time.monotonic() < until:
        time.sleep(0.05)
    assert len(server.workers()) == before


@pytest.mark.long
def test_a_body_that_is_too_long(server: Running) -> None:
    with contextlib.closing(server.connection()) as connection:
        connection.putrequest("POST", INFER)
        connection.putheader("Content-Length", str(9 << 20))
        connection.endheaders()
        answer = connection.getresponse()
        told = json.loads(answer.read())["error"]
    assert (answer.status, told) == (413, f"a body of {9 << 20} bytes, {8 << 20} are allowed")


@pytest.mark.long
def test_a_body_that_is_too_long_in_chunks(server: Running) -> None:
    part = b"10000\r\n" + bytes(1 << 16) + b"\r\n"
    lines = f"POST {INFER} HTTP/1.1\r\nHost: 127.0.0.1\r\nTransfer-Encoding: chunked\r\n\r\n"
    with socket.create_connection(server.address, timeout=10) as connection:
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            connection.sendall(lines.encode() + part * 200)
        assert b"413" in connection.recv(1 << 16).partition(b"\r\n")[0]


def test_a_body_in_chunks(server: Running) -> None:
    chunks = b"".join(
        b"%x\r\n%s\r\n" % (len(GOOD[i : i + 50]), GOOD[i : i + 50]) for i in range(0, len(GOOD), 50)
    )
    lines = f"POST {INFER} HTTP/1.1\r\nHost: 127.0.0.1\r\nTransfer-Encoding: chunked\r\n\r\n"
    assert b" 200 " in raw(server, lines.encode() + chunks + b"0\r\n\r\n").partition(b"\r\n")[0]


@pytest.mark.parametrize(
    "content",
    [
        head(len(GOOD) + 10) + GOOD,
        head(5) + GOOD,
        head(-1) + GOOD,
        head("x") + GOOD,
        head("99999999999999999999") + GOOD,
        head(0),
        head(len(GOOD), "Content-Length: 3") + GOOD,
        head(len(GOOD), "Inference-Header-Content-Length: 99999") + GOOD,
        head(len(GOOD), "Content-Encoding: gzip") + GOOD,
        b"\0" * 1000,
        b"GET / HTTP/9.9\r\n\r\n",
        b"POST " + b"/a" * 100_000 + b" HTTP/1.1\r\n\r\n",
        b"GET / HTTP/1.1\r\n" + b"X: y\r\n" * 100_000,
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(500),
    ],
    ids=range(14),
)
def test_what_is_no_http_is_refused(server: Running, content: bytes) -> None:
    answer = raw(server, content)
    assert not answer.startswith(b"HTTP/1.1 5")
    if answer.startswith(b"HTTP/1.1 200"):
        pytest.fail("it was taken for a request")


@pytest.mark.long
def test_clients_that_vanish(models: Path, tmp_path: Path) -> None:
    """Their calls go on until their time is over: they would hold up later tests of a shared server."""
    with serving(tmp_path, models, "--memory", "400M", "--timeout", "3") as server:
        call = b"POST /call/loop HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 2\r\n\r\n[]"
        raw(server, call, wait=False)
        raw(server, call.replace(b"Length: 2", b"Length: 9"), wait=False)
        for place in (10, 60, 200, len(GOOD)):
            raw(server, (head(len(GOOD)) + GOOD)[:place], wait=False)
        for _ in range(50):
            raw(server, head(len(GOOD)) + GOOD, wait=False)
        assert server.post(INFER, GOOD).status == 200
        assert [line for line in server.lines() if line["level"] == "error"] == []


def test_a_thousand_connections_that_say_nothing(server: Running) -> None:
    slow = []
    try:
        for k in range(1000):
            connection = socket.create_connection(server.address, timeout=10)
            slow.append(connection)
            connection.sendall([b"", b"POST /v2", head(1000), head(len(GOOD)) + GOOD[:100]][k % 4])
        began = time.monotonic()
        assert server.post(INFER, GOOD).status == 200
        assert time.monotonic() - began < 5
    finally:
        for connection in slow:
            connection.close()


def test_a_thousand_connections_that_send_a_byte_at_a_time(server: Running) -> None:
    slow = []
    try:
        for _ in range(1000):
            slow.append(socket.create_connection(server.address, timeout=10))
        request = head(len(GOOD)) + GOOD
        took = []
        for place in range(5):
            for connection in slow:
                connection.sendall(request[place : place + 1])
            began = time.monotonic()
            assert server.post(INFER, GOOD).status == 200
            took.append(time.monotonic() - began)
        assert max(took) < 5
        for connection in slow[:20]:  # who sends all of it in the end gets an answer
            connection.sendall(request[5:])
            assert connection.recv(1 << 16).startswith(b"HTTP/1.1 200 ")
    finally:
        for connection in slow:
            connection.close()


def test_large_bodies_together_are_bounded(models: Path, tmp_path: Path) -> None:
    with serving(tmp_path, models / "functions.lua", "--body-limit", "1M", "--timeout", "5") as server:
        begun = []
        for _ in range(20):  # each says that more will come
            connection = socket.create_connection(server.address, timeout=10)
            connection.sendall(
                b"POST /call/double HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 1000000\r\n\r\n"
            )
            connection.sendall(b" " * 999_000)
            begun.append(connection)
        statuses = []
        for connection in begun[16:]:
            statuses.append(connection.recv(1 << 16).split()[1])
        for connection in begun:
            connection.close()
        assert statuses == [b"429"] * 4
        until = time.monotonic() + 20
        while (answer := server.post("/call/double", [4])).status == 429 and time.monotonic() < until:
            time.sleep(0.05)
        assert answer.json == {"result": 8}


@pytest.mark.long
def test_a_full_queue_refuses_at_once(models: Path, tmp_path: Path) -> None:
    with serving(tmp_path, models / "functions.lua", "--queue", "4", "--timeout", "3") as server:
        answers: list[tuple[int, str]] = []

        def loop() -> None:
            answer = server.post("/call/loop", [])
            answers.append((answer.status, answer.headers.get("retry-after", "")))

        threads = [threading.Thread(target=loop) for _ in range(12)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
        assert sorted(answers) == [(429, "1")] * 7 + [(504, "")] * 5
        assert server.post("/call/double", [2]).json == {"result": 4}


def damaged(draw: random.Random) -> tuple[str, str, bytes, dict[str, str]]:
    """Return a request that is wrong in some way, or right by chance."""
    path = draw.choice(
        [
            INFER,
            "/call/greet",
            "/call/first",
            "/call/digits/forward",
            "/v2/repository/index",
            "/call/x%00y",
            "/%",
        ]
    )
    method = draw.choice(["POST"] * 8 + ["GET", "PUT", "DELETE", "OPTIONS", "PATCH"])
    x = np.zeros((1, 64), np.float32)
    inner = {**tensor("input", "FP32", [1, 64], [0.5] * 64)}
    match draw.randrange(6):
        case 0:
            inner["shape"] = [
                draw.choice([0, 1, 2, 64, -1, 1 << 40, None, "1", 0.5]) for _ in range(draw.randrange(4))
            ]
        case 1:
            inner["datatype"] = draw.choice(["FP64", "INT8", "BOOL", "BYTES", "FP", "", None, 3])
        case 2:
            inner["data"] = draw.choice([[], [1e400], [None], ["a"], {}, [[]], [[[1] * 64]], "x", 1])
        case 3:
            inner["parameters"] = {"binary_data_size": draw.choice([0, 255, 256, 257, -1, 1 << 62, "x"])}
        case 4:
            inner["name"] = draw.choice(["", "output", "\0", "a" * 1000, None, []])
    told = {
        "inputs": draw.choice([[inner], [inner, inner], [], inner, None]),
        "id": draw.choice(["", "x", 1, None]),
    }
    text = bytearray(
        json.dumps(draw.choice([told, told, told, [told], [[[]] * 50], {"name": told}])).encode()
    )
    for _ in range(draw.choice([0, 0, 1, 5])):
        place = draw.randrange(len(text))
        text[place : place + draw.randrange(3)] = bytes(draw.choices(range(256), k=draw.randrange(3)))
    headers = {}
    if draw.random() < 0.4:
        headers["Inference-Header-Content-Length"] = str(len(text) + draw.choice([0, 0, 0, 1, -1, 1 << 40]))
        text += x.tobytes()[: draw.choice([256, 256, 0, 255])]
    return method, path, bytes(text), headers


@pytest.mark.parametrize("seed", range(4))
def test_damaged_requests_are_answered_with_a_reason(server: Running, seed: int) -> None:
    draw = random.Random(seed)
    counts: dict[int, int] = {}
    with contextlib.closing(server.connection()) as connection:
        for _ in range(times(500)):
            method, path, body, headers = damaged(draw)
            connection.request(method, path, body, headers)
            answer = connection.getresponse()
            content = answer.read()
            counts[answer.status] = counts.get(answer.status, 0) + 1
            assert answer.status < 500, (method, path, body, content)
            if answer.status >= 400 and b"Invalid HTTP request" not in content:
                assert json.loads(content)["error"], (method, path, body)
            if answer.will_close:
                connection.close()
    assert counts[400] > times(100)
    assert counts[200] > times(4), counts
