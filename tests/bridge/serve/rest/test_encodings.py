"""Compressed bodies are read, and never become more than a body may be."""

from __future__ import annotations

import gzip
import json
import time
import zlib

import pytest

from tests.bridge.serve.serving import Running

CALL = "/call/double"
BODY = json.dumps([21]).encode()
LIMIT = 8 << 20  # of the server that the tests share


@pytest.mark.parametrize(
    ("encoding", "body"),
    [
        ("gzip", gzip.compress(BODY)),
        ("GZIP", gzip.compress(BODY)),
        ("deflate", zlib.compress(BODY)),
        ("identity", BODY),
        ("", BODY),
        ("gzip", gzip.compress(BODY + b" " * (3 << 20))),  # of several steps
    ],
    ids=range(6),
)
def test_what_was_compressed_is_read(server: Running, encoding: str, body: bytes) -> None:
    answer = server.post(CALL, body, **{"Content-Encoding": encoding})
    assert (answer.status, answer.json) == (200, {"result": 42})


@pytest.mark.parametrize(
    ("body", "told"),
    [
        (BODY, "the body is not gzip: "),
        (b"", "the body of 0 bytes ends in the middle of its gzip"),
        (gzip.compress(BODY)[:-1], "ends in the middle of its gzip"),
        (gzip.compress(BODY)[:-8] + bytes(8), "the body is not gzip: "),
        (gzip.compress(BODY) + b"more", "the body goes on for 4 bytes behind the end of its gzip"),
        (gzip.compress(b"["), "the body is no JSON"),
    ],
    ids=range(6),
)
def test_what_was_not_is_told(server: Running, body: bytes, told: str) -> None:
    answer = server.post(CALL, body, **{"Content-Encoding": "gzip"})
    assert answer.status == 400
    assert told in answer.json["error"]


@pytest.mark.parametrize("encoding", ["br", "zstd", "gzip, gzip", "\u00fc"])
def test_another_encoding_is_refused_with_those_that_there_are(server: Running, encoding: str) -> None:
    answer = server.post(CALL, BODY, **{"Content-Encoding": encoding})
    assert answer.json == {"error": f"content-encoding {encoding!r} is not read; there is gzip, deflate"}
    assert (answer.status, answer.headers["accept-encoding"]) == (415, "gzip, deflate")


@pytest.mark.long
def test_a_few_bytes_that_stand_for_very_many_are_refused_in_time(server: Running) -> None:
    bomb = gzip.compress(bytes(1 << 30), 9)
    assert len(bomb) < 2 << 20
    for path in (CALL, "/v2/models/digits/infer", "/v2/repository/index"):
        began = time.monotonic()
        answer = server.post(path, bomb, **{"Content-Encoding": "gzip"})
        assert (answer.status, answer.json) == (413, {"error": f"a body of more than {LIMIT} bytes"})
        assert time.monotonic() - began < 5
    for _ in range(20):  # what they took is given back: all together may have 16 times the limit
        assert server.post(CALL, bomb, **{"Content-Encoding": "gzip"}).status == 413
    assert server.post(CALL, BODY).json == {"result": 42}
