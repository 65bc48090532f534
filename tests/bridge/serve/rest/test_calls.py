"""Functions of Lua by JSON."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest

from tests.bridge.serve.serving import Running, serving


def called(server: Running, function: str, body: Any) -> Any:
    answer = server.post(f"/call/{function}", body)
    assert answer.status == 200, answer.body
    return answer.json["result"]


@pytest.mark.slow
def test_functions_are_listed_with_their_parameters(server: Running) -> None:
    rows = {
        (one["model"], one["function"]): one["parameters"] for one in server.get("/call").json["functions"]
    }
    assert rows["functions", "greet"] == ["name", "n"]
    assert rows["functions", "any"] == ["..."]
    assert rows["digits", "forward"] == ["input"]


def test_tables_texts_and_numbers_go_both_ways(server: Running) -> None:
    assert called(server, "greet", ["bob", 2]) == {"text": "hi bob hi bob ", "parts": [1, 2.5, "inf"]}
    assert called(server, "greet", {"n": 1, "name": "\u00e4"})["text"] == "hi \u00e4 "
    assert called(server, "greet", {"name": "x"})["text"] == "hi x "
    assert called(server, "first", [["a", "b"], 0]) == ["a", 0]
    assert called(server, "functions/double", [21]) == 42
    assert called(server, "any", None) == 0
    assert len(called(server, "digits/forward", [[[0.5] * 64]])[0]) == 10


@pytest.mark.parametrize(
    ("path", "body", "status", "told"),
    [
        ("/call/none", [], 404, "there is no function 'none'; there is digits: forward, functions: "),
        ("/call/digits/greet", [], 404, "model 'digits' has no function 'greet'; it has forward"),
        ("/call/greet", "bob", 400, "expected a list, the arguments in order, or an object"),
        ("/call/greet", {"nam": 1}, 400, "greet has no parameter 'nam'; it has name, n"),
        ("/call/greet", b"[1, NaN]", 400, "the body is no JSON"),
        ("/call/greet", [None, {}], 422, "attempt to concatenate"),
        ("/call/fail", ["no such luck"], 422, "no such luck"),
        ("/call/object", [], 422, "a nn.Linear cannot leave its process"),
    ],
)
def test_what_cannot_be_called_is_told(server: Running, path: str, body: Any, status: int, told: str) -> None:
    before = server.workers()
    answer = server.post(path, body)
    assert (answer.status, told in answer.json["error"]) == (status, True), answer.body
    assert server.workers() == before


@pytest.mark.slow
@pytest.mark.parametrize(("function", "told"), [("crash", "SIGSEGV"), ("eat", "memory")])
def test_what_a_function_does_to_its_process_costs_its_request(
    server: Running, function: str, told: str
) -> None:
    answer = server.post(f"/call/{function}", [])
    assert (answer.status, told in answer.json["error"]) == (503, True), answer.body
    assert called(server, "double", [4]) == 8
    assert len(server.workers()) == 2


@pytest.mark.slow
def test_a_function_that_never_ends_costs_its_request(models: Path, tmp_path: Path) -> None:
    with serving(tmp_path, models / "functions.lua", "--timeout", "1") as server:
        answer = server.post("/call/loop", [])
        assert (answer.status, answer.json) == (504, {"error": "no answer within 1 s"})
        until = time.monotonic() + 60  # a process is started anew, which takes seconds on a busy machine
        while (answer := server.post("/call/double", [4])).status == 504:
            assert time.monotonic() < until
        assert answer.json == {"result": 8}
        assert len(server.workers()) == 1


def test_a_deep_body_is_refused(server: Running) -> None:
    answer = server.post("/call/double", json.dumps(1).encode().join([b"[" * 900, b"]" * 900]))
    assert (answer.status, "inside each other" in answer.json["error"]) == (422, True)
